import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dequantise, quantise } from "../../src/embedding/quantise.js";
import type { Contribution } from "../../src/learners/index.js";
import { seededRandom } from "./random.js";
import { tableOf } from "./table-of.js";
import {
  copyOf,
  DIMS,
  type DirectedMemory,
  lessonsFor,
  MEMORIES,
  type Run,
  type VectorLearner,
  type World,
} from "./vector-lessons.js";

/** Promises of a learner over request vectors beside the contract. */
export interface VectorPromises {
  /** Factor on its gate's sums at each run. */
  readonly gateDecay: number;
  /** Largest shift, in spreads. */
  readonly largestShift: number;
  /** Nothing bounds a shift downwards, so that of many blamed memories the worst stays the last. @default false */
  readonly fallsFreely?: boolean;
  /** True when its order does not depend on the scale of similarities. */
  readonly affine: boolean;
}

const request: fc.Arbitrary<Float32Array> = fc
  .nat()
  .map((seed) => dequantise(quantise(Float32Array.from(seededRandom(seed).direction(DIMS))) as Int8Array));

const run: fc.Arbitrary<Run> = fc.record({
  request,
  shown: fc.array(fc.uniqueArray(fc.nat(MEMORIES - 1), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
  reward: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  weight: fc.constantFrom(0.3, 1),
  votes: fc.array(fc.constantFrom<-1 | 0 | 1>(0, 0, 0, 1, -1), { minLength: MEMORIES, maxLength: MEMORIES }),
});

const history = fc.array(run, { maxLength: 25, size: "max" });

/** Numbers of a memory that a lesson adds to; a learner has one of the last two. */
const FADING = ["evidence", "advantage", "reputation"] as const;

function numberOf(memory: DirectedMemory, field: (typeof FADING)[number]): number {
  return (memory as unknown as Readonly<Record<string, number>>)[field] ?? 0;
}

/** Largest difference between two worlds, each number relative to its size. */
function distance(a: World, b: World): number {
  let worst = 0;
  const compare = (x: number, y: number): void => {
    worst = Math.max(worst, Math.abs(x - y) / Math.max(1, Math.abs(x), Math.abs(y)));
  };
  const compareAll = (x: ArrayLike<number>, y: ArrayLike<number>): void => {
    for (let i = 0; i < Math.max(x.length, y.length); i++) compare(x[i] ?? 0, y[i] ?? 0);
  };
  for (const [field, value] of Object.entries(a.shared)) {
    const other = b.shared[field as keyof World["shared"]];
    if (typeof value === "number") compare(value, other as number);
    else compareAll(value as Float32Array, other as Float32Array);
  }
  a.memories.forEach((memory, i) => {
    const other = b.memories[i] as DirectedMemory;
    for (const [field, value] of Object.entries(memory)) {
      if (typeof value === "number") compare(value, other[field as keyof DirectedMemory] as number);
    }
    compareAll(memory.vector, other.vector);
  });
  return worst;
}

function scoresOf(
  learner: VectorLearner,
  world: World,
  query: Float32Array | undefined,
  similarities: readonly number[],
): Float64Array {
  return learner.score({
    shared: world.shared,
    ...tableOf(learner, world.memories),
    similarities: Float64Array.from(similarities),
    vector: query,
    context: "default",
    topK: 3,
    explores: true,
    now: 0,
  }).score;
}

/** Tests the properties that all learners over request vectors share. */
export function testVectorLearner(
  learner: VectorLearner,
  { gateDecay, largestShift, fallsFreely = false, affine }: VectorPromises,
): void {
  describe(learner.id, () => {
    const { emptyWorld, teach, takeBack } = lessonsFor(learner);

    it("ends in the same state whether the better verdict replaced a weaker one, came after votes alone or came first", () => {
      fc.assert(
        fc.property(
          history,
          run,
          fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 1 }),
          (past, last, guess) => {
            const corrected = emptyWorld();
            for (const earlier of past) teach(corrected, earlier);
            const straight = copyOf(corrected);
            teach(straight, last);
            const weaker: Run = { ...last, reward: guess, weight: 0.3 };
            takeBack(corrected, weaker, teach(corrected, weaker));
            teach(corrected, last, false);
            expect(distance(corrected, straight)).toBeLessThan(1e-6);
          },
        ),
        { numRuns: 200 },
      );
    });

    it("takes a lesson back to within rounding, numbers of a memory also after other lessons in between", () => {
      fc.assert(
        fc.property(history, run, history, (past, last, later) => {
          const world = emptyWorld();
          for (const earlier of past) teach(world, earlier);
          const before = copyOf(world);
          const contribution = teach(world, last);
          const added = [...later.map((next) => teach(world, next))];
          takeBack(world, last, contribution);
          [...later.keys()].reverse().forEach((i) => {
            takeBack(world, later[i] as Run, added[i] as Contribution);
          });
          // The gate's sums have faded once per run.
          const faded = gateDecay ** (1 + later.length);
          expect(world.shared.gateNumerator).toBeCloseTo(before.shared.gateNumerator * faded, 9);
          expect(world.shared.gateDenominator).toBeCloseTo(before.shared.gateDenominator * faded, 9);
          expect(world.shared.bias).toBeCloseTo(before.shared.bias, 9);
          world.memories.forEach((memory, i) => {
            const known = before.memories[i] as DirectedMemory;
            for (const field of FADING) expect(numberOf(memory, field)).toBeCloseTo(numberOf(known, field), 6);
            const dims = Math.max(memory.vector.length, known.vector.length);
            for (let d = 0; d < dims; d++) {
              expect(Math.abs((memory.vector[d] ?? 0) - (known.vector[d] ?? 0))).toBeLessThan(1e-5);
            }
          });
        }),
      );
    });

    it("values a memory at least as highly after a helpful vote as after none, and after none as after a harmful one", () => {
      fc.assert(
        fc.property(history, run, (past, last) => {
          const shown = last.shown[0]?.[0] as number;
          const after = [-1, 0, 1].map((vote) => {
            const world = emptyWorld();
            for (const earlier of past) teach(world, earlier);
            const votes = new Array<-1 | 0 | 1>(MEMORIES).fill(0);
            votes[shown] = vote as -1 | 0 | 1;
            teach(world, { ...last, votes });
            const memory = world.memories[shown] as DirectedMemory;
            const { utility } = learner.score({
              shared: world.shared,
              ...tableOf(learner, world.memories),
              similarities: new Float64Array(MEMORIES),
              vector: last.request,
              context: "default",
              topK: 1,
              explores: true,
              now: 0,
            });
            return { scalar: learner.describe(memory, 0).utility, directed: utility[shown] as number };
          });
          const [harmful, none, helpful] = after as [(typeof after)[0], (typeof after)[0], (typeof after)[0]];
          expect(helpful.scalar).toBeGreaterThan(none.scalar);
          expect(none.scalar).toBeGreaterThan(harmful.scalar);
          expect(helpful.directed).toBeGreaterThanOrEqual(none.directed);
          expect(none.directed).toBeGreaterThanOrEqual(harmful.directed);
        }),
      );
    });

    it("shifts no memory beyond its bounds, however much it learned", () => {
      fc.assert(
        fc.property(
          fc.array(run, { minLength: 1, maxLength: 40 }),
          request,
          fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: MEMORIES, maxLength: MEMORIES }),
          fc.boolean(),
          (past, query, similarities, withVector) => {
            const world = emptyWorld();
            for (let round = 0; round < 10; round++) for (const lesson of past) teach(world, lesson);
            world.shared.spread = 0.07;
            world.shared.spreadCount = 1;
            const scores = scoresOf(learner, world, withVector ? query : undefined, similarities);
            scores.forEach((score, i) => {
              expect(Number.isFinite(score)).toBe(true);
              const shift = score - (similarities[i] as number);
              expect(shift).toBeLessThanOrEqual(0.07 * largestShift + 1e-9);
              if (!fallsFreely) expect(-shift).toBeLessThanOrEqual(0.07 * largestShift + 1e-9);
            });
          },
        ),
        { numRuns: 50 },
      );
    });

    it("holds no NaN and no negative evidence after any lessons, corrections and edits", () => {
      const step = fc.record({
        run,
        undo: fc.boolean(),
        discount: fc.option(fc.nat(MEMORIES - 1)),
        keep: fc.constantFrom(0, 0.5, 1),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 30 }), request, (steps, query) => {
          const world = emptyWorld();
          const done: [Run, Contribution][] = [];
          for (const { run: next, undo, discount, keep } of steps) {
            done.push([next, teach(world, next)]);
            if (discount !== null) learner.discount(world.memories[discount] as DirectedMemory, keep);
            const last = undo ? done.shift() : undefined;
            if (last) takeBack(world, ...last);
          }
          for (const memory of world.memories) {
            expect(memory.evidence).toBeGreaterThanOrEqual(0);
            expect([...FADING.map((field) => numberOf(memory, field)), ...memory.vector].every(Number.isFinite)).toBe(
              true,
            );
          }
          for (const value of Object.values(world.shared)) {
            expect((typeof value === "number" ? [value] : [...value]).every(Number.isFinite)).toBe(true);
          }
          expect([...scoresOf(learner, world, query, [0, 0.1, 0.2, 0.3, 0.4, 0.5])].every(Number.isFinite)).toBe(true);
        }),
      );
    });

    it("teaches nothing through an unknown outcome without votes", () => {
      fc.assert(
        fc.property(history, run, (past, last) => {
          const world = emptyWorld();
          for (const earlier of past) teach(world, earlier);
          const before = copyOf(world).memories;
          teach(world, { ...last, reward: null, votes: new Array<0>(MEMORIES).fill(0) });
          expect(world.memories).toEqual(before);
        }),
      );
    });

    if (affine) {
      it("measures learning in the collection's spread: stretched and shifted similarities give the same order", () => {
        fc.assert(
          fc.property(
            fc.array(run, { minLength: 1, maxLength: 20 }),
            request,
            fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: MEMORIES, maxLength: MEMORIES }),
            fc.double({ min: 0.01, max: 100, noNaN: true }),
            fc.double({ min: -100, max: 100, noNaN: true }),
            (past, query, thousandths, a, b) => {
              const plain = emptyWorld();
              for (const lesson of past) teach(plain, lesson);
              const moved = copyOf(plain);
              const similarities = thousandths.map((value) => value / 1_000);
              const stretched = similarities.map((value) => a * value + b);
              for (const [world, list] of [
                [plain, similarities],
                [moved, stretched],
              ] as const) {
                learner.observe({
                  shared: world.shared,
                  context: "default",
                  similarities: Float64Array.from(list),
                  shown: 3,
                  memories: () => [],
                  at: 0,
                });
              }
              const original = scoresOf(learner, plain, query, similarities);
              scoresOf(learner, moved, query, stretched).forEach((score, i) => {
                expect((score - b) / a).toBeCloseTo(original[i] as number, 6);
              });
            },
          ),
        );
      });
    }
  });
}
