import type { CountedVotes } from "./episode-record.js";

/**
 * Votes with a later report of the same tier: each memory keeps the last vote about it, so that it is named at most once.
 *
 * @param earlier What still counts, in order of arrival.
 */
export function castVotes(earlier: readonly CountedVotes[], said: CountedVotes): readonly CountedVotes[] {
  const named = new Set(namesOf(said));
  const rest = (ids: readonly string[]): readonly string[] => ids.filter((id) => !named.has(id));
  const kept = earlier.map((votes) => ({
    ...votes,
    helpful: rest(votes.helpful),
    harmful: rest(votes.harmful),
    neutral: rest(votes.neutral),
  }));
  return [...kept.filter((votes) => namesOf(votes).length > 0), said];
}

function namesOf({ helpful, harmful, neutral }: CountedVotes): readonly string[] {
  return [...helpful, ...harmful, ...neutral];
}
