import type { Draft } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import type { MemoryRecord } from "./memory-record.js";

/** A verified reward from here on is a success. */
const SUCCESS = 0.5;

/**
 * Counts the verified success of an episode for each memory that it showed (`times` 1), or takes it back (−1). To be called with the
 * memories loaded, before and after the reward or the exposures change.
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
      if (counted.has(record) || record.forgottenAt >= seq) continue;
      counted.add(record);
      // An edit has begun the count again: what came before it cannot be taken back a second time.
      record.confirmed = Math.max(0, record.confirmed + times);
    }
  }
}
