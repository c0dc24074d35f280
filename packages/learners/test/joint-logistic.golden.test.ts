import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import {
  expectAgreement,
  ReferenceBaseline,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
  sigmoid,
} from "../../core/test/support/reference-model.js";
import { average, type Run } from "../../core/test/support/stream.js";
import { jointLogistic } from "../src/joint-logistic.js";

/** One logistic model of success with a number for each memory, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #baseline = new ReferenceBaseline();
  readonly #logit = new Map<string, number>();
  readonly #evidence = new Map<string, number>();

  score(retrieval: Retrieval): Map<string, number> {
    const scale = 0.4 * this.#spread.scale(retrieval);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => [id, similarity + scale * (this.#logit.get(id) ?? 0)]),
    );
  }

  learn(run: Run, credited: readonly (readonly string[])[]): void {
    this.#spread.observe(run);
    this.#baseline.begin(run);
    for (const id of credited.flat()) this.#logit.set(id, 0.998 * (this.#logit.get(id) ?? 0));
    const shown = average(credited.map((ids) => ids.reduce((sum, id) => sum + (this.#logit.get(id) as number), 0)));
    const g = run.reward - sigmoid(this.#baseline.logit(run) + shown);
    this.#baseline.move(run, run.weight * g);
    for (const id of credited.flat()) {
      const n = (this.#evidence.get(id) ?? 0) + run.weight;
      this.#evidence.set(id, n);
      const step = (0.5 / Math.sqrt(Math.max(1, n))) * run.weight * g;
      this.#logit.set(id, (this.#logit.get(id) as number) + step);
    }
  }
}

describe("joint-logistic@1", () => {
  it("scores as an independent float64 implementation of its formulas does, over 300 runs", async () => {
    await expectAgreement(jointLogistic(), new Reference());
  });

  it("moves every memory of a first success by half of the surprise, and less for what is expected by then", async () => {
    const { run, state } = loneMemory(jointLogistic());
    await run(["a", "b"], { reward: 1 });
    expect((await state("a")).logit).toBe(0.25);
    await run(["a", "b"], { reward: 1 });
    // The bias has become 0.25, a and b 0.2495 each: p = sigmoid(0.749).
    const step = (0.5 / Math.SQRT2) * (1 - sigmoid(0.749));
    expect((await state("a")).logit).toBeCloseTo(0.2495 + step, 6);
  });
});
