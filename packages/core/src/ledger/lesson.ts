import { creditShares } from "../credit/shares.js";
import type { Lesson } from "../learners/learner.js";
import type { Draft } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import { evidenceOf } from "./evidence.js";
import { loadedIn, useOf } from "./used.js";

/**
 * The episode as a lesson. Exposures that carry nothing are left out; memories that were forgotten since get a scratch state,
 * so that their part of the credit goes nowhere instead of to the others or to a reused id.
 *
 * A run's outcome is also a vote on the skills and tools that it loaded: of a long list, the others were hardly read.
 *
 * @param first true when the episode has not taught before
 */
export function lessonOf(draft: Draft, episode: EpisodeRecord, first = false): Lesson<unknown, unknown> {
  const evidence = evidenceOf(episode);
  const { lesson, votes } = evidence;
  const isUsed = useOf(episode.used);
  const isLoaded = loadedIn(lesson && episode.used);
  const shares = creditShares(episode.exposures);
  // A vote of which a cap left nothing is no vote.
  let isVoted = votes.some(({ credibility }) => !credibility?.cap);
  const loading = new Set<string>();
  for (const { collection, items } of episode.exposures) {
    for (const { id } of items) {
      if (evidence.voteOn(collection, id)) isVoted = true;
      if (isLoaded(id)) loading.add(collection);
    }
  }
  const exposures = episode.exposures.flatMap((exposure, e) => {
    const { share, weights } = shares[e] as (typeof shares)[number];
    if (share === 0) return [];
    const { collection } = exposure;
    return [
      {
        shared: draft.shared(collection).state,
        vector: draft.vectorIn(exposure),
        direction: exposure.direction,
        context: exposure.context,
        control: exposure.control,
        share,
        voted: isVoted || loading.has(collection),
        shown: exposure.items.map(({ id, similarity, group }, i) => {
          const record = draft.memory(collection, id);
          const reachable = record.forgottenAt < exposure.seq;
          return {
            id,
            memory: reachable ? record.draft() : draft.learner.memory.empty(),
            similarity,
            weight: evidence.credits(collection, id) ? (weights[i] as number) : 0,
            vote: evidence.verdictOn(collection, id, isLoaded(id)),
            used: isUsed(id),
            group,
          };
        }),
      },
    ];
  });
  return {
    exposures,
    reward: lesson?.reward ?? null,
    weight: evidence.weight,
    at: lesson?.at ?? votes.at(-1)?.at ?? 0,
    first,
  };
}
