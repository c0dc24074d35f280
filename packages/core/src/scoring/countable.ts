/** Steps per unit of a countable number: 2²⁴. */
const STEPS = 2 ** 24;

/**
 * The nearest multiple of 2⁻²⁴ (off by at most 3·10⁻⁸), never −0. Sums and differences of such numbers are exact up to
 * 2²⁹ = 5·10⁸: they do not depend on the order in which they were added, and what was added can be taken back to the last bit.
 * Sums of ordinary fractions (0.3) cannot promise either.
 */
export function countable(value: number): number {
  return Math.round(value * STEPS) / STEPS + 0;
}
