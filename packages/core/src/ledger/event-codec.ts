import { QavrError } from "../errors/qavr-error.js";
import type { StateRef } from "../store/store.js";
import { ByteReader, ByteWriter, type Coder, NOTHING } from "./bytes.js";
import type { Draft } from "./draft.js";
import {
  EDIT_POLICIES,
  EPISODE_STATES,
  type ExposureEvent,
  type LedgerEvent,
  OUTCOME_TIERS,
  type OutcomeEvent,
  type RecordedExposure,
  type ShownItem,
  VECTOR_SOURCES,
} from "./events.js";
import { unknown } from "./unreadable.js";
import { codeUses } from "./used.js";

/** First byte of every payload: a change of layout is a new version, and old ones stay readable for ever. */
const VERSION = 1;

/** Any event but those that the loop records. */
export type MaintenanceEvent = Exclude<LedgerEvent, ExposureEvent | OutcomeEvent>;

/** One kind of event. */
export interface EventKind<Event extends MaintenanceEvent> {
  /** Its layout. */
  code(coder: Coder, event: Partial<Event>): Omit<Event, "type">;
  /** The states that it touches besides the namespace's counters. */
  refs(event: Event): readonly StateRef[];
  fold(draft: Draft, event: Event): void;
}

/** The kinds of maintenance. */
export type EventKinds = {
  readonly [Type in MaintenanceEvent["type"]]: EventKind<Extract<MaintenanceEvent, { readonly type: Type }>>;
};

/** The event as a payload. Equal events give equal bytes. @param kinds for all but exposures and outcomes */
export function encodeEvent(event: LedgerEvent, kinds?: EventKinds): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(VERSION);
  codeEvent(writer, event.type, event, kinds);
  return writer.finish();
}

/** @throws INVALID_STATE for an unknown type, a newer layout or damaged bytes */
export function decodeEvent(type: string, payload: Uint8Array): ExposureEvent | OutcomeEvent;
export function decodeEvent(type: string, payload: Uint8Array, kinds: EventKinds | undefined): LedgerEvent;
export function decodeEvent(type: string, payload: Uint8Array, kinds?: EventKinds): LedgerEvent {
  const reader = new ByteReader(payload);
  const version = reader.u8();
  if (version !== VERSION) {
    throw new QavrError(
      "INVALID_STATE",
      `A ledger entry has layout ${version}; this version reads ${VERSION}. Upgrade qavr.`,
      {
        details: { version, supported: VERSION },
      },
    );
  }
  return codeEvent(reader, type, NOTHING, kinds);
}

/** The layout of every event. */
function codeEvent(
  coder: Coder,
  type: string,
  event: Partial<LedgerEvent>,
  kinds: EventKinds | undefined,
): LedgerEvent {
  switch (type) {
    case "exposure":
      return codeExposureEvent(coder, event as Partial<ExposureEvent>);
    case "outcome":
      return codeOutcome(coder, event as Partial<OutcomeEvent>);
    default: {
      const given = event as Partial<MaintenanceEvent>;
      return { type, ...kindOf(type, kinds).code(coder, given) } as MaintenanceEvent;
    }
  }
}

/** @throws INVALID_STATE */
function kindOf(type: string, kinds: EventKinds | undefined): EventKind<MaintenanceEvent> {
  // An object has more names than its own, such as "constructor".
  if (kinds && Object.hasOwn(kinds, type))
    return kinds[type as MaintenanceEvent["type"]] as EventKind<MaintenanceEvent>;
  throw unknown("type", type);
}

function codeExposureEvent(coder: Coder, event: Partial<ExposureEvent>): ExposureEvent {
  return {
    type: "exposure",
    episode: coder.text(event.episode),
    state: coder.oneOf(EPISODE_STATES, event.state),
    aliases: coder.texts(event.aliases),
    suspendedAs: coder.text(event.suspendedAs ?? "") || undefined,
    continues: coder.count(event.continues),
    onEdit: coder.oneOf(EDIT_POLICIES, event.onEdit),
    exposures: coder.list(event.exposures, codeExposure),
  };
}

function codeExposure(coder: Coder, exposure: Partial<RecordedExposure>): RecordedExposure {
  const { holdout, memoryOff, candidates, scale } = exposure;
  const collection = coder.text(exposure.collection);
  const context = coder.text(exposure.context);
  const space = coder.text(exposure.space);
  const length = coder.count(exposure.length);
  const vectorSource = coder.oneOf(VECTOR_SOURCES, exposure.vectorSource);
  const vector = coder.signedBytes(exposure.vector);
  const learner = coder.text(exposure.learner);
  const gate = coder.f32(exposure.gate);
  const [credited, isDrawn, held, differs, reordered, isScaled, isMemoryDrawn, isOff] = coder.flags(
    exposure.credited,
    holdout,
    holdout?.held,
    holdout?.differs,
    exposure.reordered,
    scale !== 0,
    memoryOff,
    memoryOff?.held,
  ) as Eight;
  return {
    collection,
    context,
    space,
    length,
    vectorSource,
    vector,
    learner,
    gate,
    credited,
    holdout: isDrawn
      ? { share: coder.f32(holdout?.share), held, differs, advantage: coder.f32(holdout?.advantage) }
      : undefined,
    memoryOff: isMemoryDrawn ? { share: coder.f32(memoryOff?.share), held: isOff } : undefined,
    reordered,
    scale: isScaled ? coder.f32(scale) : 0,
    at: coder.f64(exposure.at),
    candidates: coder
      .names(candidates?.map(({ id }) => id))
      .map((id, i) => ({ id, similarity: coder.f32(candidates?.[i]?.similarity) })),
    groups: coder.list(exposure.groups, (item, group) => item.count(group)),
    movable: coder.count(exposure.movable),
    shown: coder.list(exposure.shown, codeItem),
    dropped: coder.list(exposure.dropped, codeItem),
    shifts: coder.list(exposure.shifts, (item, shift) => item.f32(shift)),
  };
}

type Eight = [boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean];

/** Terms that are 0 take no bytes, nor does an item without a fingerprint or a label. */
function codeItem(coder: Coder, item: Partial<ShownItem>): ShownItem {
  const { contentHash, label, learned, bonus, overlap, unverified, utility, evidence } = item;
  const candidate = coder.count(item.candidate);
  const index = coder.count(item.index);
  const rank = coder.count(item.rank);
  const handle = coder.count(item.handle);
  const has = coder.flags(
    learned !== 0,
    bonus !== 0,
    overlap !== 0,
    unverified !== 0,
    utility !== 0,
    evidence !== 0,
    contentHash !== 0,
    label !== "",
  );
  return {
    candidate,
    index,
    rank,
    handle,
    contentHash: has[6] ? coder.u32(contentHash) : 0,
    label: has[7] ? coder.text(label) : "",
    learned: has[0] ? coder.f32(learned) : 0,
    bonus: has[1] ? coder.f32(bonus) : 0,
    overlap: has[2] ? coder.f32(overlap) : 0,
    unverified: has[3] ? coder.f32(unverified) : 0,
    utility: has[4] ? coder.f32(utility) : 0,
    evidence: has[5] ? coder.f32(evidence) : 0,
  };
}

function codeOutcome(coder: Coder, event: Partial<OutcomeEvent>): OutcomeEvent {
  const { rules } = event;
  const episode = coder.text(event.episode);
  const [reward, weight] = coder.numbers([event.reward ?? Number.NaN, event.weight]) as [number, number];
  const tier = coder.oneOf(OUTCOME_TIERS, event.tier);
  const source = coder.text(event.source);
  const helpful = coder.texts(event.helpful);
  const harmful = coder.texts(event.harmful);
  const neutral = coder.texts(event.neutral);
  const used = codeUses(coder, event.used);
  const [audited, isCapped, isGoverned] = coder.flags(rules?.audited, rules?.cap, rules) as [boolean, boolean, boolean];
  const note = coder.text(event.note);
  const cap = isCapped ? { weight: coder.f64(rules?.cap?.weight), window: coder.f64(rules?.cap?.window) } : undefined;
  return {
    type: "outcome",
    episode,
    reward: Number.isNaN(reward) ? null : reward,
    weight,
    tier,
    source,
    helpful,
    harmful,
    neutral,
    used,
    note,
    rules: isGoverned ? { audited, cap } : undefined,
  };
}
