import type { CountedReward, CountedVotes, Credibility, EpisodeRecord } from "./episode-record.js";
import { memoryHash } from "./memory-hash.js";

/** The part of an episode's outcome that reaches the learner, after trust and caps. */
export interface Evidence {
  /** Undefined without a reward from a trusted source. */
  readonly reward: CountedReward | undefined;
  readonly votes: CountedVotes | undefined;
  /** Weight of the reward, else of the votes, in (0, 1], times the trust in its source. */
  readonly weight: number;
  /** True when a memory is within the cap of the reward's source (of the votes' source without a reward). */
  credits(collection: string, id: string): boolean;
  /** True when a memory is within the cap of the votes' source. */
  votesOn(collection: string, id: string): boolean;
}

/**
 * A source without trust is left out, a half trusted one weighs half, and a capped one misses that memory. Votes
 * weigh as much as the reward beside them, so that those of a source with little trust do not weaken a better reward.
 */
export function evidenceOf({ reward: rewarded, votes: voted }: Pick<EpisodeRecord, "reward" | "votes">): Evidence {
  const reward = rewarded && trustIn(rewarded) > 0 ? rewarded : undefined;
  const votes = voted && trustIn(voted) > 0 ? voted : undefined;
  const part = reward ?? votes;
  return {
    reward,
    votes,
    weight: part ? part.weight * trustIn(part) : 1,
    credits: (collection, id) => !isCapped(part?.credibility, collection, id),
    votesOn: (collection, id) => !isCapped(votes?.credibility, collection, id),
  };
}

/** In [0, 1]; 1 where nothing doubts it. */
export function trustIn({ credibility }: Pick<CountedReward, "credibility">): number {
  return credibility?.trust ?? 1;
}

function isCapped(credibility: Credibility | undefined, collection: string, id: string): boolean {
  return (
    credibility !== undefined &&
    credibility.capped.length > 0 &&
    credibility.capped.includes(memoryHash(collection, id))
  );
}
