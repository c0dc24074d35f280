import { relevanceWeights } from "../credit/relevance.js";
import type { GroupOfShown } from "../learners/learner.js";
import { groupShares } from "../scoring/group-shares.js";
import type { EpisodeExposure, EpisodeItem } from "./episode-record.js";
import type { RecordedExposure } from "./events.js";

/** The part of an exposure that the episode's record keeps; entry `seq` holds it in full; a memory shown twice is kept once, at its best. */
export function toEpisodeExposure(exposure: RecordedExposure, seq: number): EpisodeExposure {
  const { collection, context, space, length, vector, credited, holdout, candidates, groups, shown } = exposure;
  const numbers = groupsOf(exposure);
  const shares = numbers && groupShares(similaritiesOf(exposure), numbers);
  const groupOf = (place: number): GroupOfShown | undefined =>
    shares && { number: groups[place] as number, share: shares[place] as number };
  const items = new Map<string, Omit<EpisodeItem, "weight">>();
  for (const { candidate, handle } of shown) {
    const { id, similarity } = candidates[candidate] as { id: string; similarity: number };
    const known = items.get(id);
    if (!known || similarity > known.similarity) items.set(id, { id, similarity, handle, group: groupOf(candidate) });
  }
  const similarities = [...items.values()].map(({ similarity }) => similarity);
  const others: number[] = [];
  for (const { id, similarity } of candidates) if (!items.has(id)) others.push(similarity);
  const weights = relevanceWeights(similarities, others);
  return {
    seq,
    collection,
    context,
    space,
    length,
    vector,
    credited,
    control: holdout?.advantage ? { advantage: holdout.advantage, held: holdout.held } : undefined,
    // Rounded as the record stores them: a correction must see the same weights as the first fold.
    items: [...items.values()].map((item, i) => ({ ...item, weight: Math.fround(weights[i] as number) })),
  };
}

/** Number of each recorded candidate's group; undefined where none had one. */
export function groupsOf({ groups }: Pick<RecordedExposure, "groups">): Int32Array | undefined {
  return groups.length > 0 ? Int32Array.from(groups) : undefined;
}

/** Similarities of all recorded candidates. */
export function similaritiesOf({ candidates }: Pick<RecordedExposure, "candidates">): Float64Array {
  const similarities = new Float64Array(candidates.length);
  for (let i = 0; i < candidates.length; i++) similarities[i] = (candidates[i] as { similarity: number }).similarity;
  return similarities;
}
