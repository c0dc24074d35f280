import { spread } from "../scoring/spread.js";
import type { Observation } from "./learner.js";

/** Exposures over which the running spread is averaged. Range 100..2000. */
export const SPREAD_WINDOW = 500;
/** Spread of similarities (standard deviation over the candidates) at which learners' constants hold: what the tuning sets had. */
export const REFERENCE_SPREAD = 0.1;

/** Part of a collection's state: how far apart its similarities lie. */
export interface RunningSpread {
  /** Mean standard deviation of the candidates' similarities. */
  spread: number;
  /** Exposures behind it. */
  spreadCount: number;
}

/** Updates the running spread: `σ += (σ_request − σ) / min(count, 500)`. Lists that do not spread say nothing. */
export function observeSpread({
  shared,
  similarities,
  shown,
}: Pick<Observation<RunningSpread, unknown>, "shared" | "similarities" | "shown">): void {
  // A list that was fetched no deeper than shown is a top without a bottom: its spread is not that of a candidate list.
  if (similarities.length <= shown) return;
  const current = spread(similarities);
  if (current === 0) return;
  shared.spreadCount += 1;
  shared.spread += (current - shared.spread) / Math.min(shared.spreadCount, SPREAD_WINDOW);
}

/**
 * `σ' = σ / 0.1`: how many reference spreads a collection's similarities spread. A term that is added to similarity is
 * multiplied by it, so that it weighs the same whatever the store's scale. The request's own spread before the first exposure.
 */
export function spreadScale(shared: RunningSpread | undefined, similarities: Float64Array): number {
  return (shared && shared.spreadCount > 0 ? shared.spread : spread(similarities)) / REFERENCE_SPREAD;
}
