import type { CountedReward, CountedVotes, Credibility, EpisodeRecord } from "./episode-record.js";
import { OUTCOME_TIERS, type OutcomeEvent } from "./events.js";
import { memoryHash } from "./memory-hash.js";
import type { StatsRecord } from "./stats-record.js";

/** The part of an episode's outcome that reaches the learner, after trust and caps. */
export interface Evidence {
  /** Undefined without a reward from a trusted source. */
  readonly reward: CountedReward | undefined;
  /** The same, undefined also where it weighs 0: it is known, and teaches nothing. */
  readonly lesson: CountedReward | undefined;
  /** Of trusted sources, in order of arrival: one element per report that calls a memory helpful or harmful. */
  readonly votes: readonly CountedVotes[];
  /** Weight of the lesson, else of the last votes, in (0, 1], times the trust in its source. */
  readonly weight: number;
  /** True when a memory is within the cap of the reward's source (of the source of its vote without a reward). */
  credits(collection: string, id: string): boolean;
  /** The vote that counts about a memory: 1 helpful, −1 harmful, 0 none, neutral, or beyond the cap of its source. */
  voteOn(collection: string, id: string): -1 | 0 | 1;
  /**
   * The outcome for one memory: 1 a win, −1 a loss, 0 unknown. The vote on it, unless the reward is of a better tier and the run used the
   * memory; without a vote the reward, if the run used it.
   */
  verdictOn(collection: string, id: string, isUsed: boolean): -1 | 0 | 1;
}

/**
 * A source without trust is left out, a half trusted one weighs half, and a capped one misses that memory. Votes
 * weigh as much as the reward beside them, so that those of a source with little trust do not weaken a better reward.
 */
export function evidenceOf({ reward: rewarded, votes: voted }: Pick<EpisodeRecord, "reward" | "votes">): Evidence {
  const reward = rewarded && trustIn(rewarded) > 0 ? rewarded : undefined;
  const votes = voted.filter((part) => part.helpful.length + part.harmful.length > 0 && trustIn(part) > 0);
  const lesson = reward && reward.weight > 0 ? reward : undefined;
  const part = lesson ?? votes.at(-1);
  const cast = new Map<string, { readonly vote: -1 | 1; readonly by: CountedVotes }>();
  for (const by of votes) {
    for (const id of by.helpful) cast.set(id, { vote: 1, by });
    for (const id of by.harmful) cast.set(id, { vote: -1, by });
  }
  const credits = (collection: string, id: string): boolean =>
    !isCapped(lesson ?? cast.get(id)?.by ?? part, collection, id);
  const voteOn = (collection: string, id: string): -1 | 0 | 1 => {
    const found = cast.get(id);
    return found && !isCapped(found.by, collection, id) ? found.vote : 0;
  };
  return {
    reward,
    lesson,
    votes,
    weight: part ? part.weight * trustIn(part) : 1,
    credits,
    voteOn,
    verdictOn(collection, id, isUsed) {
      const vote = voteOn(collection, id);
      if (!reward || !isUsed || !credits(collection, id)) return vote;
      const by = cast.get(id)?.by;
      const isOutranked = !by || OUTCOME_TIERS.indexOf(reward.tier) < OUTCOME_TIERS.indexOf(by.tier);
      if (vote !== 0 && !isOutranked) return vote;
      return reward.reward >= SUCCESS ? 1 : -1;
    },
  };
}

/** A reward from here on is a success. */
export const SUCCESS = 0.5;

/**
 * Weight of an outcome's reward, which is to be asked once per outcome. Success of tier `completed` weighs 0 until a run in the namespace
 * has failed by itself, by throwing or as a failure of that tier: where runs only ever end well, an end says nothing about memories.
 * Measured with votes of users on 20 % of the runs, whose ends never fail: such ends would take a third of the gain.
 */
export function weightOf({ tier, reward, weight }: OutcomeEvent, stats: StatsRecord): number {
  if (tier !== "completed" || reward === null) return weight;
  if (reward < SUCCESS) stats.endedBadly = (stats.endedBadly ?? 0) + 1;
  return stats.endedBadly || stats.outcomes.observed > 0 ? weight : 0;
}

/** In [0, 1]; 1 where nothing doubts it. */
export function trustIn({ credibility }: { readonly credibility: Credibility | undefined }): number {
  return credibility?.trust ?? 1;
}

function isCapped(part: CountedReward | CountedVotes | undefined, collection: string, id: string): boolean {
  const capped = part?.credibility?.capped ?? [];
  return capped.length > 0 && capped.includes(memoryHash(collection, id));
}
