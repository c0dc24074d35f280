import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import {
  expectAgreement,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
} from "../../core/test/support/reference-model.js";
import type { Run } from "../../core/test/support/stream.js";
import { beta } from "../src/beta.js";

/** `(Σ w·r + 5 μ) / (Σ w + 5)`, with or without the bonus, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #sums = new Map<string, readonly [sum: number, evidence: number]>();
  readonly #bonus: number;
  #sum = 5;
  #evidence = 10;

  constructor(bonus: number) {
    this.#bonus = bonus;
  }

  score(retrieval: Retrieval): Map<string, number> {
    const mu = this.#sum / this.#evidence;
    const known = retrieval.candidates.some(({ id }) => this.#sums.has(id));
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => {
        const [sum, evidence] = this.#sums.get(id) ?? [0, 0];
        const u = (sum + 5 * mu) / (evidence + 5) + this.#bonus / Math.sqrt(evidence + 5);
        return [id, known ? similarity + this.#spread.scale(retrieval) * (u - mu) : similarity];
      }),
    );
  }

  learn(run: Run, credited: readonly (readonly string[])[]): void {
    this.#spread.observe(run);
    this.#sum += run.weight * run.reward;
    this.#evidence += run.weight;
    for (const id of credited.flat()) {
      const [sum, evidence] = this.#sums.get(id) ?? [0, 0];
      this.#sums.set(id, [sum + run.weight * run.reward, evidence + run.weight]);
    }
  }
}

describe("beta@1", () => {
  it.each([
    ["mean", 0],
    ["ucb", 0.2],
  ] as const)(
    "by its %s scores as an independent float64 implementation of its formula does",
    async (policy, bonus) => {
      await expectAgreement(beta({ policy }), new Reference(bonus), { runs: 200, tolerance: 1e-6 });
    },
  );

  it("starts every memory at the rate of the collection, 5 of 10 before any run", async () => {
    const { run, rank, engine } = loneMemory(beta());
    await run(["a"], { reward: 1 });
    const mu = 6 / 11;
    const ranked = await rank({ new: 0.5, a: 0.45 });
    // One success: (1 + 5 μ) / 6. The spread is that of the request, before the first exposure of a longer list: 0.025.
    expect(ranked.map(([id]) => id)).toEqual(["new", "a"]);
    expect(ranked[0]?.[2]).toBeCloseTo(mu, 12);
    expect(ranked[1]?.[2]).toBeCloseTo((1 + 5 * mu) / 6, 12);
    expect(ranked[1]?.[1]).toBeCloseTo(0.45 + 0.25 * ((1 + 5 * mu) / 6 - mu), 12);
    expect((await engine.status()).collections[0]?.learner).toMatchObject({ rate: mu, evidence: 1 });
  });

  it("adds 0.2 / √(n + 5) to an upper bound, more to what is less known", async () => {
    const { run, rank } = loneMemory(beta({ policy: "ucb" }));
    for (const reward of [1, 0, 1, 0]) await run(["a"], { reward });
    const ranked = Object.fromEntries((await rank({ new: 0.5, a: 0.45 })).map(([id, , utility]) => [id, utility]));
    expect(ranked.new).toBeCloseTo(0.5 + 0.2 / Math.sqrt(5), 12);
    expect(ranked.a).toBeCloseTo(0.5 + 0.2 / 3, 12);
  });

  it("draws each memory's utility from its posterior: mean and spread over many states are those of the distribution", async () => {
    const { run, rank } = loneMemory(beta({ policy: "thompson" }));
    await run(["a"], { reward: 1 });
    const draws: number[] = [];
    // A thousandth of similarity more or less is another request, and another draw.
    for (let i = 0; i < 4_000; i++) {
      for (const [id, , utility] of await rank({ a: 0.5 + i / 10_000 })) if (id === "a") draws.push(utility);
    }
    const mu = 6 / 11;
    const [p, q] = [1 + 5 * mu, 5 * (1 - mu)];
    const mean = draws.reduce((sum, value) => sum + value, 0) / draws.length;
    const variance = draws.reduce((sum, value) => sum + (value - mean) ** 2, 0) / draws.length;
    expect(draws.every((value) => value > 0 && value < 1)).toBe(true);
    expect(Math.abs(mean - p / (p + q))).toBeLessThan(0.01);
    expect(Math.abs(variance - (p * q) / ((p + q) ** 2 * (p + q + 1)))).toBeLessThan(0.002);
  });

  it("draws once for a memory that the host found twice", async () => {
    const { run, engine } = loneMemory(beta({ policy: "thompson" }));
    await run(["a"], { reward: 1 });
    const candidates = [0.5, 0.4, 0.3].map((similarity) => ({ id: "a", similarity }));
    const { items } = await engine.rank({ candidates, topK: 3 });
    expect(new Set(items.map(({ utility }) => utility)).size).toBe(1);
  });

  it.each(["ucb", "thompson"] as const)("ranks by the mean with %s when nothing is recorded", async (policy) => {
    const { run, rank, engine } = loneMemory(beta({ policy }));
    await run(["a"], { reward: 1 });
    const candidates = [
      { id: "a", similarity: 0.5 },
      { id: "b", similarity: 0.4 },
    ];
    const { items } = await engine.rank({ candidates, topK: 2, record: false });
    const utilities = items.map(({ utility }) => utility);
    const mu = 6 / 11;
    expect(utilities).toEqual([expect.closeTo((1 + 5 * mu) / 6, 12), expect.closeTo(mu, 12)]);
    expect((await rank({ a: 0.5, b: 0.4 })).map(([, , utility]) => utility)).not.toEqual(utilities);
  });

  it("draws alike for equal requests in equal states, and anew after an outcome", async () => {
    const { run, rank } = loneMemory(beta({ policy: "thompson" }));
    await run(["a", "b"], { reward: 1 });
    const before = await rank({ a: 0.5, b: 0.5 });
    expect(await rank({ a: 0.5, b: 0.5 })).toEqual(before);
    expect(new Set(before.map(([, , utility]) => utility)).size).toBe(2);
    await run(["c"], { reward: 1 });
    const after = await rank({ a: 0.5, b: 0.5 });
    for (const [id, , utility] of after) expect(utility).not.toBe(before.find(([other]) => other === id)?.[2]);
  });
});
