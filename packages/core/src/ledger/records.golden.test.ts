import { describe, expect, it } from "vitest";
import { decodeSource, encodeSource } from "../governance/source-record.js";
import { oar } from "../learners/oar/oar.js";
import type { OarMemory } from "../learners/oar/state.js";
import { decodeEpisode, type EpisodeRecord, emptyEpisode, encodeEpisode } from "./episode-record.js";
import { learnedBytes, MemoryRecord } from "./memory-record.js";
import { decodeSharedRecord, encodeSharedRecord } from "./shared-record.js";
import { decodeStats, emptyStats, encodeStats, type StatsRecord } from "./stats-record.js";

/** States are a cache that replay writes again, but stores hold them: a change of these bytes is a new layout or learner version. */
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));

const episode: EpisodeRecord = {
  state: "ended",
  lastAt: 1_767_225_600_000,
  suspendedAs: "thread",
  exposures: [
    {
      seq: 300,
      collection: "docs",
      context: "default",
      space: "host",
      length: 768,
      vector: Int8Array.of(127, -1),
      credited: true,
      items: [{ id: "a", similarity: 0.5, weight: 1, handle: 1 }],
    },
  ],
  reward: {
    tier: "verified",
    reward: 1,
    weight: 0.5,
    source: "checker",
    note: "ok",
    at: 1_767_225_600_001,
    credibility: undefined,
  },
  votes: [
    {
      tier: "user",
      source: "ann",
      weight: 1,
      at: 1_767_225_600_002,
      helpful: ["a"],
      harmful: [],
      neutral: ["b"],
      credibility: undefined,
    },
  ],
  used: [{ id: "a", by: "citation" }],
  holdout: undefined,
  memoryOff: undefined,
  audits: [],
  claims: [],
  taught: true,
  contribution: { exposures: [{ direction: Int8Array.of(5, -5), scalars: [1, -2], memories: [[0.5, 0.25]] }] },
};

describe("the record layouts, version 1", () => {
  const learner = oar();
  const learned: OarMemory = {
    ...{ evidence: 2, reputation: -0.5, information: 1.5, lastRun: 4, at: 1_000 },
    vector: Float32Array.of(1, -1),
  };

  it("writes and reads the frozen bytes of an episode", () => {
    const frozen =
      "0102000080aa6db779420674687265616401ac0204646f63730764656661756c7404686f73748006027fff01010001610000003f0000803f01870101016101000209010000003f07636865636b6572026f6b001080aa6db77942010103616e6e000000000000f03f002080aa6db7794201016100010162010205fb020901000000c001020a0000003f0000803e";
    expect(hex(encodeEpisode(episode))).toBe(frozen);
    expect(decodeEpisode(bytesOf(frozen))).toEqual(episode);
  });

  it("writes and reads the frozen bytes of an episode that keeps a direction in place of its request, and whose order was drawn", () => {
    const [exposure] = episode.exposures;
    const directed: EpisodeRecord = {
      ...emptyEpisode(),
      exposures: [
        {
          ...(exposure as (typeof episode.exposures)[number]),
          vector: new Int8Array(0),
          direction: Int8Array.of(5, -5),
          control: { advantage: 0.5, held: true },
        },
      ],
      contribution: { exposures: [{ direction: undefined, scalars: [1, 0, -2], memories: [[0.5, 0.1], []] }] },
    };
    const frozen =
      "010000000000000000000001ac0204646f63730764656661756c7404686f737480060205fb1d010001610000003f0000003f0000803f0104000100032101000000c002020e0000003f9a9999999999b93f00";
    expect(hex(encodeEpisode(directed))).toBe(frozen);
    expect(decodeEpisode(bytesOf(frozen))).toEqual(directed);
  });

  it("writes and reads the frozen bytes of an episode that was held out", () => {
    const heldOut: EpisodeRecord = {
      ...emptyEpisode(),
      holdout: { share: 0.25, held: true },
      memoryOff: { share: 0.5, held: false },
    };
    const frozen = "010000000000000000000000180000" + "00803e010000003f00";
    expect(hex(encodeEpisode(heldOut))).toBe(frozen);
    expect(decodeEpisode(bytesOf(frozen))).toEqual(heldOut);
  });

  it("writes and reads the frozen bytes of an episode whose sources are audited and capped", () => {
    const at = 1_767_225_600_000;
    const credibility = { source: "ann", trust: 0.5, cap: { weight: 10, window: 1_000 }, capped: [7] };
    const doubted: EpisodeRecord = {
      ...emptyEpisode(),
      reward: { tier: "user", reward: 1, weight: 1, source: "ann", note: "", at, credibility },
      votes: [
        {
          tier: "self-reported",
          source: "bot",
          weight: 1,
          at,
          helpful: [],
          harmful: [],
          neutral: [],
          credibility: { source: "bot", trust: 1, cap: undefined, capped: [] },
        },
      ],
      audits: [0xdeadbeef],
      claims: [{ source: "eve", tier: "completed", reward: 1 }],
    };
    const frozen =
      "010000000000000000000000630001efbeadde010365766504000000000000f03f810205010103616e6e00000080aa6db7794203616e6e000000000000e03f0100000000000024400000000000408f400107000000018303626f74000000000000f03f000080aa6db7794200000003626f74000000000000f03f0000";
    expect(hex(encodeEpisode(doubted))).toBe(frozen);
    expect(decodeEpisode(bytesOf(frozen))).toEqual(doubted);
  });

  it("writes and reads the frozen bytes of a source", () => {
    const source = {
      trust: { agreed: 2.5, disagreed: 1 },
      audits: 3,
      spending: { window: 20_454, weights: new Map([[7, 0.3]]) },
    };
    const frozen = "010000000000000440000000000000f03f030000000080f9d3400107000000333333333333d33f";
    expect(hex(encodeSource(source))).toBe(frozen);
    expect(decodeSource(bytesOf(frozen))).toEqual(source);
  });

  it("writes and reads the frozen bytes of a memory that oar learned about", () => {
    const record = new MemoryRecord(learner.memory);
    Object.assign(record, { contentHash: 0xdeadbeef, shown: 7, forgottenAt: 3 });
    record.learned = learned;
    const frozen =
      "efbeadde070000000000000000000840000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000040000000000000e0bf000000000000f83f00000000000010400000000000408f4000000000000000400000803f000080bf";
    expect(hex(record.encode())).toBe(frozen);
    expect(new MemoryRecord(learner.memory, bytesOf(frozen))).toMatchObject({
      contentHash: 0xdeadbeef,
      shown: 7,
      forgottenAt: 3,
      learned,
    });
  });

  it("writes and reads the frozen bytes of a memory that was forgotten and later kept evidence through an edit", () => {
    const record = new MemoryRecord(learner.memory);
    Object.assign(record, { contentHash: 0xdeadbeef, shown: 7, confirmed: 2, forgottenAt: 3, editedAt: 5 });
    const counts = {
      lastShown: 1_767_225_600_000,
      used: 1,
      successes: 2,
      failures: 3,
      helpful: 4,
      harmful: 5,
      wins: 6,
      losses: 7,
      labelled: true,
      band: 5,
    };
    Object.assign(record, counts);
    record.learned = learned;
    const frozen =
      "efbeadde0700000200000000000008c0000080aa6db77942010000000200000003000000040000000500000006000000070000000105000000000000000014400000000000000040000000000000e0bf000000000000f83f00000000000010400000000000408f4000000000000000400000803f000080bf";
    expect(hex(record.encode())).toBe(frozen);
    expect(new MemoryRecord(learner.memory, bytesOf(frozen))).toMatchObject({
      confirmed: 2,
      forgottenAt: 3,
      editedAt: 5,
      ...counts,
      learned,
    });
    expect(hex(learnedBytes(bytesOf(frozen)))).toBe(
      "0000000000000040000000000000e0bf000000000000f83f00000000000010400000000000408f4000000000000000400000803f000080bf",
    );
  });

  it("keeps 56 bytes for a memory that was shown and never taught", () => {
    const record = new MemoryRecord(learner.memory);
    record.shown = 1;
    record.learned = learner.memory.empty();
    expect(hex(record.encode())).toBe(`0000000001${"0".repeat(102)}`);
  });

  it("writes and reads the frozen bytes of a collection that oar learned about", () => {
    const record = {
      learner: "oar@2",
      space: "host",
      length: 2,
      memories: 300,
      bands: Array.from({ length: 32 }, (_, i) => (i === 16 ? 200 : i % 4)),
      state: {
        mean: Float32Array.of(0.5, -0.5),
        baseline: Float32Array.of(2, 4),
        bias: 0.25,
        steps: 3,
        lessons: 4,
        gateNumerator: 2,
        gateDenominator: 5,
        spread: 0.125,
        spreadCount: 6,
        votedRuns: 7,
        predicted: 8,
        reputations: 9,
        both: -1,
        reputationSurprise: 10,
        outcomes: 15,
        rewards: 16,
        between: 17,
        heldSquares: 11,
        heldProducts: -12,
        squares: 13,
        products: 14,
      },
    };
    const frozen =
      "01056f6172403204686f737402ac0200010203000102030001020300010203c8010102030001020300010203000102030000000000001c4000000000000020400000000000002240000000000000f0bf00000000000024400000000000002e4000000000000030400000000000003140000000000000264000000000000028c00000000000002a400000000000002c40000000000000d03f0000000000000840000000000000104000000000000000400000000000001440000000000000c03f00000000000018400000003f000000bf0000004000008040";
    expect(hex(encodeSharedRecord(record, learner.shared))).toBe(frozen);
    expect(decodeSharedRecord(bytesOf(frozen), learner)).toEqual(record);
  });

  it("writes and reads the frozen bytes of a namespace's counters", () => {
    const stats: StatsRecord = { ...emptyStats("cav@1"), episodes: 3, taught: 2 };
    stats.outcomes.verified = 2;
    const frozen =
      "010563617640310000000000000840000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000040000000000000000000000000000000000000000000000000000000000000000000";
    expect(hex(encodeStats(stats))).toBe(frozen);
    expect(decodeStats(bytesOf(frozen))).toEqual(stats);
  });

  it("writes and reads the frozen bytes of counters that few namespaces have", () => {
    const arm = { episodes: 1, sum: 4_096, squares: 16_777_216 };
    const stats: StatsRecord = {
      ...emptyStats("cav@1"),
      revocations: 1,
      capped: 2,
      contexts: [{ context: "night", episodes: 3, taught: 2 }],
      holdout: [{ share: 0.25, since: 1, learned: arm, held: arm }],
    };
    const frozen =
      "0105636176403100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000e5017b227265766f636174696f6e73223a312c22636170706564223a322c22636f6e7465787473223a5b7b22636f6e74657874223a226e69676874222c22657069736f646573223a332c22746175676874223a327d5d2c22686f6c646f7574223a5b7b227368617265223a302e32352c2273696e6365223a312c226c6561726e6564223a7b22657069736f646573223a312c2273756d223a343039362c2273717561726573223a31363737373231367d2c2268656c64223a7b22657069736f646573223a312c2273756d223a343039362c2273717561726573223a31363737373231367d7d5d7d";
    expect(hex(encodeStats(stats))).toBe(frozen);
    expect(decodeStats(bytesOf(frozen))).toEqual(stats);
  });
});
