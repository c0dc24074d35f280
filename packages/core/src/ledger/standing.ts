import { charge } from "../credit/caps.js";
import { trustOf } from "../credit/trust.js";
import type { StateRef } from "../store/store.js";
import type { Draft } from "./draft.js";
import type { CountedReward, CountedVotes, EpisodeExposure, EpisodeRecord, Standing } from "./episode-record.js";
import type { OutcomeEvent } from "./events.js";
import { memoryHash } from "./memory-hash.js";
import { sourceRef } from "./state-keys.js";

/** The sources that an episode's next exposures are charged to. */
export function sourcesOf({ reward, votes }: EpisodeRecord): StateRef[] {
  return [reward, votes].flatMap((part) => (part?.standing?.cap ? [sourceRef(part.standing.source)] : []));
}

/** How far an outcome's source is believed as it arrives, by the rules that came with it; undefined: in full, without limit. */
export function standingOf<Shared, Memory>(
  draft: Draft<Shared, Memory>,
  { source, audited, cap }: OutcomeEvent,
): Standing | undefined {
  if (!audited && !cap) return undefined;
  return { source, trust: audited ? trustOf(draft.source(source).trust) : 1, cap, capped: [] };
}

/**
 * Charges the sources of an episode's outcome for the memories that exposures have added to it. A reward is charged for all of
 * them, votes without one for the memories that they name. What a source has spent stays spent when better evidence replaces
 * its word.
 *
 * @param said what of the outcome is to be charged for: parts that were charged for these exposures before are left out
 * @param added exposures that `said` was not charged for yet; the episode may hold earlier ones
 * @param believed how much of each part's weight to charge for, in [0, 1]
 */
export function chargeSources<Shared, Memory>(
  draft: Draft<Shared, Memory>,
  said: Pick<EpisodeRecord, "reward" | "votes">,
  exposures: readonly EpisodeExposure[],
  added: readonly EpisodeExposure[],
  believed: Believed = (standing) => standing.trust,
): void {
  const { reward, votes } = said;
  const charged = addresses(exposures.filter((exposure) => !added.includes(exposure)));
  const due = addresses(added);
  for (const address of charged.keys()) due.delete(address);
  if (reward) chargePart(draft, reward, [...due.keys()], believed);
  if (!votes) return;
  if (reward?.standing && votes.standing?.source === reward.standing.source && votes.at === reward.at) {
    // One outcome is charged once.
    votes.standing.capped = [...reward.standing.capped];
  } else {
    const named = new Set([...votes.helpful, ...votes.harmful, ...(votes.used ?? [])]);
    chargePart(
      draft,
      votes,
      [...due].filter(([, id]) => named.has(id)).map(([address]) => address),
      believed,
    );
  }
}

type Believed = (standing: Standing) => number;

function chargePart<Shared, Memory>(
  draft: Draft<Shared, Memory>,
  { standing, weight }: CountedReward | CountedVotes,
  memories: readonly number[],
  believed: Believed,
): void {
  const amount = standing ? weight * believed(standing) : 0;
  if (!standing?.cap || amount <= 0) return;
  const { spending } = draft.changeSource(standing.source);
  for (const memory of memories) {
    if (standing.capped.includes(memory)) continue;
    if (charge(spending, standing.cap, memory, amount, draft.at)) continue;
    standing.capped.push(memory);
    draft.stats.capped = (draft.stats.capped ?? 0) + 1;
  }
}

/** The memories that credited exposures show, each once: hash of the address, and id. */
function addresses(exposures: readonly EpisodeExposure[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const { credited, collection, items } of exposures) {
    if (credited) for (const { id } of items) found.set(memoryHash(collection, id), id);
  }
  return found;
}
