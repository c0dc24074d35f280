/** How much one source may credit one memory. */
export interface SourceCap {
  /** Sum of outcome weights per window, above 0. */
  readonly weight: number;
  /** Length of a window, ms, above 0. Windows follow each other from the Unix epoch on. */
  readonly window: number;
}

/** What a source has credited in one window. */
export interface Spending {
  /** Number of the window: time / length, rounded down. */
  window: number;
  /** Weight per memory, by the hash of its address. Two memories with one hash share a cap. */
  readonly weights: Map<number, number>;
}

/** Memories that a source may credit in one window; what comes on top is over the cap. Bounds the state of a source to some 12 KB. */
export const MEMORIES_PER_WINDOW = 1_024;
/** Sums of weights such as 0.1 must not fail their cap by rounding. */
const ROUNDING = 1e-9;

/**
 * Charges a source for crediting a memory; false, with nothing charged, when that goes beyond its cap. A new window starts at
 * nothing. Time that runs backwards stays in the window that was reached: nobody gets a window twice.
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
