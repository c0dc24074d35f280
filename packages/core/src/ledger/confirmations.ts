import type { Draft } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import type { MemoryRecord } from "./memory-record.js";

/** A verified reward from here on is a success. */
const SUCCESS = 0.5;

/**
 * Counts the verified success of an episode for each memory that it showed as it is now (`times` 1), or takes it back (−1). What
 * showed another text, or a memory that was forgotten since, is passed over both times: its count went when the text did. To be
 * called with the memories loaded, before and after the reward or the exposures change.
 */
export function countConfirmations<Shared, Memory>(
  draft: Draft<Shared, Memory>,
  { reward, exposures }: Pick<EpisodeRecord, "reward" | "exposures">,
  times: 1 | -1,
): void {
  if (reward?.tier !== "verified" || reward.reward < SUCCESS) return;
  const counted = new Set<MemoryRecord<Memory>>();
  for (const { credited, collection, items, seq } of exposures) {
    if (!credited) continue;
    for (const { id } of items) {
      const record = draft.memory(collection, id);
      if (counted.has(record) || !record.isPresentAt(seq)) continue;
      counted.add(record);
      // A count that was full has forgotten how many it holds.
      record.confirmed = Math.max(0, record.confirmed + times);
    }
  }
}
