import type { Learner } from "@qavr/core";
import { exportState } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import {
  expectAgreement,
  plus,
  ReferenceBaseline,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
} from "../../core/test/support/reference-model.js";
import { coarse, DIMS, dot, type Run, unit } from "../../core/test/support/stream.js";
import { oneRun, testEngine } from "../../core/test/support/test-engine.js";
import type { KernelMemory } from "../src/kernel-prototypes.js";
import { kernel, kernelPrototypes } from "../src/kernel-prototypes.js";

interface Group {
  requests: number[];
  sum: number;
  evidence: number;
}

/** Mean advantage near the request, drawn to the memory's own, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #baseline = new ReferenceBaseline();
  readonly #groups = new Map<string, Group[]>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  score(retrieval: Retrieval): Map<string, number> {
    const scale = 1.5 * this.#spread.scale(retrieval);
    const q = coarse(retrieval.request);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => {
        const groups = this.#groups.get(id) ?? [];
        const sum = groups.reduce((total, group) => total + group.sum, 0);
        const evidence = groups.reduce((total, group) => total + group.evidence, 0);
        let top = sum / (evidence + 4);
        let bottom = 1;
        for (const group of groups) {
          const k = Math.max(0, dot(unit(group.requests), q)) ** 3;
          top += k * group.sum;
          bottom += k * group.evidence;
        }
        return [id, similarity + (scale * top) / bottom];
      }),
    );
  }

  learn(run: Run, credited: readonly (readonly string[])[]): void {
    this.#spread.observe(run);
    this.#baseline.begin(run);
    const surprise = run.reward - this.#baseline.expected(run);
    this.#baseline.move(run, run.weight * surprise);
    credited.forEach((ids, e) => {
      const q = coarse(run.exposures[e]?.request as number[]);
      for (const id of ids) {
        const groups = this.#groups.get(id) ?? [];
        this.#groups.set(id, groups);
        const cosines = groups.map(({ requests }) => dot(unit(requests), q));
        const best = Math.max(...cosines);
        let group = groups[cosines.indexOf(best)];
        if (!group || (best < 0.6 && groups.length < this.#most)) {
          group = { requests: new Array<number>(DIMS).fill(0), sum: 0, evidence: 0 };
          groups.push(group);
        }
        group.requests = plus(group.requests, run.weight, q);
        group.sum += run.weight * surprise;
        group.evidence += run.weight;
      }
    });
  }
}

describe("kernel-prototypes@1", () => {
  it.each([8, 2])(
    "scores with up to %i prototypes as an independent float64 implementation does",
    async (prototypes) => {
      await expectAgreement(kernelPrototypes({ prototypes }), new Reference(prototypes));
    },
  );

  it("lends evidence by the cube of the cosine, and none beyond a right angle", () => {
    expect([1, 0.5, 0, -0.5].map(kernel)).toEqual([1, 0.125, 0, 0]);
  });

  it("founds a prototype for each kind of request, and gives it up with the last outcome that joined it", async () => {
    const { engine } = testEngine({ learner: kernelPrototypes() as unknown as Learner });
    const show = async (vector: number[], alias: string): Promise<void> => {
      const candidates = [{ id: "a", similarity: 1 }];
      await oneRun(engine, { candidates, topK: 1, vector, aliases: [alias] }, { reward: 1, tier: "self-reported" });
    };
    const memory = async (): Promise<KernelMemory> =>
      (await exportState(engine)).memories[0]?.state as unknown as KernelMemory;
    await show([1, 0], "east");
    await show([0.9, 0.1], "nearly east");
    await show([0, 1], "north");
    expect((await memory()).prototypes.map(({ key, evidence }) => [key, evidence])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    // A better verdict removes the prototype and founds it again with the same key.
    await engine.report("north", { reward: 0, tier: "verified" });
    const { prototypes } = await memory();
    expect(prototypes.map(({ key, evidence }) => [key, evidence])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect(prototypes[1]?.sum).toBeLessThan(0);
    expect([...(prototypes[1]?.requests ?? [])].map((value) => Number(value.toFixed(6)))).toEqual([0, 1]);
  });
});
