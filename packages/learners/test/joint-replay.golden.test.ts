import { describe, expect, it } from "vitest";
import {
  expectAgreement,
  plus,
  ReferenceMean,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
  sigmoid,
} from "../../core/test/support/reference-model.js";
import { DIMS, dot, frozen, type Run } from "../../core/test/support/stream.js";
import type { AdvantageVector } from "../src/advantage-vector.js";
import type { JointReplayShared } from "../src/joint-replay.js";
import { jointReplay } from "../src/joint-replay.js";

const ZERO: readonly number[] = new Array<number>(DIMS).fill(0);

interface Logged {
  readonly parts: readonly { readonly z: readonly number[]; readonly relevance: ReadonlyMap<string, number> }[];
  readonly reward: number;
  readonly weight: number;
  /** Its coefficient in the vector of a memory, along z. */
  a: number;
}

/** The documented formulas again, in float64. Memories' vectors are summed from the log at each use. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #log: Logged[] = [];
  readonly #revisits: number;
  readonly #mean = new ReferenceMean(0.7);
  #beta = ZERO;
  #bias = 0;
  #cursor = 0;

  constructor(revisits: number) {
    this.#revisits = revisits;
  }

  score(retrieval: Retrieval): Map<string, number> {
    const scale = 0.6 * this.#spread.scale(retrieval);
    const z = this.#mean.centred(retrieval.request);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => [id, similarity + scale * dot(this.#vector(id), z)]),
    );
  }

  learn(run: Run, _: readonly (readonly string[])[], relevance: readonly ReadonlyMap<string, number>[]): void {
    this.#spread.observe(run);
    const parts = this.#mean.meet(run).map((z, e) => ({ z, relevance: relevance[e] as ReadonlyMap<string, number> }));
    const logged = { parts, reward: run.reward, weight: run.weight, a: 0 };
    this.#log.push(logged);
    this.#fit(logged);
    for (let i = 0; i < Math.min(this.#revisits, this.#log.length); i++) {
      this.#cursor = (this.#cursor + 1) % this.#log.length;
      const next = this.#log[this.#cursor] as Logged;
      if (next !== logged) this.#fit(next);
    }
    this.#fit(logged);
  }

  /** `v = Σ share w a z` over the memory's runs. */
  #vector(id: string): readonly number[] {
    return this.#log.reduce(
      (v, { parts, a }) =>
        parts.reduce((sum, { z, relevance }) => plus(sum, (a * (relevance.get(id) ?? 0)) / parts.length, z), v),
      ZERO,
    );
  }

  #fit(run: Logged): void {
    const { parts, reward, weight } = run;
    const logits = parts.map(({ z, relevance }) =>
      [...relevance].reduce((sum, [id, w]) => sum + w * dot(this.#vector(id), z), this.#bias + dot(this.#beta, z)),
    );
    const g = weight * (reward - sigmoid(logits.reduce((sum, logit) => sum + logit / parts.length, 0)));
    run.a += 0.3 * (g - 0.3 * run.a);
    this.#bias += 0.09 * g;
    this.#beta = this.#beta.map((value) => 0.994 * value);
    for (const { z } of parts) this.#beta = plus(this.#beta, (0.3 * g) / parts.length, z);
  }
}

describe("joint-replay@1", () => {
  it.each([0, 5, 12])(
    "scores as an independent float64 implementation of its formulas does, with %i revisits",
    async (revisits) => {
      await expectAgreement(jointReplay({ revisits }), new Reference(revisits), { runs: 150 });
    },
  );

  it("gives the frozen numbers of this version", async () => {
    const { shared, known } = await frozen<JointReplayShared, AdvantageVector>(jointReplay());
    const { bias, steps, lessons, fits } = shared;
    expect([bias, steps, lessons, fits].map((value) => Number(value.toFixed(6)))).toEqual([-0.993776, 124, 120, 1572]);
    const { evidence, advantage, vector } = known.state;
    expect([
      known.id,
      ...[evidence, advantage, ...vector.slice(0, 4)].map((value) => Number(value.toFixed(5))),
    ]).toEqual(["m14", 41.4, 2.49894, 0.18828, -0.62396, -0.43133, -0.1683]);
  });
});
