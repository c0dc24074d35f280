import { spread } from "../scoring/spread.js";
import type { Observation } from "./learner.js";

/** Exposures over which the running spread is averaged. Range 100..2000. */
const SPREAD_WINDOW = 500;
/** Spread of similarities at which learners' constants hold: that of the tuning sets. Standard deviation over the candidates. */
const REFERENCE_SPREAD = 0.1;

/** Part of a collection's state: the spread of its similarities. */
export interface RunningSpread {
  /** Mean standard deviation of the candidates' similarities. */
  spread: number;
  /** Exposures behind it. */
  spreadCount: number;
}

/** Updates the running spread: `σ += (σ_request − σ) / min(count, 500)`. Lists without spread are left out. */
export function observeSpread({
  shared,
  similarities,
  shown,
}: Pick<Observation<RunningSpread, unknown>, "shared" | "similarities" | "shown">): void {
  // A list fetched no deeper than shown lacks its lower part, so its spread is too small.
  if (similarities.length <= shown) return;
  const current = spread(similarities);
  if (current === 0) return;
  shared.spreadCount += 1;
  shared.spread += (current - shared.spread) / Math.min(shared.spreadCount, SPREAD_WINDOW);
}

/** False where no similarities ever differed: then the host gives no order. */
export function hasSpread(shared: RunningSpread | undefined, similarities: Float64Array): boolean {
  return (shared !== undefined && shared.spreadCount > 0) || spread(similarities) > 0;
}

/**
 * `σ' = σ / 0.1`: the collection's spread over the reference spread. Terms added to similarity are multiplied by it, so that they
 * weigh the same on every store's scale. Before the first exposure it is the request's own spread. It is 1 where no similarities ever
 * differed: any scale lets the terms decide among equal similarities.
 */
export function spreadScale(shared: RunningSpread | undefined, similarities: Float64Array): number {
  const found = shared && shared.spreadCount > 0 ? shared.spread : spread(similarities);
  return found > 0 ? found / REFERENCE_SPREAD : 1;
}
