import { QavrError } from "../errors/qavr-error.js";
import type { StateRef } from "../store/store.js";
import { ByteReader, ByteWriter } from "./bytes.js";
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
import { knownFlags, pick } from "./unreadable.js";
import { readUses, writeUses } from "./used.js";

/** First byte of every payload: a change of layout is a new version, and old ones stay readable for ever. */
const VERSION = 1;

/** Flags of an exposure. */
const CREDITED = 1;
const HOLDOUT = 2;
const HELD = 4;
const DIFFERS = 8;
const REORDERED = 16;
const SCALED = 32;
const MEMORY_OFF = 64;
const SHOWN_NONE = 128;
const EXPOSURE_FLAGS = CREDITED | HOLDOUT | HELD | DIFFERS | REORDERED | SCALED | MEMORY_OFF | SHOWN_NONE;
/** Terms of an item that may be 0: one bit each says which are written. */
const TERMS = ["learned", "bonus", "overlap", "unverified", "utility", "evidence"] as const;
/** Likewise its fingerprint and its label. */
const HASHED = 64;
const LABELLED = 128;
/** Flags of an outcome. */
const AUDITED = 1;
const CAP = 2;
const GOVERNED = 4;
const OUTCOME_FLAGS = AUDITED | CAP | GOVERNED;

/** Any event but those that the loop records. */
export type MaintenanceEvent = Exclude<LedgerEvent, ExposureEvent | OutcomeEvent>;

/** One kind of event. */
export interface EventKind<Event extends MaintenanceEvent> {
  write(writer: ByteWriter, event: Event): unknown;
  read(reader: ByteReader): Omit<Event, "type">;
  /** The states that it touches besides the namespace's counters. */
  refs(event: Event): readonly StateRef[];
  fold<Shared, Memory>(draft: Draft<Shared, Memory>, event: Event): void;
}

/** The kinds of maintenance. */
export type EventKinds = {
  readonly [Type in MaintenanceEvent["type"]]: EventKind<Extract<MaintenanceEvent, { readonly type: Type }>>;
};

/** The event as a payload. Equal events give equal bytes. @param kinds for all but exposures and outcomes */
export function encodeEvent(event: LedgerEvent, kinds?: EventKinds): Uint8Array {
  const writer = new ByteWriter().u8(VERSION);
  switch (event.type) {
    case "exposure":
      writeExposureEvent(writer, event);
      break;
    case "outcome":
      writeOutcome(writer, event);
      break;
    default:
      kindOf(event.type, kinds).write(writer, event);
  }
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
  switch (type) {
    case "exposure":
      return readExposureEvent(reader);
    case "outcome":
      return readOutcome(reader);
    default:
      return { type, ...kindOf(type, kinds).read(reader) } as MaintenanceEvent;
  }
}

/** @throws INVALID_STATE */
function kindOf(type: string, kinds: EventKinds | undefined): EventKind<MaintenanceEvent> {
  const kind = kinds?.[type as MaintenanceEvent["type"]] as EventKind<MaintenanceEvent> | undefined;
  if (kind) return kind;
  throw new QavrError("INVALID_STATE", `The ledger holds an entry of unknown type ${type}. Upgrade qavr.`, {
    details: { type },
  });
}

function writeExposureEvent(writer: ByteWriter, event: ExposureEvent): void {
  writer
    .text(event.episode)
    .u8(EPISODE_STATES.indexOf(event.state))
    .list(event.aliases, (alias) => writer.text(alias))
    .text(event.suspendedAs ?? "")
    .count(event.continues)
    .u8(EDIT_POLICIES.indexOf(event.onEdit))
    .list(event.exposures, (exposure) => writeExposure(writer, exposure));
}

function readExposureEvent(reader: ByteReader): ExposureEvent {
  return {
    type: "exposure",
    episode: reader.text(),
    state: pick(EPISODE_STATES, reader.u8()),
    aliases: reader.list(() => reader.text()),
    suspendedAs: reader.text() || undefined,
    continues: reader.count(),
    onEdit: pick(EDIT_POLICIES, reader.u8()),
    exposures: reader.list(() => readExposure(reader)),
  };
}

function writeExposure(writer: ByteWriter, exposure: RecordedExposure): void {
  writer
    .text(exposure.collection)
    .text(exposure.context)
    .text(exposure.space)
    .count(exposure.length)
    .u8(VECTOR_SOURCES.indexOf(exposure.vectorSource))
    .bytes(exposure.vector)
    .text(exposure.learner)
    .f32(exposure.gate)
    .u8(flagsOf(exposure));
  if (exposure.holdout) writer.f32(exposure.holdout.share);
  if (exposure.memoryOff) writer.f32(exposure.memoryOff.share);
  if (exposure.scale !== 0) writer.f32(exposure.scale);
  writer.f64(exposure.at).names(exposure.candidates.map(({ id }) => id));
  for (const { similarity } of exposure.candidates) writer.f32(similarity);
  writer
    .list(exposure.groups, (group) => writer.count(group))
    .count(exposure.movable)
    .list(exposure.shown, (item) => writeItem(writer, item))
    .list(exposure.dropped, (item) => writeItem(writer, item))
    .list(exposure.shifts, (shift) => writer.f32(shift));
}

function writeItem(writer: ByteWriter, item: ShownItem): ByteWriter {
  const bits = (item.contentHash === 0 ? 0 : HASHED) | (item.label === "" ? 0 : LABELLED);
  writer
    .count(item.candidate)
    .count(item.index)
    .count(item.rank)
    .count(item.handle)
    .u8(TERMS.reduce((flags, term, i) => (item[term] === 0 ? flags : flags | (1 << i)), bits));
  if (bits & HASHED) writer.u32(item.contentHash);
  if (bits & LABELLED) writer.text(item.label);
  for (const term of TERMS) if (item[term] !== 0) writer.f32(item[term]);
  return writer;
}

function readItem(reader: ByteReader): ShownItem {
  const places = { candidate: reader.count(), index: reader.count(), rank: reader.count(), handle: reader.count() };
  const bits = reader.u8();
  const item = {
    ...places,
    contentHash: bits & HASHED ? reader.u32() : 0,
    label: bits & LABELLED ? reader.text() : "",
    learned: 0,
    bonus: 0,
    overlap: 0,
    unverified: 0,
    utility: 0,
    evidence: 0,
  };
  for (let i = 0; i < TERMS.length; i++) if (bits & (1 << i)) item[TERMS[i] as (typeof TERMS)[number]] = reader.f32();
  return item;
}

function flagsOf({ credited, holdout, memoryOff, reordered, scale }: RecordedExposure): number {
  const off = memoryOff ? MEMORY_OFF | (memoryOff.held ? SHOWN_NONE : 0) : 0;
  const flags = (credited ? CREDITED : 0) | (reordered ? REORDERED : 0) | (scale === 0 ? 0 : SCALED) | off;
  if (!holdout) return flags;
  return flags | HOLDOUT | (holdout.held ? HELD : 0) | (holdout.differs ? DIFFERS : 0);
}

function readExposure(reader: ByteReader): RecordedExposure {
  const head = {
    collection: reader.text(),
    context: reader.text(),
    space: reader.text(),
    length: reader.count(),
    vectorSource: pick(VECTOR_SOURCES, reader.u8()),
    vector: reader.signedBytes(),
    learner: reader.text(),
    gate: reader.f32(),
  };
  const flags = knownFlags(reader.u8(), EXPOSURE_FLAGS);
  const has = (flag: number): boolean => (flags & flag) !== 0;
  return {
    ...head,
    credited: has(CREDITED),
    holdout: has(HOLDOUT) ? { share: reader.f32(), held: has(HELD), differs: has(DIFFERS) } : undefined,
    memoryOff: has(MEMORY_OFF) ? { share: reader.f32(), held: has(SHOWN_NONE) } : undefined,
    reordered: has(REORDERED),
    scale: has(SCALED) ? reader.f32() : 0,
    at: reader.f64(),
    candidates: reader.names().map((id) => ({ id, similarity: reader.f32() })),
    groups: reader.list(() => reader.count()),
    movable: reader.count(),
    shown: reader.list(() => readItem(reader)),
    dropped: reader.list(() => readItem(reader)),
    shifts: reader.list(() => reader.f32()),
  };
}

function writeOutcome(writer: ByteWriter, event: OutcomeEvent): void {
  const ids = (list: readonly string[]): void => {
    writer.list(list, (id) => writer.text(id));
  };
  writer
    .text(event.episode)
    .numbers([event.reward ?? Number.NaN, event.weight])
    .u8(OUTCOME_TIERS.indexOf(event.tier))
    .text(event.source);
  ids(event.helpful);
  ids(event.harmful);
  ids(event.neutral);
  const { rules } = event;
  writeUses(writer, event.used);
  writer.u8((rules ? GOVERNED : 0) | (rules?.audited ? AUDITED : 0) | (rules?.cap ? CAP : 0)).text(event.note);
  if (rules?.cap) writer.f64(rules.cap.weight).f64(rules.cap.window);
}

function readOutcome(reader: ByteReader): OutcomeEvent {
  const ids = (): string[] => reader.list(() => reader.text());
  const episode = reader.text();
  const [reward, weight] = reader.numbers() as [number, number];
  const tier = pick(OUTCOME_TIERS, reader.u8());
  const source = reader.text();
  const helpful = ids();
  const harmful = ids();
  const neutral = ids();
  const used = readUses(reader);
  const flags = knownFlags(reader.u8(), OUTCOME_FLAGS);
  const note = reader.text();
  const cap = flags & CAP ? { weight: reader.f64(), window: reader.f64() } : undefined;
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
    rules: flags & GOVERNED ? { audited: (flags & AUDITED) !== 0, cap } : undefined,
  };
}
