import { kept } from "./half-life.js";

/** How much newer memories are preferred. */
export interface Recency {
  /** After this long half of the preference is left, ms, above 0. */
  readonly halfLife: number;
  /** Similarity that a memory of this moment gains, above 0. @default 0.1 */
  readonly weight?: number | undefined;
}

/** Default of {@link Recency}'s weight: about the spread of similarities of common embedding models. */
const RECENCY_WEIGHT = 0.1;

/**
 * Similarity with a prior for newer memories: `s + w · 2^(−age / halfLife)`. A memory of unknown age gains nothing, one of the future
 * as much as one of this moment. In the spirit of the time-weighted retriever of LangChain, with half-lives in place of rates.
 *
 * @param age ms, NaN for unknown
 */
export function withRecency(similarity: number, age: number, { halfLife, weight = RECENCY_WEIGHT }: Recency): number {
  return Number.isNaN(age) ? similarity : similarity + weight * kept(age, halfLife);
}
