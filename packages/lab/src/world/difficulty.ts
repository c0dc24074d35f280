/** How likely a run succeeds without and with a helpful lesson of its need. */
export interface Difficulty {
  readonly unaided: number;
  readonly aided: number;
}

/**
 * A quarter of the needs is easy, half normal, a quarter hard, so that the raw reward of a memory says more about the
 * requests it was shown for than about the memory.
 */
export const DIFFICULTIES: readonly (Difficulty & { readonly share: number })[] = [
  { share: 0.25, unaided: 0.65, aided: 0.97 },
  { share: 0.5, unaided: 0.2, aided: 0.9 },
  { share: 0.25, unaided: 0.05, aided: 0.5 },
];

/** @param uniform a number in [0, 1) */
export function drawDifficulty(uniform: number): Difficulty {
  let below = 0;
  for (const difficulty of DIFFICULTIES) {
    below += difficulty.share;
    if (uniform < below) return difficulty;
  }
  return DIFFICULTIES.at(-1) as Difficulty;
}

/** Effect of a misleading lesson on the probability of success; mild beside what real models suffer from a wrong document. */
export const MISLEADING = {
  /** The first of the request's own need. */
  first: 0.4,
  /** Each further one of its need. */
  further: 0.8,
  /** Each one of another need. */
  foreign: 0.97,
} as const;
