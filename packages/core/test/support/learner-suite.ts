import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutcomeInput } from "../../src/index.js";
import type { Learner, Lesson } from "../../src/learners/index.js";
import { exportState, importState, type LearnedState, replay } from "../../src/maintenance/index.js";
import { testRanking, testReplay } from "./learner-properties.js";
import { seededRandom } from "./random.js";
import { MINUTE, request, START, testEngine } from "./test-engine.js";
import { World } from "./world.js";

/** Promises of a learner's card. */
export interface Promises {
  /**
   * State after a corrected run, compared with the better verdict alone: the same bits, or the same numbers up to the rounding
   * of float32 sums. `later`: old runs were fitted again in between, so states may differ.
   */
  readonly correction: "exact" | "rounded" | "later";
  /** True when its states do not depend on the order of outcomes. */
  readonly orderIndependent: boolean;
  /** True when it must gain in a world with something to learn. */
  readonly gains: boolean;
}

/** A learner whose sums do not depend on the order of outcomes. */
export const counting: Promises = { correction: "exact", orderIndependent: true, gains: true };
/** A learner that does not learn from outcomes. */
export const readingOnly: Promises = { correction: "exact", orderIndependent: true, gains: false };
/** A learner whose states depend on the order of outcomes. */
export const sequential: Promises = { correction: "rounded", orderIndependent: false, gains: true };

const DIMS = 6;
const MEMORIES = 8;

/** One finished run of a stream. */
interface Run {
  readonly candidates: readonly { readonly id: string; readonly similarity: number }[];
  readonly vector: readonly number[];
  readonly reward: number;
}

function stream(seed: number, runs: number): Run[] {
  const random = seededRandom(seed);
  const needs = Array.from({ length: 3 }, () => random.direction(DIMS));
  return Array.from({ length: runs }, () => ({
    candidates: Array.from({ length: MEMORIES }, (_, i) => ({ id: `m${i}`, similarity: random.next() })).sort(
      (a, b) => b.similarity - a.similarity,
    ),
    vector: (needs[random.below(3)] as number[]).map((value) => value + 0.2 * random.normal()),
    reward: random.below(3) / 2,
  }));
}

/** An engine after a stream of runs; the last run has the outcomes `end`. */
async function lived(learner: Learner, runs: readonly Run[], end?: readonly OutcomeInput[]) {
  const tested = testEngine({ learner });
  const { engine, clock } = tested;
  for (const [i, { candidates, vector, reward }] of runs.entries()) {
    clock.now = START + i * MINUTE;
    const { episode } = await engine.rank({ candidates, vector, topK: 3, keepOrder: true, aliases: [`run ${i}`] });
    const [first, ...later] = (i === runs.length - 1 && end) || [{ reward }];
    await engine.end(episode, first);
    for (const outcome of later) await engine.report(`run ${i}`, outcome);
  }
  return tested;
}

/** Every number of a state, in a fixed order. */
function numbersOf(value: unknown): number[] {
  if (typeof value === "number") return [value];
  if (value instanceof Map) return [...value].sort(([a], [b]) => a - b).flatMap(numbersOf);
  if (ArrayBuffer.isView(value)) return [...(value as Float32Array)];
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value)
    .sort()
    .flatMap((key) => numbersOf((value as Record<string, unknown>)[key]));
}

function expectSameState(actual: LearnedState, expected: LearnedState, precision: Promises["correction"]): void {
  if (precision === "exact") {
    expect(actual).toEqual(expected);
    return;
  }
  expect(actual.memories.map(({ id }) => id)).toEqual(expected.memories.map(({ id }) => id));
  if (precision === "later") return;
  const numbers = numbersOf(actual);
  const wanted = numbersOf(expected);
  expect(numbers).toHaveLength(wanted.length);
  numbers.forEach((value, i) => {
    if (!Number.isNaN(wanted[i])) expect(Math.abs(value - (wanted[i] as number))).toBeLessThan(1e-6);
  });
}

/**
 * Tests that a learner keeps the contract and its card's promises.
 *
 * @param createLearner makes the learner, a new one at each call
 */
export function testLearner(
  name: string,
  createLearner: () => unknown,
  { correction, orderIndependent, gains }: Promises,
): void {
  const create = createLearner as () => Learner;
  testRanking(name, create);
  // The default gets the most runs; the others share its code path.
  testReplay(name, create, name === "oar" ? 200 : 20);
  describe(name, () => {
    it("leaves the host's order to an unknown collection", async () => {
      const { engine } = await lived(create(), stream(1, 20));
      const unknown = [0.2, 0.9, 0.5].map((similarity, i) => ({ id: `new ${i}`, similarity }));
      for (const collection of ["default", "another"]) {
        const ranking = await engine.rank({ collection, candidates: unknown, topK: 2, vector: [1, 0, 0, 0, 0, 0] });
        expect(ranking.items.map(({ index }) => index)).toEqual([0, 1]);
        expect(ranking).toMatchObject({ order: "host" });
      }
    });

    it("ranks equal requests in equal states alike, in every engine", async () => {
      const { engine, store, clock } = await lived(create(), stream(2, 30));
      const other = testEngine({ store, learner: create(), prefix: "other" });
      other.clock.now = clock.now;
      for (const { candidates, vector } of stream(3, 5)) {
        const asked = { candidates, vector, topK: MEMORIES, record: false };
        const ranking = await engine.rank(asked);
        expect(await engine.rank(asked)).toEqual(ranking);
        // The order in which memories are read must not matter.
        await other.engine.rank({ ...asked, candidates: candidates.toReversed() });
        expect(await other.engine.rank(asked)).toEqual(ranking);
      }
    });

    it.each([
      ["zero similarities", { candidates: stream(4, 1)[0]?.candidates.map(({ id }) => ({ id, similarity: 0 })) }],
      ["equal similarities", { candidates: stream(4, 1)[0]?.candidates.map(({ id }) => ({ id, similarity: 0.3 })) }],
      [
        "negative similarities",
        { candidates: stream(4, 1)[0]?.candidates.map(({ id }, i) => ({ id, similarity: -i })) },
      ],
      [
        "huge similarities",
        { candidates: stream(4, 1)[0]?.candidates.map(({ id }, i) => ({ id, similarity: -i * 1e29 })) },
      ],
      ["a single candidate", { candidates: [{ id: "m1", similarity: 0.5 }] }],
      ["one candidate twice", { candidates: [0.5, 0.4].map((similarity) => ({ id: "m1", similarity })) }],
      ["no candidate", { candidates: [] }],
      ["no vector", { vector: undefined }],
      ["a vector of another space", { vector: [1, 0], space: "another" }],
      ["nothing to show", { topK: 0 }],
      ["more to show than there is", { topK: 50 }],
    ])("ranks %s without a NaN and without losing a candidate", async (_case, change) => {
      const { engine } = await lived(create(), stream(4, 30));
      const [run] = stream(5, 1) as [Run];
      const { vector, ...rest } = { ...request({ candidates: run.candidates, vector: run.vector }), ...change };
      const ranking = await engine.rank({ ...rest, ...(vector ? { vector } : {}), candidates: rest.candidates ?? [] });
      const count = Math.min(rest.topK, rest.candidates?.length ?? 0);
      expect(new Set(ranking.items.map(({ index }) => index)).size).toBe(count);
      for (const { score, learned, utility, evidence } of ranking.items) {
        expect([score, learned, utility, evidence].every(Number.isFinite)).toBe(true);
        expect(evidence).toBeGreaterThanOrEqual(0);
      }
      await engine.end(ranking.episode, { reward: 1 });
      expect(await replay(engine)).toMatchObject({ identical: true });
    });

    it("ends in the same state whether a better verdict replaced a weaker one or came alone", async () => {
      const better: OutcomeInput = { reward: 1, tier: "verified" };
      for (let seed = 0; seed < 10; seed++) {
        const runs = stream(seed, 12);
        const weaker: OutcomeInput = { reward: seed / 9, tier: "completed", weight: 0.3 };
        const { engine: corrected } = await lived(create(), runs, [weaker, better]);
        const { engine: straight } = await lived(create(), runs, [better]);
        expectSameState(await exportState(corrected), await exportState(straight), correction);
      }
    });

    it("ends in the same state whether votes came before the reward or with it", async () => {
      const votes = { helpful: ["m1"], harmful: ["m2"], tier: "user" } as const;
      const runs = stream(6, 12);
      const { engine: late } = await lived(create(), runs, [
        { reward: null, ...votes },
        { reward: 0.5, tier: "user" },
      ]);
      const { engine: together } = await lived(create(), runs, [{ reward: 0.5, ...votes }]);
      expectSameState(await exportState(late), await exportState(together), correction);
    });

    it("starts cold again when all its evidence is taken by edits", async () => {
      const { engine } = testEngine({ learner: create(), onEdit: "reset" });
      const show = async (text: string) => {
        const candidates = [
          { id: "a", similarity: 0.9, text },
          { id: "b", similarity: 0.8, text: "same" },
        ];
        const ranking = await engine.rank({ candidates, topK: 2, vector: [1, 0] });
        await engine.end(ranking.episode, { reward: text === "old" ? 1 : null });
        return ranking;
      };
      for (let i = 0; i < 5; i++) await show("old");
      await show("new");
      const { items } = await show("new");
      expect(items.find(({ id }) => id === "a")?.evidence).toBeLessThan(2);
    });

    it("keeps legal states, with less evidence each time, while texts are edited and outcomes corrected", async () => {
      const { engine } = testEngine({ learner: create(), onEdit: "discount" });
      const random = seededRandom(8);
      for (let i = 0; i < 60; i++) {
        const candidates = ["a", "b", "c"].map((id, place) => ({
          id,
          similarity: 0.9 - place / 10,
          text: `${id} ${Math.floor(i / 3)}`,
        }));
        const vector = random.direction(DIMS);
        const { episode } = await engine.rank({ candidates, vector, topK: 2, keepOrder: true, aliases: [`run ${i}`] });
        await engine.end(episode, { reward: random.next(), tier: "completed", weight: 0.7 });
        const earlier = random.below(i + 1);
        await engine.report(`run ${earlier}`, { reward: random.next(), tier: "user" });
      }
      const { shared, memories } = await exportState(engine);
      const learner = create();
      for (const { state } of memories) {
        expect(learner.memory.problem(state)).toBeUndefined();
        expect(learner.describe(state, START).evidence).toBeGreaterThanOrEqual(0);
      }
      expect(learner.shared.problem(shared)).toBeUndefined();
      expect(await replay(engine)).toMatchObject({ identical: true });
    });

    it("exports its states to another engine, which then ranks alike", async () => {
      const { engine, clock } = await lived(create(), stream(9, 30));
      const second = testEngine({ learner: create() });
      second.clock.now = clock.now;
      await importState(second.engine, await exportState(engine));
      expect(await exportState(second.engine)).toEqual(await exportState(engine));
      for (const { candidates, vector } of stream(10, 5)) {
        const asked = { candidates, vector, topK: MEMORIES, record: false };
        expect((await second.engine.rank(asked)).items).toEqual((await engine.rank(asked)).items);
      }
      expect(await replay(second.engine)).toMatchObject({ identical: true });
    });

    it.each([2, 9])("learns on from states that it imported, with request vectors of %d values", async (dims) => {
      const { engine } = await lived(create(), stream(9, 10));
      const second = testEngine({ learner: create() });
      await importState(second.engine, await exportState(engine));
      const random = seededRandom(12);
      for (const { candidates } of stream(10, 6)) {
        const { episode } = await second.engine.rank({ candidates, vector: random.direction(dims), topK: 3 });
        await second.engine.end(episode, { reward: random.next() });
      }
      const { shared, memories } = await exportState(second.engine);
      const learner = create();
      expect(learner.shared.problem(shared)).toBeUndefined();
      for (const { state } of memories) expect(learner.memory.problem(state)).toBeUndefined();
    });

    if (gains) {
      it.each([1, 0.43])("decides by outcomes among memories of equal similarity, %d", async (similarity) => {
        const { engine } = testEngine({ learner: create() });
        const asked = { candidates: ["fails", "helps"].map((id) => ({ id, similarity })), topK: 1, vector: [1, 0] };
        for (let run = 0; run < 40; run++) {
          const { episode, items } = await engine.rank(asked);
          await engine.end(episode, { reward: items[0]?.id === "helps", tier: "verified" });
        }
        const { items } = await engine.rank({ ...asked, record: false });
        expect(items[0]?.id).toBe("helps");
      });
    }

    it("names the fault of an imported state, for any value", async () => {
      const { memory, shared } = create();
      const { engine } = await lived(create(), stream(11, 5));
      const known = await exportState(engine);
      for (const [codec, legal] of [
        [memory, known.memories[0]?.state],
        [shared, known.shared],
      ] as const) {
        fc.assert(
          fc.property(fc.anything(), (state) => {
            const problem = codec.problem(state);
            expect(["string", "undefined"]).toContain(typeof problem);
          }),
        );
        if (legal === null || legal === undefined) continue;
        expect(codec.problem(legal)).toBeUndefined();
        for (const [field, value] of Object.entries(legal)) {
          const broken = typeof value === "number" ? Number.NEGATIVE_INFINITY : "broken";
          expect(codec.problem({ ...legal, [field]: broken }), field).toBeTypeOf("string");
        }
      }
    });

    if (orderIndependent) {
      it("ends in the same bytes whatever the order of outcomes and corrections", () => {
        const outcome = fc.record({
          shown: fc.uniqueArray(fc.nat(MEMORIES - 1), { minLength: 1, maxLength: 3 }),
          reward: fc.double({ min: 0, max: 1, noNaN: true }),
          weight: fc.constantFrom(0.1, 0.3, 1),
          guess: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
          share: fc.constantFrom(1, 1 / 2, 1 / 3),
          place: fc.double({ noNaN: true }),
        });
        fc.assert(
          fc.property(fc.array(outcome, { maxLength: 30 }), (outcomes) => {
            const learner = create();
            const end = (order: typeof outcomes, guessing: boolean): string[] => {
              const states = Array.from({ length: MEMORIES }, () => learner.memory.empty());
              const collection = learner.shared.empty();
              const lesson = (run: (typeof outcomes)[0], reward: number, first: boolean): Lesson<unknown, unknown> => ({
                exposures: [
                  {
                    shared: collection,
                    vector: undefined,
                    context: "default",
                    share: run.share,
                    voted: false,
                    shown: run.shown.map((i) => ({
                      id: `m${i}`,
                      memory: states[i],
                      similarity: 0.5,
                      weight: 1,
                      vote: 0,
                      used: undefined,
                    })),
                  },
                ],
                reward,
                weight: run.weight,
                at: START,
                first,
              });
              const guesses = order.map((run) => {
                if (!guessing || run.guess === null) return undefined;
                const guessed = lesson(run, run.guess, true);
                return { guessed, contribution: learner.learn(guessed) };
              });
              order.forEach((run, i) => {
                const guess = guesses[i];
                if (guess) learner.unlearn(guess.guessed, guess.contribution);
                learner.learn(lesson(run, run.reward, !guess));
              });
              return [
                ...states.map((state) => learner.memory.encode(state, 0)),
                learner.shared.encode(collection, 0),
              ].map((bytes) => Buffer.from(bytes).toString("hex"));
            };
            const shuffled = outcomes.toSorted((a, b) => a.place - b.place);
            expect(end(shuffled, true)).toEqual(end(outcomes, false));
          }),
        );
      });
    }

    if (gains) {
      it("gains success in a world where similarity cannot see which memory helps", async () => {
        let gain = 0;
        for (const seed of [1, 2]) {
          const world = new World({ seed });
          const { engine } = testEngine({ learner: create() });
          await world.live(engine, 400);
          const { learned, similarity } = await world.evaluate(engine);
          gain += (learned - similarity) / 2;
        }
        expect(gain).toBeGreaterThan(0.02);
      });
    }
  });
}
