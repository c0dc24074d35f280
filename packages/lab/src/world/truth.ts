import { type Difficulty, MISLEADING } from "./difficulty.js";
import type { LessonsByNeed, Quality } from "./qualities.js";

/** The truth of a world at some time: the lessons that help, and the probability of success for each list of memories. */
export interface Truth {
  quality(lesson: string): Quality;
  /** Lessons of a need that help, in store order. */
  helpful(need: number): readonly string[];
  /**
   * True probability that a run about `needs` succeeds with these lessons shown, best first:
   * unaided + (aided − unaided) · the share of needs with a helpful lesson, both means over the needs, times what misleading lessons cost.
   */
  trueProbability(needs: readonly number[], shown: readonly string[]): number;
}

export interface TruthParts {
  readonly difficulties: readonly Difficulty[];
  readonly byNeed: LessonsByNeed;
  /** The need of each lesson. */
  readonly needOf: ReadonlyMap<string, number>;
  readonly qualities: ReadonlyMap<string, Quality>;
}

export function createTruth({ difficulties, byNeed, needOf, qualities }: TruthParts): Truth {
  const quality = (lesson: string): Quality => qualities.get(lesson) ?? "neutral";
  const average = (needs: readonly number[], key: keyof Difficulty): number =>
    needs.reduce((sum, need) => sum + (difficulties[need] as Difficulty)[key], 0) / needs.length;
  return {
    quality,
    helpful: (need) => (byNeed[need] as readonly string[]).filter((lesson) => quality(lesson) === "helpful"),
    trueProbability(needs, shown) {
      const covered = new Set<number>();
      let misleading = 0;
      let foreign = 0;
      for (const lesson of shown) {
        const need = needOf.get(lesson) ?? -1;
        const own = needs.includes(need);
        const effect = quality(lesson);
        if (effect === "helpful" && own) covered.add(need);
        else if (effect === "misleading" && own) misleading += 1;
        else if (effect === "misleading") foreign += 1;
      }
      const unaided = average(needs, "unaided");
      const aided = average(needs, "aided");
      const share = covered.size / needs.length;
      // Weighted, not unaided + share · difference: exact at both ends.
      let probability = (1 - share) * unaided + share * aided;
      if (misleading > 0) probability *= MISLEADING.first * MISLEADING.further ** (misleading - 1);
      return probability * MISLEADING.foreign ** foreign;
    },
  };
}
