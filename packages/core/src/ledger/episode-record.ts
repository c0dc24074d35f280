import type { Contribution, GroupOfShown } from "../learners/learner.js";
import { ByteReader, ByteWriter } from "./bytes.js";
import type { SourceCap } from "./events.js";
import { EPISODE_STATES, type EpisodeState, type HoldoutDraw, OUTCOME_TIERS, type OutcomeTier } from "./events.js";
import { assertLayout, knownFlags, pick } from "./unreadable.js";
import { readUses, type Uses, writeUses } from "./used.js";

/** A memory that an exposure showed, as crediting needs it. */
export interface EpisodeItem {
  readonly id: string;
  readonly similarity: number;
  readonly weight: number;
  /** Number of its short name: 1 for `m1`. */
  readonly handle: number;
  readonly group?: GroupOfShown | undefined;
}

/** An exposure as crediting needs it; its full record stays in the ledger at `seq`. */
export interface EpisodeExposure {
  readonly seq: number;
  readonly collection: string;
  readonly context: string;
  readonly space: string;
  readonly length: number;
  /** Quantised request vector; empty for none, and where `direction` has taken its place. */
  readonly vector: Int8Array;
  /** Direction of its first lesson, for a learner that needs no more of the request from then on. */
  readonly direction?: Int8Array | undefined;
  readonly credited: boolean;
  readonly items: readonly EpisodeItem[];
}

/** Trust in the source of a reward or of votes; undefined where it counts in full, without limit. */
export interface Credibility {
  readonly source: string;
  /** In [0, 1], as it was when the outcome was last weighed. Exactly 1 for a source that is not audited; an audited one stays below. */
  trust: number;
  readonly cap: SourceCap | undefined;
  /** Hashes of the memories that were beyond the source's cap: it credits them nothing. */
  capped: number[];
}

/** The reward that a source reported for an episode. */
export interface Claim {
  readonly source: string;
  readonly tier: OutcomeTier;
  readonly reward: number;
}

/** The reward that counts: the best tier's, the later one of equals. */
export interface CountedReward {
  readonly tier: OutcomeTier;
  readonly reward: number;
  readonly weight: number;
  readonly source: string;
  /** Why, in the source's words; empty for none. */
  readonly note: string;
  readonly at: number;
  readonly credibility: Credibility | undefined;
}

/** The votes of one report, without those that a later report of the tier replaced. */
export interface CountedVotes {
  readonly tier: OutcomeTier;
  readonly source: string;
  readonly weight: number;
  readonly at: number;
  readonly helpful: readonly string[];
  readonly harmful: readonly string[];
  /** Memories whose earlier vote was taken back. */
  readonly neutral: readonly string[];
  readonly credibility: Credibility | undefined;
}

/** Everything that is known about one recorded episode. */
export interface EpisodeRecord {
  state: EpisodeState;
  /** Unix ms of its last exposure: the outcome window starts here. */
  lastAt: number;
  /** Under which alias it waits, empty when it does not. */
  suspendedAs: string;
  exposures: EpisodeExposure[];
  reward: CountedReward | undefined;
  /** The best tier's, in order of arrival. Each memory is named once: the last word about it counts. */
  votes: readonly CountedVotes[];
  /** The memories that it used, of all reports. */
  used: Uses;
  /** How it was drawn, undefined when nothing was held out at its first exposure. */
  holdout: HoldoutDraw | undefined;
  /** Its draw of memory, likewise. */
  memoryOff: HoldoutDraw | undefined;
  /** Hashes of the sources whose claims about it were audited. */
  audits: readonly number[];
  /** Rewards that do not count and were not audited. */
  claims: readonly Claim[];
  /** True when it has ever taught, also when its contribution was taken back since. */
  taught: boolean;
  /** Its part of the states, undefined while it teaches nothing. Without the directions that its exposures keep. */
  contribution: Contribution | undefined;
}

export function emptyEpisode(): EpisodeRecord {
  return {
    state: "open",
    lastAt: 0,
    suspendedAs: "",
    exposures: [],
    reward: undefined,
    votes: [],
    used: undefined,
    holdout: undefined,
    memoryOff: undefined,
    audits: [],
    claims: [],
    taught: false,
    contribution: undefined,
  };
}

/** First byte of the record: a change of layout is a new one. */
const LAYOUT = 1;

const HAS_REWARD = 1;
const HAS_VOTES = 2;
const HAS_CONTRIBUTION = 4;
const HAS_HOLDOUT = 8;
const HAS_MEMORY_OFF = 16;
const HAS_AUDITS = 32;
const HAS_CLAIMS = 64;
const TAUGHT = 128;
/** Flags of an exposure. */
const CREDITED = 1;
const GROUPED = 2;
const DIRECTED = 4;
/** Beside the tier of a reward or of votes. */
const HAS_CREDIBILITY = 0x80;

function partsOf({ reward, votes, holdout, memoryOff, audits, claims, taught, contribution }: EpisodeRecord): number {
  return (
    (reward ? HAS_REWARD : 0) |
    (votes.length > 0 ? HAS_VOTES : 0) |
    (contribution ? HAS_CONTRIBUTION : 0) |
    (holdout ? HAS_HOLDOUT : 0) |
    (memoryOff ? HAS_MEMORY_OFF : 0) |
    (audits.length > 0 ? HAS_AUDITS : 0) |
    (claims.length > 0 ? HAS_CLAIMS : 0) |
    (taught ? TAUGHT : 0)
  );
}

function tierCode({ tier, credibility }: CountedReward | CountedVotes): number {
  return OUTCOME_TIERS.indexOf(tier) | (credibility ? HAS_CREDIBILITY : 0);
}

function tierOf(code: number): OutcomeTier {
  return pick(OUTCOME_TIERS, code & ~HAS_CREDIBILITY);
}

function writeCredibility(writer: ByteWriter, credibility: Credibility | undefined): void {
  if (!credibility) return;
  const { source, trust, cap, capped } = credibility;
  writer
    .text(source)
    .f64(trust)
    .u8(cap ? 1 : 0);
  if (cap) writer.f64(cap.weight).f64(cap.window);
  writer.list(capped, (memory) => writer.u32(memory));
}

function readCredibility(reader: ByteReader, code: number): Credibility | undefined {
  if ((code & HAS_CREDIBILITY) === 0) return undefined;
  const head = { source: reader.text(), trust: reader.f64() };
  const cap = reader.u8() === 1 ? { weight: reader.f64(), window: reader.f64() } : undefined;
  return { ...head, cap, capped: reader.list(() => reader.u32()) };
}

function writeExposure(writer: ByteWriter, exposure: EpisodeExposure): void {
  const { direction, items } = exposure;
  const isGrouped = items[0]?.group !== undefined;
  writer
    .count(exposure.seq)
    .text(exposure.collection)
    .text(exposure.context)
    .text(exposure.space)
    .count(exposure.length)
    .bytes(direction ?? exposure.vector)
    .u8((exposure.credited ? CREDITED : 0) | (isGrouped ? GROUPED : 0) | (direction ? DIRECTED : 0))
    .names(items.map(({ id }) => id));
  for (const { similarity, weight, handle, group } of items) {
    writer.f32(similarity).f32(weight).count(handle);
    if (group) writer.count(group.number).f64(group.share);
  }
}

function readExposure(reader: ByteReader): EpisodeExposure {
  const head = {
    seq: reader.count(),
    collection: reader.text(),
    context: reader.text(),
    space: reader.text(),
    length: reader.count(),
  };
  const bytes = reader.signedBytes();
  const flags = knownFlags(reader.u8(), CREDITED | GROUPED | DIRECTED);
  const items = reader.names().map((id): EpisodeItem => {
    const item = { id, similarity: reader.f32(), weight: reader.f32(), handle: reader.count() };
    return flags & GROUPED ? { ...item, group: { number: reader.count(), share: reader.f64() } } : item;
  });
  const along = flags & DIRECTED ? { vector: new Int8Array(0), direction: bytes } : { vector: bytes };
  return { ...head, ...along, credited: (flags & CREDITED) !== 0, items };
}

export function encodeEpisode(record: EpisodeRecord): Uint8Array {
  const writer = new ByteWriter();
  const { reward, votes, holdout, memoryOff, audits, claims, contribution } = record;
  const ids = (list: readonly string[]): ByteWriter => writer.list(list, (id) => writer.text(id));
  writer
    .u8(LAYOUT)
    .u8(EPISODE_STATES.indexOf(record.state))
    .f64(record.lastAt)
    .text(record.suspendedAs)
    .list(record.exposures, (exposure) => writeExposure(writer, exposure))
    .u8(partsOf(record));
  writeUses(writer, record.used);
  for (const draw of [holdout, memoryOff]) if (draw) writer.f32(draw.share).u8(draw.held ? 1 : 0);
  if (audits.length > 0) writer.list(audits, (source) => writer.u32(source));
  if (claims.length > 0) {
    writer.list(claims, (claim) => writer.text(claim.source).u8(OUTCOME_TIERS.indexOf(claim.tier)).f64(claim.reward));
  }
  if (reward) {
    writer
      .u8(tierCode(reward))
      .numbers([reward.reward, reward.weight])
      .text(reward.source)
      .text(reward.note)
      .f64(reward.at);
    writeCredibility(writer, reward.credibility);
  }
  if (votes.length > 0) {
    writer.list(votes, (cast) => {
      writer.u8(tierCode(cast)).text(cast.source).f64(cast.weight).f64(cast.at);
      ids(cast.helpful);
      ids(cast.harmful);
      ids(cast.neutral);
      writeCredibility(writer, cast.credibility);
    });
  }
  if (contribution) {
    writer.list(contribution.exposures, ({ direction, scalars, memories }) => {
      writer.bytes(direction ?? new Int8Array(0)).numbers(scalars);
      writer.list(memories, (numbers) => writer.numbers(numbers));
    });
  }
  return writer.finish();
}

/** @throws INVALID_STATE for another layout or damaged bytes */
export function decodeEpisode(bytes: Uint8Array): EpisodeRecord {
  const reader = new ByteReader(bytes);
  assertLayout(reader.u8(), LAYOUT, "episode");
  const ids = (): string[] => reader.list(() => reader.text());
  const state = pick(EPISODE_STATES, reader.u8());
  const lastAt = reader.f64();
  const suspendedAs = reader.text();
  const exposures = reader.list(() => readExposure(reader));
  const parts = reader.u8();
  const record: EpisodeRecord = { ...emptyEpisode(), state, lastAt, suspendedAs, exposures };
  record.used = readUses(reader);
  record.taught = (parts & TAUGHT) !== 0;
  const draw = (): HoldoutDraw => ({ share: reader.f32(), held: reader.u8() === 1 });
  if (parts & HAS_HOLDOUT) record.holdout = draw();
  if (parts & HAS_MEMORY_OFF) record.memoryOff = draw();
  if (parts & HAS_AUDITS) record.audits = reader.list(() => reader.u32());
  if (parts & HAS_CLAIMS) {
    record.claims = reader.list(() => ({
      source: reader.text(),
      tier: pick(OUTCOME_TIERS, reader.u8()),
      reward: reader.f64(),
    }));
  }
  if (parts & HAS_REWARD) {
    const code = reader.u8();
    const [reward, weight] = reader.numbers() as [number, number];
    record.reward = {
      tier: tierOf(code),
      reward,
      weight,
      source: reader.text(),
      note: reader.text(),
      at: reader.f64(),
      credibility: readCredibility(reader, code),
    };
  }
  if (parts & HAS_VOTES) {
    record.votes = reader.list(() => {
      const code = reader.u8();
      const head = { tier: tierOf(code), source: reader.text(), weight: reader.f64(), at: reader.f64() };
      const named = { helpful: ids(), harmful: ids(), neutral: ids() };
      return { ...head, ...named, credibility: readCredibility(reader, code) };
    });
  }
  if (parts & HAS_CONTRIBUTION) {
    record.contribution = {
      exposures: reader.list(() => {
        const direction = reader.signedBytes();
        return {
          direction: direction.length === 0 ? undefined : direction,
          scalars: reader.numbers(),
          memories: reader.list(() => reader.numbers()),
        };
      }),
    };
  }
  return record;
}
