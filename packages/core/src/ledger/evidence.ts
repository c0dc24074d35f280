import type { CountedReward, CountedVotes, Credibility, EpisodeRecord } from "./episode-record.js";
import { memoryHash } from "./memory-hash.js";

/** The part of an episode's outcome that reaches the learner, after trust and caps. */
export interface Evidence {
  /** Undefined without a reward from a trusted source. */
  readonly reward: CountedReward | undefined;
  /** Of trusted sources, in order of arrival: one element per report that calls a memory helpful or harmful. */
  readonly votes: readonly CountedVotes[];
  /** Weight of the reward, else of the last votes, in (0, 1], times the trust in its source. */
  readonly weight: number;
  /** True when a memory is within the cap of the reward's source (of the source of its vote without a reward). */
  credits(collection: string, id: string): boolean;
  /** The vote that counts about a memory: 1 helpful, −1 harmful, 0 none, neutral, or beyond the cap of its source. */
  voteOn(collection: string, id: string): -1 | 0 | 1;
}

/**
 * A source without trust is left out, a half trusted one weighs half, and a capped one misses that memory. Votes
 * weigh as much as the reward beside them, so that those of a source with little trust do not weaken a better reward.
 */
export function evidenceOf({ reward: rewarded, votes: voted }: Pick<EpisodeRecord, "reward" | "votes">): Evidence {
  const reward = rewarded && trustIn(rewarded) > 0 ? rewarded : undefined;
  const votes = voted.filter((part) => part.helpful.length + part.harmful.length > 0 && trustIn(part) > 0);
  const part = reward ?? votes.at(-1);
  const cast = new Map<string, { readonly vote: -1 | 1; readonly by: CountedVotes }>();
  for (const by of votes) {
    for (const id of by.helpful) cast.set(id, { vote: 1, by });
    for (const id of by.harmful) cast.set(id, { vote: -1, by });
  }
  return {
    reward,
    votes,
    weight: part ? part.weight * trustIn(part) : 1,
    credits: (collection, id) => !isCapped(reward ?? cast.get(id)?.by ?? part, collection, id),
    voteOn(collection, id) {
      const found = cast.get(id);
      return found && !isCapped(found.by, collection, id) ? found.vote : 0;
    },
  };
}

/** In [0, 1]; 1 where nothing doubts it. */
export function trustIn({ credibility }: { readonly credibility: Credibility | undefined }): number {
  return credibility?.trust ?? 1;
}

function isCapped(part: CountedReward | CountedVotes | undefined, collection: string, id: string): boolean {
  const capped = part?.credibility?.capped ?? [];
  return capped.length > 0 && capped.includes(memoryHash(collection, id));
}
