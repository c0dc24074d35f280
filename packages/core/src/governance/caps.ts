import type { SourceCap } from "../ledger/events.js";

/** The credit that a source has given in one window. */
export interface Spending {
  /** Number of the window: time / length, rounded down. */
  window: number;
  /** Weight per memory, by the hash of its address. Two memories with one hash share a cap. */
  readonly weights: Map<number, number>;
}

/** Memories that a source may credit in one window; more are over the cap. It bounds the state of a source to some 12 KB. */
export const MEMORIES_PER_WINDOW = 1_024;
/** Tolerance for rounding in sums of weights such as 0.1. */
const ROUNDING = 1e-9;

/**
 * Charges a source for crediting a memory. Returns false and charges nothing when the cap would be exceeded. A new window starts
 * at 0. An earlier time counts in the window that was reached, so no window is used twice.
 *
 * @param memory hash of the memory's address
 * @param weight of the outcome, above 0
 * @param at Unix ms
 */
export function charge(spending: Spending, cap: SourceCap, memory: number, weight: number, at: number): boolean {
  const window = Math.floor(at / cap.window);
  if (window > spending.window) {
    spending.window = window;
    spending.weights.clear();
  }
  const spent = spending.weights.get(memory);
  if (spent === undefined && spending.weights.size >= MEMORIES_PER_WINDOW) return false;
  const total = (spent ?? 0) + weight;
  if (total > cap.weight + ROUNDING) return false;
  spending.weights.set(memory, total);
  return true;
}
