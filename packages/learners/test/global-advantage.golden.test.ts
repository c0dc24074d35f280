import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import {
  expectAgreement,
  ReferenceBaseline,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
} from "../../core/test/support/reference-model.js";
import type { Run } from "../../core/test/support/stream.js";
import { globalAdvantage } from "../src/global-advantage.js";

/** `Σ w·(r − b) / (Σ w + 5)` with an online baseline b, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #baseline = new ReferenceBaseline();
  readonly #sums = new Map<string, readonly [sum: number, evidence: number]>();

  score(retrieval: Retrieval): Map<string, number> {
    const scale = 1.5 * this.#spread.scale(retrieval);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => {
        const [sum, evidence] = this.#sums.get(id) ?? [0, 0];
        return [id, similarity + (scale * sum) / (evidence + 5)];
      }),
    );
  }

  learn(run: Run, credited: readonly (readonly string[])[]): void {
    this.#spread.observe(run);
    this.#baseline.begin(run);
    const surprise = run.reward - this.#baseline.expected(run);
    this.#baseline.move(run, run.weight * surprise);
    for (const id of credited.flat()) {
      const [sum, evidence] = this.#sums.get(id) ?? [0, 0];
      this.#sums.set(id, [sum + run.weight * surprise, evidence + run.weight]);
    }
  }
}

describe("global-advantage@1", () => {
  it("scores as an independent float64 implementation of its formulas does, over 300 runs", async () => {
    await expectAgreement(globalAdvantage(), new Reference());
  });

  it("credits a first success with the half that was not to be expected", async () => {
    const { run, rank, state } = loneMemory(globalAdvantage());
    await run(["a"], { reward: 1 });
    expect(await state("a")).toEqual({ sum: 0.5, evidence: 1 });
    // The request's own spread is 0.05: 0.9 + 1.5 · 0.5 · 0.5 / 6.
    expect((await rank({ b: 1, a: 0.9 }))[1]?.[1]).toBeCloseTo(0.9 + 0.0625, 12);
  });
});
