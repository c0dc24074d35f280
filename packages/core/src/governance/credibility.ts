import type { Draft } from "../ledger/draft.js";
import type {
  CountedReward,
  CountedVotes,
  Credibility,
  EpisodeExposure,
  EpisodeRecord,
} from "../ledger/episode-record.js";
import type { OutcomeEvent, OutcomeRules } from "../ledger/events.js";
import { memoryHash } from "../ledger/memory-hash.js";
import { sourceRef } from "../ledger/state-keys.js";
import type { StateRef } from "../store/store.js";
import { charge } from "./caps.js";
import { keepSource, sourceOf } from "./source-record.js";
import { trustOf } from "./trust.js";

/** The sources that an episode's next exposures are charged to. */
export function sourcesOf({ reward, votes }: EpisodeRecord): StateRef[] {
  return [reward, ...votes].flatMap((part) => (part?.credibility?.cap ? [sourceRef(part.credibility.source)] : []));
}

/**
 * How far an outcome's source is believed as it arrives; undefined: in full, without limit. Not at all where the outcome would take
 * away what others have said and puts too little in its place: a source beyond its cap on some memory replaces no other source of its
 * tier, one beyond its cap on all memories replaces none.
 */
export function credibilityOf(
  draft: Draft,
  episode: EpisodeRecord,
  event: OutcomeEvent,
  { audited, cap }: OutcomeRules,
): Credibility | undefined {
  if (!audited && !cap) return undefined;
  const { source, tier, weight } = event;
  // A copy: nothing is charged here.
  const { trust: known, spending } = sourceOf(draft, source);
  const trust = audited ? trustOf(known) : 1;
  const credibility = { source, trust, cap, capped: [] };
  const others = (event.reward === null ? episode.votes : [episode.reward, ...episode.votes]).filter(
    (part) => part && part.source !== source && (part.credibility?.trust ?? 1) > 0,
  );
  if (!cap || trust === 0 || others.length === 0) return credibility;
  const memories = creditedBy(event, episode.exposures);
  const beyond = memories.filter((memory) => !charge(spending, cap, memory, weight * trust, draft.at)).length;
  const isRefused = others.some((part) => (part?.tier === tier ? beyond > 0 : beyond === memories.length));
  if (!isRefused || beyond === 0) return credibility;
  draft.stats.capped = (draft.stats.capped ?? 0) + beyond;
  return { ...credibility, trust: 0 };
}

/** The memories that an outcome is charged for: those that it names where it has no reward, else all. */
function creditedBy({ reward, helpful, harmful }: OutcomeEvent, exposures: readonly EpisodeExposure[]): number[] {
  const named = new Set([...helpful, ...harmful]);
  return [...addresses(exposures)].filter(([, id]) => reward !== null || named.has(id)).map(([address]) => address);
}

/**
 * Charges the sources of an episode's outcome for the memories that exposures have added to it. A reward is charged for all of
 * them, votes without one for the memories that they name. A source's spent budget stays spent when better evidence replaces
 * its outcome.
 *
 * @param said parts of the outcome to charge for, without those that were charged for these exposures before
 * @param added exposures that `said` was not charged for yet; the episode may hold earlier ones
 * @param believed how much of each part's weight to charge for, in [0, 1]
 */
export function chargeSources(
  draft: Draft,
  said: Pick<EpisodeRecord, "reward" | "votes">,
  exposures: readonly EpisodeExposure[],
  added: readonly EpisodeExposure[],
  believed: Believed = (credibility) => credibility.trust,
): void {
  const { reward, votes } = said;
  const charged = addresses(exposures.filter((exposure) => !added.includes(exposure)));
  const due = addresses(added);
  for (const address of charged.keys()) due.delete(address);
  if (reward) chargePart(draft, reward, [...due.keys()], believed);
  for (const cast of votes) {
    if (reward?.credibility && cast.credibility?.source === reward.credibility.source && cast.at === reward.at) {
      // One outcome is charged once.
      cast.credibility.capped = [...reward.credibility.capped];
      continue;
    }
    const named = new Set([...cast.helpful, ...cast.harmful]);
    chargePart(
      draft,
      cast,
      [...due].filter(([, id]) => named.has(id)).map(([address]) => address),
      believed,
    );
  }
}

type Believed = (credibility: Credibility) => number;

function chargePart(
  draft: Draft,
  { credibility, weight }: CountedReward | CountedVotes,
  memories: readonly number[],
  believed: Believed,
): void {
  const amount = credibility ? weight * believed(credibility) : 0;
  if (!credibility?.cap || amount <= 0) return;
  const record = sourceOf(draft, credibility.source);
  for (const memory of memories) {
    if (credibility.capped.includes(memory)) continue;
    if (charge(record.spending, credibility.cap, memory, amount, draft.at)) continue;
    credibility.capped.push(memory);
    draft.stats.capped = (draft.stats.capped ?? 0) + 1;
  }
  keepSource(draft, credibility.source, record);
}

/** The memories that credited exposures show, each once: hash of the address, and id. */
function addresses(exposures: readonly EpisodeExposure[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const { credited, collection, items } of exposures) {
    if (credited) for (const { id } of items) found.set(memoryHash(collection, id), id);
  }
  return found;
}
