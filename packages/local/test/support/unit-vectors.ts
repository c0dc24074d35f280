import fc from "fast-check";

/** Vectors of length 1, or 0; among them some that lose much in few bits: equal numbers, few numbers, one far greater than the others. */
export function unitVector(dims: number): fc.Arbitrary<Float32Array> {
  const some = (number: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
    fc.array(number, { minLength: dims, maxLength: dims });
  const place = fc.integer({ min: 0, max: dims - 1 });
  const values = fc.oneof(
    some(fc.double({ min: -1, max: 1, noNaN: true })),
    some(fc.constantFrom(-1, 0, 1)),
    fc.constantFrom(0, 1, -1).map((value) => Array<number>(dims).fill(value)),
  );
  // Beside 300 the others are below half a step of 8 bits, beside 100,000 of 16 bits.
  const outlier = fc.constantFrom(-300, 1e5, 1e9);
  const uneven = fc.tuple(values, place, outlier).map(([numbers, i, value]) => numbers.with(i, value));
  return fc.oneof(values, uneven).map((numbers) => {
    const length = Math.hypot(...numbers) || 1;
    return Float32Array.from(numbers, (value) => value / length);
  });
}
