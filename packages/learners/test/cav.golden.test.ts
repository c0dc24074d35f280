import type { Learner } from "@qavr/core";
import { describe, expect, it } from "vitest";
import {
  expectAgreement,
  plus,
  ReferenceBaseline,
  ReferenceMean,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
} from "../../core/test/support/reference-model.js";
import { DIMS, dot, frozen, type Run, within } from "../../core/test/support/stream.js";
import { type CavMemory, type CavShared, cav } from "../src/cav.js";

/** The documented formulas again, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #baseline = new ReferenceBaseline();
  readonly #mean = new ReferenceMean();
  readonly #v = new Map<string, number[]>();
  readonly #n = new Map<string, number>();
  #num = 2;
  #den = 5;

  score(retrieval: Retrieval): Map<string, number> {
    const z = this.#mean.centred(retrieval.request);
    const scale = this.#spread.scale(retrieval);
    const gate = 0.25 + 0.75 * Math.min(1, within(this.#num / (this.#den + 0.5), 0, 1) / 0.35);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => [
        id,
        similarity + within(20 * scale * gate * this.#u(id, z), -scale, scale),
      ]),
    );
  }

  learn(
    run: Run,
    _: readonly (readonly string[])[],
    relevance: readonly ReadonlyMap<string, number>[],
    votes: ReadonlyMap<string, number>,
  ): void {
    const { exposures, reward, weight } = run;
    const share = 1 / exposures.length;
    this.#spread.observe(run);
    this.#baseline.begin(run);
    const directions = this.#mean.meet(run);
    const b = this.#baseline.expected(run);
    const U = relevance.reduce(
      (sum, list, e) =>
        sum + share * [...list].reduce((part, [id, w]) => part + w * this.#u(id, directions[e] as number[]), 0),
      0,
    );
    const g = reward - within(b + U, 0.02, 0.98);
    this.#num = 0.998 * this.#num + weight * (reward - b) * U;
    this.#den = 0.998 * this.#den + weight * U * U;
    this.#baseline.move(run, weight * (reward - b));
    relevance.forEach((list, e) => {
      for (const [id, w] of list) {
        if (w === 0) continue;
        const vote = votes.get(id) ?? 0;
        const advantage =
          vote > 0 ? Math.max(g, 0) + 0.5 : vote < 0 ? Math.min(g, 0) - 0.5 : votes.size > 0 ? g / 2 : g;
        const v = this.#v.get(id) ?? new Array<number>(DIMS).fill(0);
        this.#v.set(id, plus(v, weight * share * w * advantage, directions[e] as number[]));
        this.#n.set(id, (this.#n.get(id) ?? 0) + weight * share * w);
      }
    });
  }

  #u(id: string, z: readonly number[]): number {
    const v = this.#v.get(id);
    return v ? dot(v, z) / ((this.#n.get(id) as number) + 32) : 0;
  }
}

describe("cav@1", () => {
  it("scores as an independent float64 implementation of its formulas does, over 300 runs", async () => {
    await expectAgreement(cav(), new Reference());
  });

  it("gives the frozen numbers of this version", async () => {
    const { scores, shared, known } = await frozen<CavShared, CavMemory>(cav() as Learner);
    const { bias, steps, lessons, gateNumerator, gateDenominator, spread, spreadCount } = shared;
    const rounded = [bias, steps, lessons, gateNumerator, gateDenominator, spread, spreadCount].map((value) =>
      Number(value.toFixed(6)),
    );
    expect(scores).toEqual([
      [19, "m17", 0.716388, "m35", 0.68293],
      [39, "m24", 0.888264, "m5", 0.735947],
      [59, "m21", 0.739347, "m38", 0.716961],
      [79, "m9", 0.739564, "m34", 0.704412],
      [99, "m24", 0.786049, "m23", 0.71892],
      [119, "m0", 0.830721, "m7", 0.727692],
    ]);
    expect(rounded).toEqual([-0.137845, 124, 120, 1.489234, 3.996187, 0.032458, 124]);
    const { evidence, advantage, vector } = known.state;
    expect(known.id).toBe("m12");
    expect([evidence, advantage, ...vector.slice(0, 4)].map((value) => Number(value.toFixed(5)))).toEqual([
      21.36315, 0.2305, -0.15448, 1.14848, 0.05353, -0.66198,
    ]);
  });
});
