import type { CountedReward, CountedVotes, EpisodeRecord, Standing } from "./episode-record.js";
import { memoryHash } from "./memory-hash.js";

/** What of an episode's outcome reaches the learner, after trust and caps. */
export interface Evidence {
  /** Undefined when nobody said, or nobody who is believed. */
  readonly reward: CountedReward | undefined;
  readonly votes: CountedVotes | undefined;
  /** Of the reward, else of the votes, in (0, 1]: times the trust in whoever gave it. */
  readonly weight: number;
  /** Whether a memory is within the cap of whoever gave the reward (or the votes, where there is none). */
  credits(collection: string, id: string): boolean;
  /** Whether a memory is within the cap of whoever voted. */
  votesOn(collection: string, id: string): boolean;
}

/**
 * A source that nobody trusts is left out, one that is half trusted weighs half, and one beyond its cap misses that memory. Votes
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
    credits: (collection, id) => !isCapped(part?.standing, collection, id),
    votesOn: (collection, id) => !isCapped(votes?.standing, collection, id),
  };
}

/** In [0, 1]; 1 where nothing doubts it. */
export function trustIn({ standing }: Pick<CountedReward, "standing">): number {
  return standing?.trust ?? 1;
}

function isCapped(standing: Standing | undefined, collection: string, id: string): boolean {
  return standing !== undefined && standing.capped.length > 0 && standing.capped.includes(memoryHash(collection, id));
}
