import { creditShares } from "../credit/shares.js";
import type { Lesson } from "../learners/learner.js";
import type { Draft } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";

/**
 * The episode as a lesson. Exposures that carry nothing are left out; memories that were forgotten since get a scratch state,
 * so that their part of the credit goes nowhere instead of to the others or to a reused id.
 */
export function lessonOf<Shared, Memory>(draft: Draft<Shared, Memory>, episode: EpisodeRecord): Lesson<Shared, Memory> {
  const { reward, votes } = episode;
  const helpful = new Set(votes?.helpful);
  const harmful = new Set(votes?.harmful);
  const used = votes?.used && new Set(votes.used);
  const shares = creditShares(episode.exposures);
  return {
    exposures: episode.exposures.flatMap((exposure, e) => {
      const { share, weights } = shares[e] as (typeof shares)[number];
      if (share === 0) return [];
      return [
        {
          shared: draft.shared(exposure.collection).state,
          vector: draft.vectorIn(exposure),
          context: exposure.context,
          share,
          shown: exposure.items.map((item, i) => {
            const record = draft.memory(exposure.collection, item.id);
            const reachable = record.forgottenAt < exposure.seq;
            return {
              id: item.id,
              memory: reachable ? record.draft() : draft.learner.memory.empty(),
              similarity: item.similarity,
              weight: weights[i] as number,
              vote: helpful.has(item.id) ? (1 as const) : harmful.has(item.id) ? (-1 as const) : (0 as const),
              used: used?.has(item.id),
            };
          }),
        },
      ];
    }),
    reward: reward?.reward ?? null,
    weight: reward?.weight ?? votes?.weight ?? 1,
    voted: helpful.size + harmful.size > 0,
    at: reward?.at ?? votes?.at ?? 0,
    first: !draft.takenBack,
  };
}
