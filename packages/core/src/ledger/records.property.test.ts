import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { legalName } from "../../test/support/hostile-text.js";
import { episodeRecord } from "../../test/support/ledger-values.js";
import { oar } from "../learners/oar/oar.js";
import type { OarMemory, OarShared } from "../learners/oar/state.js";
import { decodeEpisode, emptyEpisode, encodeEpisode } from "./episode-record.js";
import { MemoryRecord } from "./memory-record.js";
import { decodeSharedRecord, emptyShared, encodeSharedRecord } from "./shared-record.js";
import { decodeStats, emptyStats, encodeStats } from "./stats-record.js";
import { BANDS } from "./utility-bands.js";

const learner = oar();
const invalidState: unknown = expect.objectContaining({ code: "INVALID_STATE" });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const floats = fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength: 9 });

const oarMemory: fc.Arbitrary<OarMemory> = fc.record({
  evidence: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
  reputation: finite,
  information: finite,
  lastRun: fc.nat(),
  at: finite,
  vector: floats,
});
const oarShared: fc.Arbitrary<OarShared> = floats.chain((mean) =>
  fc.record({
    mean: fc.constant(mean),
    baseline: fc.float32Array({ noNaN: true, minLength: mean.length, maxLength: mean.length }),
    bias: finite,
    steps: fc.nat(),
    lessons: fc.nat(),
    gateNumerator: finite,
    gateDenominator: finite,
    spread: finite,
    spreadCount: fc.nat(),
    votedRuns: fc.nat(),
    predicted: finite,
    reputations: finite,
    both: finite,
    reputationSurprise: finite,
    outcomes: finite,
    rewards: finite,
    between: finite,
    heldSquares: finite,
    heldProducts: finite,
    squares: finite,
    products: finite,
  }),
);

const known: OarMemory = {
  ...learner.memory.empty(),
  ...{ evidence: 1, reputation: 2, vector: Float32Array.of(3, 4) },
};

/** The bytes again at another place in memory, as a database driver may hand them out. */
const displaced = (bytes: Uint8Array, offset: number): Uint8Array => {
  const pool = Buffer.alloc(bytes.length + offset);
  pool.set(bytes, offset);
  return pool.subarray(offset);
};

describe("an episode's record", () => {
  it("comes back as it was", () => {
    fc.assert(
      fc.property(episodeRecord, fc.nat(7), (record, offset) => {
        expect(decodeEpisode(displaced(encodeEpisode(record), offset))).toEqual(record);
      }),
      { numRuns: 300 },
    );
  });

  it("is refused when it was cut short, and never misread when it was damaged", () => {
    fc.assert(
      fc.property(episodeRecord, fc.nat(), fc.integer({ min: 1, max: 255 }), (record, place, flip) => {
        const bytes = encodeEpisode(record);
        expect(() => decodeEpisode(bytes.subarray(0, place % bytes.length))).toThrowError(invalidState);
        bytes[place % bytes.length] = (bytes[place % bytes.length] as number) ^ flip;
        try {
          decodeEpisode(bytes);
        } catch (error) {
          expect(error).toEqual(invalidState);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("a memory's record", () => {
  it("comes back as it was, with the learner's state or without one", () => {
    fc.assert(
      fc.property(
        fc.record({
          ...{ contentHash: fc.nat(), shown: fc.nat(0xff_ffff), confirmed: fc.nat(255) },
          ...{ forgottenAt: fc.nat(9), editedAt: fc.nat(9) },
        }),
        fc.option(oarMemory, { nil: undefined }),
        fc.nat(7),
        (header, learned, offset) => {
          const record = new MemoryRecord(learner.memory);
          Object.assign(record, header);
          record.learned = learned;
          const read = new MemoryRecord(learner.memory, displaced(record.encode(), offset));
          // An edit before it was forgotten says nothing more.
          const editedAt = header.editedAt > header.forgottenAt ? header.editedAt : 0;
          expect(read).toMatchObject({ ...header, editedAt });
          for (let seq = 0; seq < 11; seq++) expect(read.isPresentAt(seq)).toBe(record.isPresentAt(seq));
          expect(read.learned).toEqual(learned);
          // A reader that ignores the learner's part writes it back untouched.
          expect(new MemoryRecord(learner.memory, record.encode()).encode()).toEqual(record.encode());
        },
      ),
    );
  });

  it("gives a private draft: encoding it leaves the bytes it was read from alone", () => {
    for (const [offset, editedAt] of [0, 3, 8].flatMap((at) => [[at, 0] as const, [at, 5] as const])) {
      const record = new MemoryRecord(learner.memory);
      record.learned = known;
      record.editedAt = editedAt;
      const bytes = record.encode();
      const before = [...bytes];
      const stored = displaced(bytes, offset);
      const drafted = new MemoryRecord(learner.memory, stored);
      const draft = drafted.draft() as OarMemory;
      draft.vector[0] = 9;
      draft.evidence = 7;
      drafted.shown = 8;
      const after = new MemoryRecord(learner.memory, drafted.encode());
      expect(after.shown).toBe(8);
      expect(after.learned).toEqual({ ...known, evidence: 7, vector: Float32Array.of(9, 4) });
      expect([...stored]).toEqual(before);
    }
  });

  it("is refused with an impossible length", () => {
    const record = new MemoryRecord(learner.memory);
    record.learned = known;
    const bytes = record.encode();
    for (let length = 0; length < bytes.length; length++) {
      // 56 bytes are a memory without a state.
      if (length === 56) continue;
      expect(() => new MemoryRecord(learner.memory, bytes.slice(0, length)).learned).toThrowError(invalidState);
    }
  });
});

describe("a collection's record", () => {
  it("comes back as it was", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constant(""), legalName),
        fc.nat(70_000),
        oarShared,
        fc.nat(7),
        fc.array(fc.nat(70_000), { minLength: BANDS, maxLength: BANDS }),
        (space, length, state, at, counts) => {
          const record = { ...emptyShared(learner), space, length, memories: length, bands: counts, state };
          expect(decodeSharedRecord(displaced(encodeSharedRecord(record, learner.shared), at), learner)).toEqual(
            record,
          );
        },
      ),
    );
  });

  it("is refused when another learner wrote it, and says both ways out", () => {
    const bytes = encodeSharedRecord({ ...emptyShared(learner), learner: "oar@0" }, learner.shared);
    expect(() => decodeSharedRecord(bytes, learner)).toThrowError(
      expect.objectContaining({
        code: "LEARNER_MISMATCH",
        message: expect.stringMatching(/learned by oar@0, not oar@2.*replay\(engine, \{ write: true \}\)/),
        details: { stored: "oar@0", wanted: "oar@2" },
      }),
    );
  });

  it("is refused when it was cut short", () => {
    const state = { ...learner.shared.empty(), mean: new Float32Array(3), baseline: new Float32Array(3) };
    const bytes = encodeSharedRecord({ ...emptyShared(learner), space: "host", length: 3, state }, learner.shared);
    const start = bytes.length - 19 * 8 - 3 * 8;
    for (let length = 0; length < bytes.length; length++) {
      // Without any learner's part it is an empty state; two whole vectors fewer is a shorter space.
      if (length === start || (length > start + 151 && (length - start) % 8 === 0)) continue;
      expect(() => decodeSharedRecord(bytes.slice(0, length), learner)).toThrowError(invalidState);
    }
  });
});

describe("a namespace's counters", () => {
  it("come back as they were", () => {
    const stats = emptyStats("oar@1");
    Object.assign(stats, { episodes: 3, suspended: 1, abandoned: 2, unknown: 4, corrections: 5, taught: 6 });
    stats.outcomes["self-reported"] = 7;
    expect(decodeStats(encodeStats(stats))).toEqual(stats);
    const rare = { revocations: 1, capped: 2, contexts: [{ context: "é\u{1f600}", episodes: 3, taught: 1 }] };
    expect(decodeStats(encodeStats({ ...stats, ...rare }))).toEqual({ ...stats, ...rare });
  });

  it("are refused when they were cut short, or hold what is no JSON", () => {
    const bytes = encodeStats({ ...emptyStats("oar@1"), revocations: 1 });
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeStats(bytes.slice(0, length))).toThrowError(invalidState);
    }
    bytes.fill(0x7b, bytes.length - 5);
    expect(() => decodeStats(bytes)).toThrowError(invalidState);
  });
});

describe("records of a later version", () => {
  it("are refused, with what to do", () => {
    const later: unknown = expect.objectContaining({
      code: "INVALID_STATE",
      message: expect.stringMatching(/layout 2.*Upgrade qavr, or call replay\(engine, \{ write: true \}\)/),
    });
    const withLayout2 = (bytes: Uint8Array): Uint8Array => Uint8Array.of(2, ...bytes.subarray(1));
    const episode = encodeEpisode(emptyEpisode());
    const shared = encodeSharedRecord(emptyShared(learner), learner.shared);
    expect(() => decodeEpisode(withLayout2(episode))).toThrowError(later);
    expect(() => decodeSharedRecord(withLayout2(shared), learner)).toThrowError(later);
    expect(() => decodeStats(withLayout2(encodeStats(emptyStats("oar@1"))))).toThrowError(later);
  });
});
