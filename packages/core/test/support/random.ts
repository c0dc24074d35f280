/** Seeded randomness for worlds and streams: the same seed gives the same numbers on every machine. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Whole number in [0, below). */
  below(limit: number): number;
  /** Standard normal. */
  normal(): number;
  /** A random direction of `dims` values, unit length. */
  direction(dims: number): number[];
}

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    normal,
    direction(dims) {
      const values = Array.from({ length: dims }, normal);
      const length = Math.hypot(...values);
      return values.map((value) => value / length);
    },
  };
}
