import { kept } from "./half-life.js";

/** How much newer memories are preferred. */
export interface Recency {
  /** After this long half of the preference is left, ms, above 0. */
  readonly halfLife: number;
  /** Similarity that a memory of this moment gains, above 0. @default 0.1 */
  readonly weight?: number | undefined;
}

/** Candidates that a preference for newer memories chooses from, also before anything is learned. */
export const RECENT_FROM = 50;

/** Default of {@link Recency}'s weight: about the spread of similarities of common embedding models. */
const RECENCY_WEIGHT = 0.1;

/**
 * Similarity with a prior for newer memories: `s + w · 2^(−age / halfLife)`. A memory of unknown age gains nothing, one of the future
 * as much as one of this moment. In the spirit of the time-weighted retriever of LangChain, with half-lives in place of rates.
 *
 * @param createdAt A date, a text that `Date` reads, or Unix ms; anything else is unknown
 * @param now Unix ms
 */
export function withRecency(
  similarity: number,
  createdAt: unknown,
  now: number,
  { halfLife, weight = RECENCY_WEIGHT }: Recency,
): number {
  const age = now - (typeof createdAt === "number" ? createdAt : Date.parse(String(createdAt)));
  return Number.isNaN(age) ? similarity : similarity + weight * kept(age, halfLife);
}
