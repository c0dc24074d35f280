import type { Learner } from "@qavr/core";
import { describe, expect, it } from "vitest";
import {
  expectAgreement,
  plus,
  ReferenceBaseline,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
} from "../../core/test/support/reference-model.js";
import { coarse, DIMS, dot, type Run } from "../../core/test/support/stream.js";
import { testEngine } from "../../core/test/support/test-engine.js";
import { rocchio } from "../src/rocchio.js";

/** `v ← v + w·g·q`, `u = v·q / (n + 3)`, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #baseline = new ReferenceBaseline();
  readonly #v = new Map<string, number[]>();
  readonly #n = new Map<string, number>();
  readonly #raw: boolean;

  constructor(raw: boolean) {
    this.#raw = raw;
  }

  score(retrieval: Retrieval): Map<string, number> {
    const scale = 6 * this.#spread.scale(retrieval);
    const q = coarse(retrieval.request);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => {
        const v = this.#v.get(id);
        return [id, v ? similarity + (scale * dot(v, q)) / ((this.#n.get(id) as number) + 3) : similarity];
      }),
    );
  }

  learn(run: Run, credited: readonly (readonly string[])[]): void {
    this.#spread.observe(run);
    this.#baseline.begin(run);
    const surprise = run.reward - (this.#raw ? 0.5 : this.#baseline.expected(run));
    this.#baseline.move(run, run.weight * surprise);
    credited.forEach((ids, e) => {
      const q = coarse(run.exposures[e]?.request as number[]);
      for (const id of ids) {
        this.#v.set(id, plus(this.#v.get(id) ?? new Array<number>(DIMS).fill(0), run.weight * surprise, q));
        this.#n.set(id, (this.#n.get(id) ?? 0) + run.weight);
      }
    });
  }
}

describe("rocchio@1", () => {
  it.each(["advantage", "reward"] as const)(
    "scores by %s as an independent float64 implementation does",
    async (feedback) => {
      await expectAgreement(rocchio({ feedback }), new Reference(feedback === "reward"));
    },
  );

  it("lifts a memory for the request it helped, lowers it for the opposite, and leaves it alone at a right angle", async () => {
    const { engine } = testEngine({ learner: rocchio() as unknown as Learner });
    const candidates = [
      { id: "a", similarity: 0.6 },
      { id: "b", similarity: 0.4 },
    ];
    const { episode } = await engine.rank({ candidates: candidates.slice(0, 1), topK: 1, vector: [1, 0] });
    await engine.end(episode, { reward: 1, tier: "verified" });
    const learned = async (vector?: number[]) =>
      (await engine.rank({ candidates, topK: 2, keepOrder: true, record: false, ...(vector ? { vector } : {}) })).items;
    // Surprise 1 − 0.5 after one run; the request's own spread is 0.1: 6 · 0.5 / 4.
    expect((await learned([1, 0]))[0]?.learned).toBeCloseTo(0.75, 6);
    expect((await learned([-1, 0]))[0]?.learned).toBeCloseTo(-0.75, 6);
    expect((await learned([0, 1]))[0]?.learned).toBeCloseTo(0, 6);
    // Without a vector it has no utility and keeps the host's order.
    const [mute] = await learned();
    expect(mute).toMatchObject({ learned: 0, utility: 0, evidence: 1 });
  });
});
