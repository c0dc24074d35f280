import type { Contribution, Control, GroupOfShown } from "../learners/learner.js";
import { ByteReader, ByteWriter, type Coder, NOTHING } from "./bytes.js";
import type { SourceCap } from "./events.js";
import { EPISODE_STATES, type EpisodeState, type HoldoutDraw, OUTCOME_TIERS, type OutcomeTier } from "./events.js";
import { assertLayout, unknown } from "./unreadable.js";
import { codeUses, type Uses } from "./used.js";

/** A memory that an exposure showed, as crediting needs it. */
export interface EpisodeItem {
  readonly id: string;
  readonly similarity: number;
  readonly weight: number;
  /** Number of its handle: 1 for `m1`. */
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
  /** How its order was drawn, for a learner that named the advantage of its own. */
  readonly control?: Control | undefined;
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
  /** How its first drawn exposure was drawn, undefined when none was. */
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

/** Beside the tier of a reward or of votes. */
const HAS_CREDIBILITY = 0x80;
const NO_BYTES = new Int8Array(0);

export function encodeEpisode(record: EpisodeRecord): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(LAYOUT);
  codeEpisode(writer, record);
  return writer.finish();
}

/** @throws INVALID_STATE for another layout or damaged bytes */
export function decodeEpisode(bytes: Uint8Array): EpisodeRecord {
  const reader = new ByteReader(bytes);
  assertLayout(reader.u8(), LAYOUT, "episode");
  return codeEpisode(reader, NOTHING);
}

function codeEpisode(coder: Coder, record: Partial<EpisodeRecord>): EpisodeRecord {
  const { reward, votes, contribution, holdout, memoryOff, audits, claims } = record;
  const state = coder.oneOf(EPISODE_STATES, record.state);
  const lastAt = coder.f64(record.lastAt);
  const suspendedAs = coder.text(record.suspendedAs);
  const exposures = coder.list(record.exposures, codeExposure);
  const has = coder.flags(
    reward,
    votes?.length,
    contribution,
    holdout,
    memoryOff,
    audits?.length,
    claims?.length,
    record.taught,
  );
  return {
    state,
    lastAt,
    suspendedAs,
    exposures,
    taught: has[7] === true,
    used: codeUses(coder, record.used),
    holdout: has[3] ? codeDraw(coder, holdout) : undefined,
    memoryOff: has[4] ? codeDraw(coder, memoryOff) : undefined,
    audits: has[5] ? coder.list(audits, (item, source) => item.u32(source)) : [],
    claims: has[6] ? coder.list(claims, codeClaim) : [],
    reward: has[0] ? codeReward(coder, reward) : undefined,
    votes: has[1] ? coder.list(votes, codeVotes) : [],
    contribution: has[2] ? { exposures: coder.list(contribution?.exposures, codePart) } : undefined,
  };
}

function codeExposure(coder: Coder, exposure: Partial<EpisodeExposure>): EpisodeExposure {
  const { items, direction, control } = exposure;
  const seq = coder.count(exposure.seq);
  const collection = coder.text(exposure.collection);
  const context = coder.text(exposure.context);
  const space = coder.text(exposure.space);
  const length = coder.count(exposure.length);
  const bytes = coder.signedBytes(direction ?? exposure.vector);
  const [credited = false, isGrouped, isDirected, isDrawn, held = false] = coder.flags(
    exposure.credited,
    items?.[0]?.group,
    direction,
    control,
    control?.held,
  );
  const ids = coder.names(items?.map(({ id }) => id));
  return {
    seq,
    collection,
    context,
    space,
    length,
    vector: isDirected ? NO_BYTES : bytes,
    direction: isDirected ? bytes : undefined,
    credited,
    control: isDrawn ? { advantage: coder.f32(control?.advantage), held } : undefined,
    items: ids.map((id, i): EpisodeItem => {
      const item = items?.[i];
      return {
        id,
        similarity: coder.f32(item?.similarity),
        weight: coder.f32(item?.weight),
        handle: coder.count(item?.handle),
        group: isGrouped
          ? { number: coder.count(item?.group?.number), share: coder.f64(item?.group?.share) }
          : undefined,
      };
    }),
  };
}

function codeDraw(coder: Coder, { share, held }: Partial<HoldoutDraw> = NOTHING): HoldoutDraw {
  return { share: coder.f32(share), held: coder.flags(held)[0] === true };
}

function codeClaim(coder: Coder, { source, tier, reward }: Partial<Claim>): Claim {
  return { source: coder.text(source), tier: coder.oneOf(OUTCOME_TIERS, tier), reward: coder.f64(reward) };
}

function codeReward(coder: Coder, counted: Partial<CountedReward> = NOTHING): CountedReward {
  const { tier, isCredible } = codeTier(coder, counted);
  const [reward, weight] = coder.numbers([counted.reward, counted.weight]) as [number, number];
  return {
    tier,
    reward,
    weight,
    source: coder.text(counted.source),
    note: coder.text(counted.note),
    at: coder.f64(counted.at),
    credibility: isCredible ? codeCredibility(coder, counted.credibility) : undefined,
  };
}

function codeVotes(coder: Coder, cast: Partial<CountedVotes>): CountedVotes {
  const { tier, isCredible } = codeTier(coder, cast);
  return {
    tier,
    source: coder.text(cast.source),
    weight: coder.f64(cast.weight),
    at: coder.f64(cast.at),
    helpful: coder.texts(cast.helpful),
    harmful: coder.texts(cast.harmful),
    neutral: coder.texts(cast.neutral),
    credibility: isCredible ? codeCredibility(coder, cast.credibility) : undefined,
  };
}

/** The tier and whether credibility follows, in one byte. */
function codeTier(
  coder: Coder,
  { tier, credibility }: Partial<Pick<CountedReward, "tier" | "credibility">>,
): { readonly tier: OutcomeTier; readonly isCredible: boolean } {
  const code = coder.u8(OUTCOME_TIERS.indexOf(tier as OutcomeTier) | (credibility ? HAS_CREDIBILITY : 0));
  const known = OUTCOME_TIERS[code & ~HAS_CREDIBILITY];
  if (known === undefined) throw unknown("code", code);
  return { tier: known, isCredible: (code & HAS_CREDIBILITY) !== 0 };
}

function codeCredibility(coder: Coder, given: Partial<Credibility> = NOTHING): Credibility {
  const { cap } = given;
  const head = { source: coder.text(given.source), trust: coder.f64(given.trust) };
  const [isCapped] = coder.flags(cap);
  return {
    ...head,
    cap: isCapped ? { weight: coder.f64(cap?.weight), window: coder.f64(cap?.window) } : undefined,
    capped: coder.list(given.capped, (item, memory) => item.u32(memory)),
  };
}

type Part = Contribution["exposures"][number];

function codePart(coder: Coder, { direction = NO_BYTES, scalars, memories }: Partial<Part>): Part {
  const bytes = coder.signedBytes(direction);
  return {
    direction: bytes.length === 0 ? undefined : bytes,
    scalars: coder.numbers(scalars),
    memories: coder.list(memories, (item, numbers) => item.numbers(numbers)),
  };
}
