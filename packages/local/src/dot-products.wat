(module
  (import "host" "memory" (memory 1))

  ;; Scalar product of two rows of floats.
  (func (export "exact") (param $p i32) (param $q i32) (param $bytes i32) (result f32)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $p) (local.get $bytes)))
    (loop $step
      (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $p)) (v128.load (local.get $q)))))
      (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $p)) (v128.load offset=16 (local.get $q)))))
      (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $p)) (v128.load offset=32 (local.get $q)))))
      (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $p)) (v128.load offset=48 (local.get $q)))))
      (local.set $p (i32.add (local.get $p) (i32.const 64)))
      (local.set $q (i32.add (local.get $q) (i32.const 64)))
      (br_if $step (i32.ne (local.get $p) (local.get $end))))
    (local.set $a (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
      (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))

  ;; Upper bounds of the scalar products of coarse rows. A row is its codes, its scale and the length of its rest.
  (func (export "bounds")
    (param $request i32) (param $p i32) (param $rows i32) (param $bytes i32) (param $out i32)
    (param $scale f32) (param $length f32) (param $more f32)
    (local $q i32) (local $end i32) (local $a v128) (local $b v128)
    (loop $row
      (local.set $q (local.get $request))
      (local.set $end (i32.add (local.get $p) (local.get $bytes)))
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (loop $step
        (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $p)) (v128.load (local.get $q)))))
        (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $p)) (v128.load offset=16 (local.get $q)))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $step (i32.ne (local.get $p) (local.get $end))))
      (local.set $a (i32x4.add (local.get $a) (local.get $b)))
      (f32.store (local.get $out)
        (f32.add
          (f32.add
            (f32.mul
              (f32.mul (f32.load (local.get $p)) (local.get $scale))
              (f32.convert_i32_s
                (i32.add
                  (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
                  (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a))))))
            (f32.mul (f32.load offset=4 (local.get $p)) (local.get $length)))
          (local.get $more)))
      (local.set $p (i32.add (local.get $p) (i32.const 8)))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $row (local.get $rows)))))
