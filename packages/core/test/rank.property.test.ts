import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyLearnerByName } from "./support/every-learner.js";
import { legalName } from "./support/hostile-text.js";
import { testEngine } from "./support/test-engine.js";

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

describe.each(everyLearnerByName)("a ranking by %s", (_, { create }) => {
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
            expect(item.score).toBe(item.similarity + item.learned);
            expect([item.score, item.learned, item.utility, item.evidence, ranking.gate].every(Number.isFinite)).toBe(
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

describe("a learned ranking", () => {
  it("keeps the host's order among equals", async () => {
    const { engine } = testEngine();
    const twins = Array.from({ length: 6 }, (_, i) => ({ id: `twin${i}`, similarity: 0.5 }));
    const bad = { id: "bad", similarity: 0.6 };
    const rest = Array.from({ length: 6 }, (_, i) => ({ id: `rest${i}`, similarity: 0.4 }));
    const candidates = [bad, ...twins, ...rest];
    for (let run = 0; run < 30; run++) {
      const { episode } = await engine.rank({ candidates, topK: 1, keepOrder: true, vector: [1, 0] });
      await engine.end(episode, { reward: 0 });
    }
    const ranking = await engine.rank({ candidates, topK: 13, vector: [1, 0] });
    expect(ranking.order).toBe("learned");
    const order = ranking.items.map(({ id }) => id).filter((id) => id !== "bad");
    expect(order).toEqual([...twins, ...rest].map(({ id }) => id));
    expect(ranking.items[0]?.id).not.toBe("bad");
  });

  it("scores duplicates of one id alike", async () => {
    const { engine } = testEngine();
    const candidates = [
      { id: "a", similarity: 0.5 },
      { id: "b", similarity: 0.4 },
      { id: "a", similarity: 0.3 },
      { id: "c", similarity: 0.1 },
    ];
    for (let run = 0; run < 5; run++) {
      const { episode } = await engine.rank({ candidates, topK: 3, vector: [1, 0] });
      await engine.end(episode, { reward: 1 });
    }
    const { items } = await engine.rank({ candidates, topK: 4, vector: [1, 0] });
    const [first, second] = items.filter(({ id }) => id === "a");
    expect(first?.learned).not.toBe(0);
    expect(second?.learned).toBeCloseTo(first?.learned as number, 12);
    expect(second?.handle).toBe(first?.handle);
  });
});
