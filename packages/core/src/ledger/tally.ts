import type { Draft } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import { evidenceOf, SUCCESS } from "./evidence.js";
import type { MemoryRecord } from "./memory-record.js";
import { useOf } from "./used.js";

/**
 * Counts the facts of an episode for each memory that a credited part of it showed (`times` 1), or takes them back (−1): whether the
 * run used the memory, the reward that counts, the vote that counts, the verdict of both, and a verified success. Each memory is counted once. Memories that
 * were forgotten since are passed over, and so is a confirmation of a text that has changed since: those counts were set to 0 then.
 *
 * To be called before and after a change of the episode, with its memories loaded if it has any facts.
 */
export function countEvidence(draft: Draft, episode: EpisodeRecord, times: 1 | -1): void {
  if (!episode.reward && !episode.used && episode.votes.length === 0) return;
  const { reward, credits, voteOn, verdictOn } = evidenceOf(episode);
  const isUsed = useOf(episode.used);
  const isVerified = episode.reward?.tier === "verified" && episode.reward.reward >= SUCCESS;
  for (const [record, { collection, id, seq }] of lastShowings(draft, episode)) {
    if (seq <= record.forgottenAt) continue;
    const wasUsed = isUsed(id) === true;
    if (wasUsed) record.used += times;
    if (reward && credits(collection, id)) {
      if (reward.reward >= SUCCESS) record.successes += times;
      else record.failures += times;
    }
    const vote = voteOn(collection, id);
    if (vote > 0) record.helpful += times;
    if (vote < 0) record.harmful += times;
    const verdict = verdictOn(collection, id, wasUsed);
    if (verdict > 0) record.wins += times;
    if (verdict < 0) record.losses += times;
    // A count that was full has forgotten how many it holds.
    if (isVerified && record.isPresentAt(seq)) record.confirmed = Math.max(0, record.confirmed + times);
  }
}

/** A memory that an episode showed, and the entry that showed it. */
interface Showing {
  readonly collection: string;
  readonly id: string;
  readonly seq: number;
}

/** The last showing of each memory by a credited exposure. */
function lastShowings(draft: Draft, { exposures }: EpisodeRecord): Map<MemoryRecord, Showing> {
  const last = new Map<MemoryRecord, Showing>();
  // Exposures are in the ledger's order.
  for (const { credited, collection, items, seq } of exposures) {
    if (credited) for (const { id } of items) last.set(draft.memory(collection, id), { collection, id, seq });
  }
  return last;
}
