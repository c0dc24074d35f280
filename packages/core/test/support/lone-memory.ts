import type { Engine, Learner, OutcomeInput } from "../../src/index.js";
import { exportState } from "../../src/maintenance/index.js";
import { testEngine } from "./test-engine.js";

/** An engine on one learner, for numbers that can be worked out by hand. */
export interface LoneMemory {
  readonly engine: Engine;
  readonly clock: { now: number };
  /** One run that shows these memories, in this order, and ends as it says. */
  run(ids: readonly string[], outcome: OutcomeInput): Promise<void>;
  /** Scores and utilities of candidates, by id, in the order of the ranking. Its episode stays open, so no state changes. */
  rank(
    candidates: Readonly<Record<string, number>>,
    topK?: number,
  ): Promise<readonly (readonly [id: string, score: number, utility: number])[]>;
  /** The learner's state of a memory. */
  state(id: string): Promise<Record<string, number>>;
}

export function loneMemory(learner: unknown): LoneMemory {
  const { engine, clock } = testEngine({ learner: learner as Learner });
  return {
    engine,
    clock,
    async run(ids, outcome) {
      const candidates = ids.map((id, i) => ({ id, similarity: 0.9 - i * 0.01 }));
      const { episode } = await engine.rank({ candidates, topK: ids.length, keepOrder: true });
      await engine.end(episode, { tier: "verified", ...outcome });
    },
    async rank(candidates, topK = Object.keys(candidates).length) {
      const { items } = await engine.rank({
        candidates: Object.entries(candidates).map(([id, similarity]) => ({ id, similarity })),
        topK,
      });
      return items.map(({ id, score, utility }) => [id, score, utility] as const);
    },
    async state(id) {
      const { memories } = await exportState(engine);
      return memories.find((memory) => memory.id === id)?.state as Record<string, number>;
    },
  };
}
