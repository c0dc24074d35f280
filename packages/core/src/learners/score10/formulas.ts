import { daysBetween } from "../../scoring/time.js";
import { LIMIT } from "./parameters.js";

/** A score in [−10, 10] as a quality in [0, 1]: `(score + 10) / 20`. */
export function quality(score: number): number {
  return (score + LIMIT) / (2 * LIMIT);
}

/** `0.5^(days / halfLife)` since the last use; 0 for a memory that was never used (NaN), 1 for a clock that ran backwards. */
export function recency(lastUsed: number, now: number, halfLifeDays: number): number {
  return Number.isNaN(lastUsed) ? 0 : 0.5 ** (Math.max(0, daysBetween(lastUsed, now)) / halfLifeDays);
}
