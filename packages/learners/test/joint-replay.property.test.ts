import type { Contribution } from "@qavr/core/learner";
import { dequantise } from "@qavr/core/learner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../core/test/support/random.js";
import { DIMS, lessonsFor, MEMORIES, type Run, type VectorLearner } from "../../core/test/support/vector-lessons.js";
import type { JointReplayShared } from "../src/joint-replay.js";
import { jointReplay } from "../src/joint-replay.js";

const { emptyWorld, teach, revisit, takeBack } = lessonsFor(jointReplay() as VectorLearner);

const run: fc.Arbitrary<Run> = fc.record({
  request: fc.nat().map((seed) => Float32Array.from(seededRandom(seed).direction(DIMS))),
  shown: fc.array(fc.uniqueArray(fc.nat(MEMORIES - 1), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
  reward: fc.double({ min: 0, max: 1, noNaN: true }),
  weight: fc.constantFrom(0.3, 1),
  votes: fc.constant(new Array<0>(MEMORIES).fill(0)),
});

/** A run, the earlier runs that are fitted again after it, and true when it is taken back in the end. */
const lived = fc.record({ run, visits: fc.array(fc.nat(30), { maxLength: 5 }), revoked: fc.boolean() });

describe("joint-replay@1", () => {
  it("holds what the runs that were not taken back contribute, and nothing else, however often all were fitted", () => {
    fc.assert(
      fc.property(fc.array(lived, { minLength: 1, maxLength: 20 }), (history) => {
        const world = emptyWorld();
        const contributions: Contribution[] = [];
        for (const { run: next, visits } of history) {
          contributions.push(teach(world, next));
          for (const visit of visits) {
            const place = visit % contributions.length;
            const { run: old } = history[place] as (typeof history)[number];
            contributions[place] = revisit(world, old, contributions[place] as Contribution);
          }
        }
        const vectors = Array.from({ length: MEMORIES }, () => new Float64Array(DIMS));
        const evidence = new Float64Array(MEMORIES);
        const baseline = new Float64Array(DIMS);
        const shared = world.shared as JointReplayShared;
        let bias = 0;
        history.forEach(({ run: past, revoked }, i) => {
          const contribution = contributions[i] as Contribution;
          if (revoked) {
            takeBack(world, past, contribution);
            return;
          }
          const counted = new Set<number>();
          contribution.exposures.forEach(({ direction, scalars }, e) => {
            const z = dequantise(direction as Int8Array);
            const [a, added, along, then] = scalars as [number, number, number, number];
            bias += added;
            z.forEach((value, d) => {
              baseline[d] = (baseline[d] as number) + along * 0.994 ** (shared.fits - then) * value;
            });
            (past.shown[e] as readonly number[]).forEach((memory, place) => {
              if (counted.has(memory)) return;
              counted.add(memory);
              evidence[memory] = (evidence[memory] as number) + past.weight;
              const vector = vectors[memory] as Float64Array;
              z.forEach((value, d) => {
                vector[d] = (vector[d] as number) + (a / past.shown.length / (1 + place)) * value;
              });
            });
          });
        });
        expect(Math.abs(shared.bias - bias)).toBeLessThan(1e-9);
        expectNear(shared.baseline, baseline);
        world.memories.forEach((memory, i) => {
          expect(memory.evidence).toBeCloseTo(evidence[i] as number, 6);
          expectNear(memory.vector, vectors[i] as Float64Array);
        });
      }),
    );
  });
});

/** An empty vector is one of zeros. */
function expectNear(actual: Float32Array, expected: Float64Array): void {
  expected.forEach((value, d) => {
    expect(Math.abs((actual[d] ?? 0) - value)).toBeLessThan(1e-6);
  });
}
