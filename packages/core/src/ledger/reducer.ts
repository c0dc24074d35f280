import { QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import type { Reduce, Reduction, SequencedEntry } from "../store/store.js";
import { countEpisode } from "./context-counts.js";
import { Draft, type Loading } from "./draft.js";
import { edit } from "./edits.js";
import { groupsOf, similaritiesOf, toEpisodeExposure } from "./episode-exposure.js";
import {
  type Claim,
  type CountedReward,
  type Credibility,
  type EpisodeRecord,
  emptyEpisode,
} from "./episode-record.js";
import { decodeEvent, type EventKind, type EventKinds, type MaintenanceEvent } from "./event-codec.js";
import {
  type EditPolicy,
  type ExposureEvent,
  OUTCOME_TIERS,
  type OutcomeEvent,
  type RecordedExposure,
} from "./events.js";
import { trustIn, weightOf } from "./evidence.js";
import { type Governance, required } from "./governance.js";
import { countReward, noteDraw } from "./holdout-counts.js";
import type { MemoryRecord } from "./memory-record.js";
import { settle, takeBack } from "./settle.js";
import { aliasRef, episodeRef, labelRef, statsRef } from "./state-keys.js";
import { countEvidence } from "./tally.js";
import { isApplications, joinUses } from "./used.js";
import { castVotes } from "./votes.js";

/**
 * The fold: what each ledger entry does to the state. The only place that knows it; live commits and replay run this code.
 *
 * @param options.isLive refuses exposures of an episode that another process has continued; a replay refuses nothing
 * @param options.kinds events besides exposures and outcomes; others are refused
 * @param options.draftOf a new draft for an entry
 *
 * An episode's effect on the learner's states is a function of all its credited exposures and of the best outcome known. When
 * either changes, the recorded contribution is taken back and a new one is added.
 */
export function loopReducer(
  learner: Learner,
  governance: Governance | undefined,
  {
    isLive,
    kinds,
    draftOf = (entry) => new Draft(learner, entry),
  }: {
    readonly isLive?: boolean;
    readonly kinds?: EventKinds;
    readonly draftOf?: ((entry: SequencedEntry) => Draft) | undefined;
  },
): Reduce {
  return function* reduce(entry: SequencedEntry): Reduction {
    const event = decodeEvent(entry.type, entry.payload, kinds);
    const draft = draftOf(entry);
    switch (event.type) {
      case "exposure":
        yield* draft.load([statsRef, episodeRef(event.episode)]);
        if (isLive) assertOwned(draft.episode(event.episode), event);
        yield* foldExposures(draft, event, governance);
        break;
      case "outcome":
        yield* draft.load([statsRef, episodeRef(event.episode)]);
        yield* foldOutcome(draft, event, event.rules && required(governance));
        break;
      default: {
        const kind = kinds?.[event.type] as EventKind<MaintenanceEvent>;
        yield* draft.load([statsRef, ...kind.refs(event)]);
        kind.fold(draft, event);
      }
    }
    return draft.writes();
  };
}

/** A resumed episode belongs to the process that records something of it first. @throws UNKNOWN_EPISODE for any other */
function assertOwned(known: EpisodeRecord | undefined, { episode, continues }: ExposureEvent): void {
  if (!known || continues === 0 || (known.state !== "ended" && known.exposures.length === continues)) return;
  throw new QavrError(
    "UNKNOWN_EPISODE",
    `Episode ${episode} is continued by another process. Open a new one, or report() on it.`,
    { details: { episode } },
  );
}

function* foldExposures(draft: Draft, event: ExposureEvent, governance: Governance | undefined): Loading {
  const { stats } = draft;
  const known = draft.episode(event.episode);
  const episode = known ?? emptyEpisode();
  if (!known) {
    stats.episodes += 1;
    // Spoken about before it showed anything.
    if (event.exposures.length === 0) episode.lastAt = draft.at;
  }
  if (episode.state === "suspended") stats.suspended -= 1;
  if (event.state === "suspended") stats.suspended += 1;
  if (episode.state === "abandoned") stats.abandoned -= 1;
  if (event.state === "abandoned") stats.abandoned += 1;

  const added = event.exposures.map((exposure) => toEpisodeExposure(exposure, draft.seq));
  countReward(stats, episode, -1);
  const settled = [episode.reward, episode.used, ...episode.votes].some((known) => known !== undefined);
  yield* draft.loadStates(settled ? [...episode.exposures, ...added] : added);
  if (event.exposures.length > 0) countEvidence(draft, episode, -1);
  // Taken back before anything else changes; settled again with the new exposures below.
  if (episode.contribution && event.exposures.length > 0) takeBack(draft, episode);

  for (const exposure of event.exposures) {
    draft.adoptSpace(exposure);
    observe(draft, exposure, event.onEdit);
    yield* keepLabels(draft, exposure);
    episode.lastAt = Math.max(episode.lastAt, exposure.at);
  }
  if (event.suspendedAs !== undefined) yield* giveUpSuspended(draft, event.suspendedAs, event.episode);
  const { holdout, memoryOff } = episode;
  episode.holdout ??= event.exposures.find(({ holdout }) => holdout)?.holdout;
  episode.memoryOff ??= event.exposures.find(({ memoryOff }) => memoryOff)?.memoryOff;
  countEpisode(stats, episode.exposures, added);
  episode.exposures.push(...added);
  if (episode.holdout !== holdout || episode.memoryOff !== memoryOff) noteDraw(stats, episode);
  countReward(stats, episode, 1);
  episode.state = event.state;
  episode.suspendedAs = event.suspendedAs ?? "";
  for (const alias of [...event.aliases, ...(event.suspendedAs ? [event.suspendedAs] : [])]) {
    draft.keepText(aliasRef(alias), event.episode);
  }
  if ([episode.reward, ...episode.votes].some((part) => part?.credibility?.cap)) {
    yield* required(governance).chargeExposures(draft, episode, added);
  }
  if (event.exposures.length > 0) countEvidence(draft, episode, 1);
  yield* settle(draft, event.episode, episode);
  draft.keepEpisode(event.episode, episode);
}

/** One alias, one suspended episode: an earlier one under the alias can no longer be resumed. */
function* giveUpSuspended(draft: Draft, alias: string, successor: string): Loading {
  yield* draft.load([aliasRef(alias)]);
  const waiting = draft.text(aliasRef(alias));
  if (waiting === undefined || waiting === successor) return;
  yield* draft.load([episodeRef(waiting)]);
  const episode = draft.episode(waiting);
  if (episode?.state !== "suspended" || episode.suspendedAs !== alias) return;
  episode.state = "abandoned";
  episode.suspendedAs = "";
  draft.stats.suspended -= 1;
  draft.stats.abandoned += 1;
  draft.keepEpisode(waiting, episode);
}

/** @param governance undefined for an outcome that was recorded without */
function* foldOutcome(draft: Draft, event: OutcomeEvent, governance: Governance | undefined): Loading {
  const { stats } = draft;
  stats.outcomes[event.tier] += 1;
  if (event.reward === null) stats.unknown += 1;
  const weight = weightOf(event, stats);
  const episode = draft.episode(event.episode);
  // Erased in the meantime: the outcome is a fact, but there is nothing left to credit.
  if (!episode) return;
  const { audits, claims } = episode;
  const credibility =
    governance && event.rules ? yield* governance.weigh(draft, episode, event, event.rules) : undefined;
  const next = { tier: event.tier, credibility };
  const rewarded = event.reward !== null && supersedes(next, episode.reward);
  const voted = hasVotes(event) && episode.votes.every((votes) => supersedes(next, votes));
  const used = isBelieved(event, credibility) ? joinUses(episode.used, event.used) : episode.used;
  if (governance && event.reward !== null) {
    const claim: Claim = { source: event.source, tier: event.tier, reward: event.reward };
    governance.setAside(episode, rewarded ? [episode.reward, claim] : [claim, episode.reward]);
  }
  if (!rewarded && !voted && used === episode.used) {
    const noted = episode.audits !== audits || episode.claims !== claims;
    if (noted) draft.keepEpisode(event.episode, episode);
    return;
  }
  yield* draft.loadStates(episode.exposures);
  if (episode.contribution || episode.reward?.weight === 0) stats.corrections += 1;
  if (episode.contribution) takeBack(draft, episode);
  countEvidence(draft, episode, -1);
  episode.used = used;
  if (rewarded && event.reward !== null) {
    const { tier, reward, source, note } = event;
    countReward(stats, episode, -1);
    episode.reward = { tier, reward, weight, source, note, at: draft.at, credibility };
    countReward(stats, episode, 1);
  }
  if (voted) {
    const { tier, source, weight, helpful, harmful, neutral } = event;
    const said = { tier, source, weight, at: draft.at, helpful, harmful, neutral };
    const equals = episode.votes.filter((votes) => supersedes(votes, next));
    episode.votes = castVotes(equals, { ...said, credibility: credibility && { ...credibility } });
  }
  const said = { reward: rewarded ? episode.reward : undefined, votes: voted ? episode.votes.slice(-1) : [] };
  governance?.chargeOutcome(draft, said, episode.exposures);
  countEvidence(draft, episode, 1);
  yield* settle(draft, event.episode, episode);
  draft.keepEpisode(event.episode, episode);
  if (event.rules?.audited) yield* required(governance).reweigh(draft, event.episode);
}

/** Tells the learner of an exposure, counts it, and notices edited texts. */
function observe(draft: Draft, exposure: RecordedExposure, onEdit: EditPolicy): void {
  const shown = new Map<string, MemoryRecord>();
  for (const item of exposure.shown) {
    const id = (exposure.candidates[item.candidate] as { id: string }).id;
    if (shown.has(id)) continue;
    const record = draft.memory(exposure.collection, id);
    shown.set(id, record);
    if (item.contentHash !== 0 && item.contentHash !== record.contentHash) {
      const isOlder = exposure.at < record.lastShown;
      if (record.contentHash !== 0) edit(draft, record, onEdit, isOlder);
      if (!isOlder) record.contentHash = item.contentHash;
    }
    record.shown += 1;
    record.lastShown = Math.max(record.lastShown, exposure.at);
  }
  draft.learner.observe({
    shared: draft.shared(exposure.collection).state,
    context: exposure.context,
    similarities: similaritiesOf(exposure),
    groups: groupsOf(exposure),
    shown: shown.size,
    memories: () => [...shown.values()].map((record) => record.draft()),
    at: exposure.at,
  });
}

/** Keeps the labels of the memories shown where they are new. */
function* keepLabels(draft: Draft, { collection, candidates, shown }: RecordedExposure): Loading {
  const labelled = shown.filter(({ label }) => label !== "");
  if (labelled.length === 0) return;
  const refs = labelled.map(({ candidate }) => labelRef(collection, (candidates[candidate] as { id: string }).id));
  yield* draft.load(refs);
  refs.forEach((ref, i) => {
    const { label } = labelled[i] as { label: string };
    draft.memory(collection, ref.id).labelled = true;
    if (draft.text(ref) !== label) draft.keepText(ref, label);
  });
}

type Weighed = Pick<CountedReward, "tier" | "credibility">;

/** A trusted outcome beats an untrusted one; then the better tier; then the later. */
function supersedes(next: Weighed, current: Weighed | undefined): boolean {
  if (current === undefined) return true;
  const isTrusted = trustIn(next) > 0;
  if (isTrusted !== trustIn(current) > 0) return isTrusted;
  return OUTCOME_TIERS.indexOf(next.tier) <= OUTCOME_TIERS.indexOf(current.tier);
}

function hasVotes({ helpful, harmful, neutral }: OutcomeEvent): boolean {
  return helpful.length + harmful.length + neutral.length > 0;
}

/** Uses give no credit, so that no cap limits them; those that a source without trust names itself are ignored. */
function isBelieved({ used = [] }: OutcomeEvent, credibility: Credibility | undefined): boolean {
  return !isApplications(used) || trustIn({ credibility }) > 0;
}
