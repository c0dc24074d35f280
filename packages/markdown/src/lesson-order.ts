/**
 * Orders of a search.
 *
 * - `bm25`: the best match first
 * - `reinforcements`: the one read most often first
 * - `confidence`: the greatest confidence first
 * - `hybrid`: alpha · match / best match + (1 − alpha) · confidence
 * - `learned`: by the outcomes of the runs that saw it
 */
export const RANK_BY = ["bm25", "reinforcements", "confidence", "hybrid", "learned"] as const;

export type RankBy = (typeof RANK_BY)[number];

/** The numbers of a lesson by which it is ordered. */
export interface Ordered {
  readonly id: string;
  /** ≥ 0. */
  readonly similarity: number;
  readonly reinforcements: number;
  /** In [0, 1]. */
  readonly confidence: number;
  /** Unix ms. */
  readonly lastReferenced?: number;
}

/** `1 − (1 − c) · 0.9^reads`: each reading closes a tenth of the gap to 1. */
export function grown(confidence: number, reads: number): number {
  return 1 - (1 - confidence) * 0.9 ** reads;
}

/**
 * The lessons in another order, none left out. Equal ones: the last one read first, then by id; in `bm25` and `hybrid` the order given.
 *
 * @param lessons Best match first.
 * @param alpha Share of the match in `hybrid`, in [0, 1]; 1 is the order given.
 */
export function permuted<Lesson extends Ordered>(lessons: readonly Lesson[], rankBy: RankBy, alpha: number): Lesson[] {
  const best = Math.max(0, ...lessons.map(({ similarity }) => similarity));
  const keys: Partial<Record<RankBy, (lesson: Lesson) => number>> = {
    reinforcements: ({ reinforcements }) => reinforcements,
    confidence: ({ confidence }) => confidence,
    hybrid: ({ similarity, confidence }) => alpha * (best === 0 ? 0 : similarity / best) + (1 - alpha) * confidence,
  };
  const key = keys[rankBy];
  if (!key) return [...lessons];
  const ties = rankBy === "hybrid" ? () => 0 : lastReadFirst;
  return [...lessons].sort((a, b) => key(b) - key(a) || ties(a, b));
}

function lastReadFirst(a: Ordered, b: Ordered): number {
  return (b.lastReferenced ?? 0) - (a.lastReferenced ?? 0) || (a.id < b.id ? -1 : 1);
}
