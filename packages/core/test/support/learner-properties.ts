import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { governance } from "../../src/governance/index.js";
import { type Learner, memoryStore } from "../../src/index.js";
import { replay } from "../../src/maintenance/index.js";
import { COLLECTIONS, type Command, command, newSession, randomRequest, run } from "./commands.js";
import { legalName } from "./hostile-text.js";
import { allMemories, countedFrom, wholeHistory } from "./tally-oracle.js";
import { MINUTE, testEngine } from "./test-engine.js";

const candidate = fc.record({
  id: fc.oneof(legalName, fc.constantFrom("a", "b", "c")),
  similarity: fc.oneof(
    fc.constantFrom(0, -0, 0.5, 1),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1e30, max: 1e30, noNaN: true }),
  ),
});

const call = fc.record(
  {
    candidates: fc.array(candidate, { maxLength: 30 }),
    topK: fc.oneof(fc.nat(5), fc.nat(60)),
    vector: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
    keepOrder: fc.boolean(),
    record: fc.boolean(),
  },
  { requiredKeys: ["candidates", "topK", "keepOrder", "record"] },
);

const reward = fc.double({ min: 0, max: 1, noNaN: true });

const step: fc.Arbitrary<{ readonly command: Command; readonly engine: 0 | 1; readonly wait: number }> = fc.record({
  command,
  engine: fc.constantFrom<0 | 1>(0, 0, 0, 1),
  wait: fc.constantFrom(0, 0, 0, 30 * MINUTE, 61 * MINUTE),
});

/** Tests the promises of a ranking by a learner, for random requests. */
export function testRanking(name: string, create: () => Learner): void {
  describe(`a ranking by ${name}`, () => {
    it("is a permutation of the candidates, cut after topK, with terms that add up and no NaN", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(call, reward), { minLength: 1, maxLength: 8 }), async (runs) => {
          const { engine } = testEngine({ learner: create() });
          for (const [request, outcome] of runs) {
            const ranking = await engine.rank(request);
            const places = ranking.items.map(({ index }) => index);
            expect(places).toHaveLength(Math.min(request.topK, request.candidates.length));
            expect(new Set(places).size).toBe(places.length);
            for (const item of ranking.items) {
              const given = request.candidates[item.index] as (typeof request.candidates)[number];
              expect([item.id, item.similarity]).toEqual([given.id, given.similarity]);
              const { similarity, learned, bonus, overlap, unverified } = item;
              expect(item.score).toBe(similarity + learned + bonus + overlap + unverified);
              expect(bonus).toBeGreaterThanOrEqual(0);
              expect(overlap).toBeLessThanOrEqual(0);
              expect([item.score, learned, item.utility, item.evidence, ranking.gate].every(Number.isFinite)).toBe(
                true,
              );
            }
            if (request.keepOrder || ranking.order === "host") expect(places).toEqual([...places.keys()]);
            if (ranking.episode) await engine.end(ranking.episode, { reward: outcome });
          }
        }),
        { numRuns: 60 },
      );
    });

    it("is the host's order while there is no evidence on the candidates, also where the host did not sort", async () => {
      await fc.assert(
        fc.asyncProperty(call, async (request) => {
          const { engine } = testEngine({ learner: create() });
          const seen = { candidates: [{ id: "known elsewhere", similarity: 1 }], topK: 1 };
          await engine.end((await engine.rank(seen)).episode, { reward: 1 });
          const fresh = request.candidates.filter(({ id }) => id !== "known elsewhere");
          const ranking = await engine.rank({ ...request, candidates: fresh });
          expect(ranking.items.map(({ index }) => index)).toEqual([...fresh.keys()].slice(0, request.topK));
          expect(ranking.order).toBe("host");
          expect(ranking.items.every(({ learned }) => learned === 0)).toBe(true);
        }),
        { numRuns: 100 },
      );
    });
  });
}

/** Tests that the ledger defines a learner's state after random calls. */
export function testReplay(name: string, create: () => Learner, numRuns: number): void {
  describe(`after any sequence of calls by two engines on one store, with ${name}`, () => {
    it("replaying the ledger gives the live state, bit for bit, and both engines rank by it", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), fc.nat(1_000), async (steps, seed) => {
          const store = memoryStore();
          const onEdit = (["keep", "discount", "reset"] as const)[seed % 3] as "keep" | "discount" | "reset";
          const holdout = seed % 2 === 0 ? 0 : 0.5;
          const doubt = {
            governance: governance({ trust: "audited", sourceCaps: { weight: 1.5, window: 10 * MINUTE } }),
          };
          const rules = seed % 5 < 2 ? doubt : {};
          const engines = ["left", "right"].map((prefix) =>
            testEngine({ store, prefix, learner: create(), onEdit, holdout, ...rules }),
          );
          const sessions = [newSession("default"), newSession("default")];
          for (const { command: next, engine, wait } of steps) {
            for (const { clock } of engines) clock.now += wait;
            await run((engines[engine] as (typeof engines)[0]).engine, sessions[engine] as (typeof sessions)[0], next);
          }
          for (const { engine } of engines) await engine.flush();
          const replayed = await replay((engines[0] as (typeof engines)[0]).engine);
          expect(replayed.differences).toEqual([]);
          expect(replayed.identical).toBe(true);

          // The counts of each memory are those of the whole history, in this order of its edits, outcomes and corrections.
          if (onEdit !== "reset" && rules !== doubt) {
            const { engine } = engines[0] as (typeof engines)[0];
            const history = await wholeHistory(engine);
            for (const collection of COLLECTIONS) {
              const known = await allMemories(engine, collection);
              const counted = countedFrom(history, collection);
              expect(known.map(({ id }) => id).toSorted()).toEqual([...counted.keys()].toSorted());
              for (const memory of known) expect(memory).toMatchObject(counted.get(memory.id) as object);
            }
          }

          // The cached states of an engine must equal the stored ones.
          const { engine: fresh, clock } = testEngine({ store, prefix: "fresh", learner: create() });
          clock.now = (engines[0] as (typeof engines)[0]).clock.now;
          for (const collection of COLLECTIONS) {
            const request = { ...randomRequest(seed, 0), collection, record: false };
            const expected = await fresh.rank(request).catch((error: unknown) => error);
            for (const { engine } of engines) {
              expect(await engine.rank(request).catch((error: unknown) => error)).toEqual(expected);
            }
          }
        }),
        { numRuns },
      );
    });
  });
}
