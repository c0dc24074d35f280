import type { Learner } from "../learners/learner.js";
import type { Reduce, Reduction, SequencedEntry } from "../store/store.js";
import { auditClaims, setAside } from "./audits.js";
import { countConfirmations } from "./confirmations.js";
import { countEpisode } from "./context-counts.js";
import { Draft, type Loading } from "./draft.js";
import { drawOf, similaritiesOf, toEpisodeExposure } from "./episode-exposure.js";
import { type Claim, type CountedReward, emptyEpisode } from "./episode-record.js";
import { decodeEvent } from "./event-codec.js";
import {
  type EditPolicy,
  type ExposureEvent,
  type ForgetEvent,
  type ImportEvent,
  OUTCOME_TIERS,
  type OutcomeEvent,
  type RecordedExposure,
} from "./events.js";
import { trustIn } from "./evidence.js";
import { countReward, noteDraw } from "./holdout-counts.js";
import type { MemoryRecord } from "./memory-record.js";
import { reweighClaims, settle, takeBack } from "./settle.js";
import { chargeSources, sourcesOf, standingOf } from "./standing.js";
import { aliasRef, episodeRef, memoryRef, rebuildRef, sharedRef, sourceRef, statsRef } from "./state-keys.js";

/** Share of its evidence that a memory keeps when its text changes. */
const KEPT_AFTER_EDIT: Readonly<Record<EditPolicy, number>> = { keep: 1, discount: 0.5, reset: 0 };

/**
 * The fold: what each ledger entry does to the state. The only place that knows it; live commits and replay run this code.
 *
 * An episode's effect on the learner's states is a function of all its credited exposures and of the best outcome known. When
 * either changes, the recorded contribution is taken back and a new one is added.
 */
export function ledgerReducer<Shared, Memory>(learner: Learner<Shared, Memory>): Reduce {
  return function* reduce(entry: SequencedEntry): Reduction {
    const event = decodeEvent(entry.type, entry.payload);
    const draft = new Draft(learner, entry);
    switch (event.type) {
      case "exposure":
        yield* draft.load([statsRef, episodeRef(event.episode)]);
        yield* foldExposures(draft, event);
        break;
      case "outcome":
        yield* draft.load([statsRef, episodeRef(event.episode)]);
        if (event.audited || event.cap) yield* draft.load([sourceRef(event.source)]);
        yield* foldOutcome(draft, event);
        break;
      case "forget":
        yield* draft.load([statsRef, ...event.ids.map((id) => memoryRef(event.collection, id))]);
        foldForget(draft, event);
        break;
      case "import":
        yield* draft.load([
          statsRef,
          sharedRef(event.collection),
          ...event.memories.map(({ id }) => memoryRef(event.collection, id)),
        ]);
        foldImport(draft, event);
        break;
      case "revoke":
        yield* draft.load([statsRef]);
        // States cannot be unfolded in place: whoever revokes builds them again, and until then this says so.
        draft.stats.revocations = (draft.stats.revocations ?? 0) + 1;
        draft.write(rebuildRef, new TextEncoder().encode(String(entry.seq)));
    }
    return draft.writes();
  };
}

function* foldExposures<Shared, Memory>(draft: Draft<Shared, Memory>, event: ExposureEvent): Loading {
  const { stats } = draft;
  const known = draft.episode(event.episode);
  const episode = known ?? emptyEpisode();
  if (!known) {
    stats.episodes += 1;
    // Spoken about before it showed anything.
    if (event.exposures.length === 0) episode.lastAt = draft.at;
  }
  if (episode.state === "parked") stats.parked -= 1;
  if (event.state === "parked") stats.parked += 1;
  if (event.state === "abandoned" && episode.state !== "abandoned") stats.abandoned += 1;

  const added = event.exposures.map((exposure) => toEpisodeExposure(exposure, draft.seq));
  countReward(stats, episode, -1);
  const settled = episode.reward !== undefined || episode.votes !== undefined;
  yield* draft.loadStates(settled ? [...episode.exposures, ...added] : added);
  if (event.exposures.length > 0) countConfirmations(draft, episode, -1);
  // Taken back before anything else changes; settled again with the new exposures below.
  if (episode.contribution && event.exposures.length > 0) takeBack(draft, episode);

  for (const exposure of event.exposures) {
    draft.adoptSpace(exposure);
    observe(draft, exposure, event.onEdit);
    episode.lastAt = Math.max(episode.lastAt, exposure.at);
  }
  if (event.parkedAs !== undefined) yield* giveUpParked(draft, event.parkedAs, event.episode);
  if (episode.exposures.length === 0) episode.holdout = drawOf(event.exposures);
  countEpisode(stats, episode.exposures, added);
  episode.exposures.push(...added);
  if (event.exposures.length > 0) countConfirmations(draft, episode, 1);
  if (added.length === episode.exposures.length) noteDraw(stats, episode);
  countReward(stats, episode, 1);
  episode.state = event.state;
  episode.parkedAs = event.parkedAs ?? "";
  for (const alias of [...event.aliases, ...(event.parkedAs ? [event.parkedAs] : [])]) {
    draft.keepText(aliasRef(alias), event.episode);
  }
  yield* draft.load(sourcesOf(episode));
  chargeSources(draft, episode, episode.exposures, added);
  yield* settle(draft, event.episode, episode);
  draft.keepEpisode(event.episode, episode);
}

/** One alias, one waiting episode: whoever waited under it before can no longer be resumed. */
function* giveUpParked<Shared, Memory>(draft: Draft<Shared, Memory>, alias: string, successor: string): Loading {
  yield* draft.load([aliasRef(alias)]);
  const waiting = draft.text(aliasRef(alias));
  if (waiting === undefined || waiting === successor) return;
  yield* draft.load([episodeRef(waiting)]);
  const episode = draft.episode(waiting);
  if (episode?.state !== "parked" || episode.parkedAs !== alias) return;
  episode.state = "abandoned";
  episode.parkedAs = "";
  draft.stats.parked -= 1;
  draft.stats.abandoned += 1;
  draft.keepEpisode(waiting, episode);
}

function* foldOutcome<Shared, Memory>(draft: Draft<Shared, Memory>, event: OutcomeEvent): Loading {
  const { stats } = draft;
  stats.outcomes[event.tier] += 1;
  if (event.reward === null) stats.unknown += 1;
  const episode = draft.episode(event.episode);
  // Erased in the meantime: the outcome is a fact, but there is nothing left to credit.
  if (!episode) return;
  const { audits, claims } = episode;
  yield* auditClaims(draft, episode, event);
  const standing = standingOf(draft, event);
  const spoken = { tier: event.tier, standing };
  const rewarded = event.reward !== null && counts(spoken, episode.reward);
  const voted = hasVotes(event) && counts(spoken, episode.votes);
  if (event.reward !== null) {
    const word: Claim = { source: event.source, tier: event.tier, reward: event.reward };
    setAside(episode, rewarded ? [episode.reward, word] : [word, episode.reward]);
  }
  if (!rewarded && !voted) {
    const noted = episode.audits !== audits || episode.claims !== claims;
    if (noted) draft.keepEpisode(event.episode, episode);
    return;
  }
  yield* draft.loadStates(episode.exposures);
  if (episode.contribution) {
    stats.corrections += 1;
    takeBack(draft, episode);
  }
  if (rewarded && event.reward !== null) {
    const { tier, reward, weight, source, note } = event;
    countReward(stats, episode, -1);
    countConfirmations(draft, episode, -1);
    episode.reward = { tier, reward, weight, source, note, at: draft.at, standing };
    countReward(stats, episode, 1);
    countConfirmations(draft, episode, 1);
  }
  if (voted) {
    const { tier, weight, helpful, harmful, used } = event;
    episode.votes = { tier, weight, at: draft.at, helpful, harmful, used, standing: standing && { ...standing } };
  }
  const said = { reward: rewarded ? episode.reward : undefined, votes: voted ? episode.votes : undefined };
  chargeSources(draft, said, episode.exposures, episode.exposures);
  yield* settle(draft, event.episode, episode);
  draft.keepEpisode(event.episode, episode);
  if (event.audited) yield* reweighClaims(draft, event.episode);
}

function foldForget<Shared, Memory>(draft: Draft<Shared, Memory>, event: ForgetEvent): void {
  for (const id of event.ids) {
    const record = draft.memory(event.collection, id);
    record.contentHash = 0;
    record.shown = 0;
    record.confirmed = 0;
    record.forgottenAt = draft.seq;
    record.learned = undefined;
  }
}

function foldImport<Shared, Memory>(draft: Draft<Shared, Memory>, event: ImportEvent): void {
  // Bytes of another learner mean nothing to this one; a replay with that learner will read them.
  if (event.learner !== draft.learner.id) return;
  if (event.shared.length > 0) draft.replaceShared(event.collection, event.shared);
  for (const { id, state } of event.memories) draft.memory(event.collection, id).learned = draft.decodeMemory(state);
  draft.stats.taught += 1;
}

/** Tells the learner of an exposure, counts it, and notices edited texts. */
function observe<Shared, Memory>(draft: Draft<Shared, Memory>, exposure: RecordedExposure, onEdit: EditPolicy): void {
  const shown = new Map<string, MemoryRecord<Memory>>();
  for (const item of exposure.shown) {
    const id = (exposure.candidates[item.candidate] as { id: string }).id;
    if (shown.has(id)) continue;
    const record = draft.memory(exposure.collection, id);
    shown.set(id, record);
    record.shown += 1;
    if (item.contentHash !== 0 && item.contentHash !== record.contentHash) {
      if (record.contentHash !== 0) edit(draft, record, KEPT_AFTER_EDIT[onEdit]);
      record.contentHash = item.contentHash;
    }
  }
  draft.learner.observe({
    shared: draft.shared(exposure.collection).state,
    context: exposure.context,
    similarities: similaritiesOf(exposure),
    shown: shown.size,
    memories: () => [...shown.values()].map((record) => record.draft()),
    at: exposure.at,
  });
}

/** What a changed text leaves of a memory: a share of its evidence, and nobody who has verified the new text. */
function edit<Shared, Memory>(draft: Draft<Shared, Memory>, record: MemoryRecord<Memory>, keep: number): void {
  if (keep === 1) return;
  record.confirmed = 0;
  // Outcomes of what the old text did no longer reach it, or no longer confirm it; those of this entry do.
  const before = draft.seq - 1;
  if (keep > 0) {
    record.editedAt = before;
    if (record.learned !== undefined) draft.learner.discount(record.draft(), keep);
  } else {
    record.forgottenAt = before;
    record.learned = undefined;
  }
}

/** A better tier counts; so does a later word of the same tier. Who is not trusted at all silences nobody who is. */
function counts(spoken: Spoken, known: Spoken | undefined): boolean {
  if (known === undefined) return true;
  const isTrusted = trustIn(spoken) > 0;
  if (isTrusted !== trustIn(known) > 0) return isTrusted;
  return OUTCOME_TIERS.indexOf(spoken.tier) <= OUTCOME_TIERS.indexOf(known.tier);
}

type Spoken = Pick<CountedReward, "tier" | "standing">;

function hasVotes({ helpful, harmful, used }: OutcomeEvent): boolean {
  return helpful.length > 0 || harmful.length > 0 || used !== undefined;
}
