import { clamp } from "../../scoring/bounds.js";
import { daysBetween } from "../../scoring/time.js";
import { movedTowards } from "../moving-average.js";

/** `q ← q + rate · (r − q)`, kept in [0, 1]. */
export function updatedQ(q: number, reward: number, rate: number): number {
  return clamp(movedTowards(q, reward, rate), 0, 1);
}

/**
 * `q · factor^days` since the memory was last retrieved. Computed when read, from the raw value and its time, so reading at
 * any cadence gives the same. A clock that ran backwards decays nothing.
 *
 * @param lastAccessed Unix ms, NaN for never (no decay)
 */
export function decayedQ(q: number, lastAccessed: number, now: number, factor: number): number {
  const days = daysBetween(lastAccessed, now);
  return days > 0 ? q * factor ** days : q;
}
