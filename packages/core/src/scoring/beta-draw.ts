/** Uniform numbers in (0, 1). */
export type Uniforms = () => number;

/** A draw from the standard normal distribution (Box and Muller). */
function normalDraw(uniform: Uniforms): number {
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** More than 95 in 100 attempts succeed: so many failures are none of chance, and no input may hang a ranking. */
const MOST_ATTEMPTS = 64;

/** A draw from Gamma(shape, 1), shape > 0. Marsaglia and Tsang, A simple method for generating gamma variables, 2000. */
function gammaDraw(shape: number, uniform: Uniforms): number {
  if (shape < 1) return gammaDraw(shape + 1, uniform) * uniform() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const x = normalDraw(uniform);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(uniform()) < x * x * 0.5 + d - d * v + d * Math.log(v)) return d * v;
  }
  return d;
}

/**
 * A draw from Beta(a, b), both > 0 and finite, as X / (X + Y) of two gamma draws. Its mean where these are too small or too large
 * for a number.
 */
export function betaDraw(a: number, b: number, uniform: Uniforms): number {
  const x = gammaDraw(a, uniform);
  const y = gammaDraw(b, uniform);
  return x + y > 0 && Number.isFinite(x + y) ? x / (x + y) : a / (a + b);
}
