import fc from "fast-check";
import type { EpisodeExposure, EpisodeRecord } from "../../src/ledger/episode-record.js";
import {
  EDIT_POLICIES,
  EPISODE_STATES,
  type LedgerEvent,
  OUTCOME_TIERS,
  type RecordedExposure,
  type ShownItem,
  VECTOR_SOURCES,
} from "../../src/ledger/events.js";
import { USE_FINDERS } from "../../src/ledger/used.js";
import { legalName } from "./hostile-text.js";

const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });
const float64 = fc.double({ noNaN: true, noDefaultInfinity: true });
const count = fc.oneof(fc.nat(3), fc.nat(2 ** 31 - 1), fc.constantFrom(127, 128, 16_383, 16_384, 2 ** 32 - 1));
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const vector = fc.int8Array({ maxLength: 6 });
const names = fc.array(legalName, { maxLength: 4 });
const used = fc.option(fc.array(fc.record({ id: legalName, by: fc.constantFrom(...USE_FINDERS) }), { maxLength: 4 }), {
  nil: undefined,
});
const tier = fc.constantFrom(...OUTCOME_TIERS);

const positive = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true });
const cap = fc.option(fc.record({ weight: positive, window: positive }), { nil: undefined });
const hashes = fc.array(uint32, { maxLength: 3 });
const credibility = fc.option(
  fc.record({ source: legalName, trust: fc.double({ min: 0, max: 1, noNaN: true }), cap, capped: hashes }),
  { nil: undefined },
);
const share = fc.float({ min: Math.fround(0.001), max: 1, noNaN: true });

/** Without minus zero, which an item does not keep. */
const term = float32.map((value) => value + 0);
const item: fc.Arbitrary<ShownItem> = fc.record({
  ...{ candidate: count, index: count, rank: count, handle: count },
  contentHash: uint32,
  label: fc.oneof(fc.constant(""), legalName),
  ...{ learned: term, bonus: term, overlap: term, unverified: term, utility: term, evidence: term },
});

const exposure: fc.Arbitrary<RecordedExposure> = fc.record({
  collection: legalName,
  context: legalName,
  space: fc.oneof(fc.constant(""), legalName),
  length: count,
  vectorSource: fc.constantFrom(...VECTOR_SOURCES),
  vector,
  learner: legalName,
  gate: float32,
  credited: fc.boolean(),
  holdout: fc.option(fc.record({ share, held: fc.boolean(), differs: fc.boolean(), advantage: float32 }), {
    nil: undefined,
  }),
  memoryOff: fc.option(fc.record({ share, held: fc.boolean() }), { nil: undefined }),
  at: float64,
  candidates: fc.array(fc.record({ id: legalName, similarity: float32 }), { maxLength: 4 }),
  groups: fc.array(count, { maxLength: 4 }),
  shown: fc.array(item, { maxLength: 3 }),
  dropped: fc.array(item, { maxLength: 2 }),
  shifts: fc.array(float32, { maxLength: 4 }),
  reordered: fc.boolean(),
  movable: count,
  scale: term,
});

/** Any event that the codec must keep as it is. Similarities are float32 already: the layout rounds others. */
export const ledgerEvent: fc.Arbitrary<LedgerEvent> = fc.oneof(
  fc.record({
    type: fc.constant("exposure" as const),
    episode: legalName,
    state: fc.constantFrom(...EPISODE_STATES),
    aliases: names,
    suspendedAs: fc.option(legalName, { nil: undefined }),
    continues: count,
    onEdit: fc.constantFrom(...EDIT_POLICIES),
    exposures: fc.array(exposure, { maxLength: 3 }),
  }),
  fc.record({
    type: fc.constant("outcome" as const),
    episode: legalName,
    reward: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null }),
    weight: fc.double({ min: Number.MIN_VALUE, max: 1, noNaN: true }),
    tier,
    source: legalName,
    helpful: names,
    harmful: names,
    neutral: names,
    used,
    note: fc.oneof(fc.constant(""), legalName),
    rules: fc.option(fc.record({ audited: fc.boolean(), cap }), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant("revoke" as const),
    source: fc.option(legalName, { nil: undefined }),
    from: fc.oneof(float64, fc.constant(Number.NEGATIVE_INFINITY)),
    to: fc.oneof(float64, fc.constant(Number.POSITIVE_INFINITY)),
    fromSeq: count,
    toSeq: fc.oneof(count, fc.constant(Number.POSITIVE_INFINITY)),
  }),
  fc.record({ type: fc.constant("move" as const), to: legalName }),
  fc.record({ type: fc.constantFrom("forget" as const, "prune" as const), collection: legalName, ids: names }),
  fc.record({
    type: fc.constant("revision" as const),
    collection: legalName,
    onEdit: fc.constantFrom(...EDIT_POLICIES),
    ids: names,
  }),
  fc.record({
    type: fc.constant("copy" as const),
    collection: legalName,
    memories: fc.array(fc.record({ from: legalName, to: legalName }), { maxLength: 3 }),
  }),
  fc.record({
    type: fc.constant("import" as const),
    learner: legalName,
    collection: legalName,
    shared: fc.uint8Array({ maxLength: 40 }),
    memories: fc.array(fc.record({ id: legalName, state: fc.uint8Array({ maxLength: 40 }) }), { maxLength: 3 }),
  }),
);

const shownFields = { id: legalName, similarity: float32, weight: float32, handle: count };
const shown = fc.record(shownFields);
const shownOfGroup = fc.record({ ...shownFields, group: fc.record({ number: count, share: float64 }) });

const episodeExposure: fc.Arbitrary<EpisodeExposure> = fc.record({
  seq: count,
  collection: legalName,
  context: legalName,
  space: fc.oneof(fc.constant(""), legalName),
  length: count,
  vector,
  credited: fc.boolean(),
  control: fc.option(fc.record({ advantage: float32, held: fc.boolean() }), { nil: undefined }),
  items: fc.oneof(fc.array(shown, { maxLength: 3 }), fc.array(shownOfGroup, { maxLength: 3 })),
});

const numbers = fc.array(float64, { maxLength: 4 });

export const episodeRecord: fc.Arbitrary<EpisodeRecord> = fc.record({
  state: fc.constantFrom(...EPISODE_STATES),
  lastAt: float64,
  suspendedAs: fc.oneof(fc.constant(""), legalName),
  exposures: fc.array(episodeExposure, { maxLength: 3 }),
  reward: fc.option(
    fc.record({ tier, reward: float64, weight: float64, source: legalName, note: legalName, at: float64, credibility }),
    {
      nil: undefined,
    },
  ),
  votes: fc.array(
    fc.record({
      ...{ tier, source: legalName, weight: float64, at: float64, credibility },
      ...{ helpful: names, harmful: names, neutral: names },
    }),
    { maxLength: 3 },
  ),
  used,
  holdout: fc.option(fc.record({ share, held: fc.boolean() }), { nil: undefined }),
  memoryOff: fc.option(fc.record({ share, held: fc.boolean() }), { nil: undefined }),
  audits: hashes,
  taught: fc.boolean(),
  claims: fc.array(fc.record({ source: legalName, tier, reward: float64 }), { maxLength: 3 }),
  contribution: fc.option(
    fc.record({
      exposures: fc.array(
        fc.record({
          direction: fc.option(fc.int8Array({ minLength: 1, maxLength: 6 }), { nil: undefined }),
          scalars: numbers,
          memories: fc.array(numbers, { maxLength: 3 }),
        }),
        { maxLength: 3 },
      ),
    }),
    { nil: undefined },
  ),
});
