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
import { average, DIMS, dot, frozen, type Run, TOP_K, within } from "../../core/test/support/stream.js";
import type { AdvantageVector } from "../src/advantage-vector.js";
import { jar } from "../src/jar.js";
import type { JarShared } from "../src/jar-model.js";

interface Logged {
  readonly parts: readonly {
    readonly z: readonly number[];
    readonly w: ReadonlyMap<string, number>;
    readonly votes: ReadonlyMap<string, number>;
  }[];
  readonly reward: number;
  readonly weight: number;
  readonly voteDuals: Map<string, number>;
  a: number;
}

/** The documented formulas again, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #mean = new ReferenceMean();
  readonly #v = new Map<string, number[]>();
  readonly #n = new Map<string, number>();
  readonly #log: Logged[] = [];
  readonly #revisits: number;
  #beta = new Array<number>(DIMS).fill(0);
  #bias = -0.3;
  #num = 1.2;
  #den = 1;
  #cursor = 0;

  constructor(revisits: number) {
    this.#revisits = revisits;
  }

  score(retrieval: Retrieval): Map<string, number> {
    const { request, candidates } = retrieval;
    // No candidate has a state: the host's order is kept.
    if (!candidates.some(({ id }) => this.#v.has(id))) return new Map(candidates.map((c) => [c.id, c.similarity]));
    const z = this.#mean.centred(request);
    const scale = this.#spread.scale(retrieval);
    const similarities = candidates.map(({ similarity }) => similarity);
    const top = Math.max(...similarities);
    const level = average(similarities.slice(TOP_K));
    return new Map(
      candidates.map(({ id, similarity }) => {
        const v = this.#v.get(id);
        const y = v ? dot(v, z) : 0;
        const shaped = v && y > 0 ? (y * (y / Math.sqrt(dot(v, v)))) / 0.4 : y;
        const learned = within(2.2 * this.#gate() * shaped, -1, 0.5);
        const fresh =
          (0.6 * within((similarity - level) / (top - level), 0, 1) ** 4) / (1 + (this.#n.get(id) ?? 0) / 5);
        return [id, similarity + scale * (learned + this.#gate() * fresh)];
      }),
    );
  }

  learn(
    run: Run,
    _: readonly (readonly string[])[],
    relevance: readonly ReadonlyMap<string, number>[],
    votes: ReadonlyMap<string, number>,
  ): void {
    const { reward, weight } = run;
    this.#spread.observe(run);
    const directions = this.#mean.meet(run);
    const parts = directions.map((z, e) => {
      const weights = [...(relevance[e] as ReadonlyMap<string, number>)];
      return { z, w: new Map(weights.map(([id, part]) => [id, part / directions.length])), votes };
    });
    const logged: Logged = { parts, reward, weight, voteDuals: new Map(), a: 0 };
    const expected = sigmoid(this.#base(logged));
    const u = sigmoid(this.#base(logged) + this.#memories(logged)) - expected;
    this.#num = 0.9995 * this.#num + weight * (reward - expected) * u;
    this.#den = 0.9995 * this.#den + weight * u * u;
    for (const { w } of parts) for (const [id, part] of w) this.#n.set(id, (this.#n.get(id) ?? 0) + weight * part);
    this.#log.push(logged);
    this.#visit(logged);
    for (let i = 0; i < Math.min(this.#revisits, this.#log.length); i++) {
      this.#cursor = (this.#cursor + 1) % this.#log.length;
      const next = this.#log[this.#cursor] as Logged;
      if (next !== logged) this.#visit(next);
    }
    this.#visit(logged);
  }

  #gate(): number {
    const n = this.#den + 0.5;
    return within((this.#num / n - 0.8 * Math.sqrt(0.2 / n)) / 0.12, 0, 1);
  }

  #vector(id: string): number[] {
    const known = this.#v.get(id) ?? new Array<number>(DIMS).fill(0);
    this.#v.set(id, known);
    return known;
  }

  #base({ parts }: Logged): number {
    return this.#bias + parts.reduce((sum, { z }) => sum + dot(this.#beta, z) / parts.length, 0);
  }

  #memories({ parts }: Logged): number {
    return parts.reduce(
      (sum, { z, w }) => sum + [...w].reduce((part, [id, weight]) => part + weight * dot(this.#vector(id), z), 0),
      0,
    );
  }

  #visit(run: Logged): void {
    const { parts, reward, weight } = run;
    const squares = parts.flatMap(({ w }) => [...w.values()]).reduce((sum, w) => sum + w * w, 0);
    const P = sigmoid(this.#base(run) + this.#memories(run));
    const d = (weight * (reward - P) - run.a) / (1 + (0.5 + 1 + squares) * weight * Math.max(0.05, P * (1 - P)));
    run.a += d;
    this.#bias += 0.5 * d;
    for (const { z, w } of parts) {
      this.#beta = this.#beta.map((value, i) => value + (d / parts.length) * (z[i] as number));
      for (const [id, part] of w) this.#add(id, part * d, z);
    }
    for (const { z, w, votes } of parts) {
      for (const [id, part] of w) {
        const vote = votes.get(id) ?? 0;
        if (vote === 0 || part === 0) continue;
        const p = sigmoid(dot(this.#vector(id), z));
        const before = run.voteDuals.get(id) ?? 0;
        const step = (weight * ((vote > 0 ? 1 : 0) - p) - before) / (1 + weight * Math.max(0.05, p * (1 - p)));
        run.voteDuals.set(id, before + step);
        this.#add(id, step, z);
      }
    }
  }

  #add(id: string, factor: number, z: readonly number[]): void {
    this.#v.set(id, plus(this.#vector(id), factor, z));
  }
}

describe("jar@1", () => {
  it.each([0, 5, 20])(
    "scores as an independent float64 implementation of its formulas does, over 300 runs with %i revisits",
    async (revisits) => {
      await expectAgreement(jar({ revisits }), new Reference(revisits));
    },
  );

  it("gives the frozen numbers of this version", async () => {
    const { scores, shared, known } = await frozen<JarShared, AdvantageVector>(jar());
    const { bias, steps, lessons, gateNumerator, gateDenominator } = shared;
    expect(scores).toEqual([
      [19, "m35", 0.843307, "m17", 0.822223],
      [39, "m24", 1.0247, "m5", 0.766095],
      [59, "m38", 0.834813, "m30", 0.81335],
      [79, "m29", 0.825897, "m11", 0.764303],
      [99, "m24", 0.896708, "m25", 0.843592],
      [119, "m7", 0.84995, "m31", 0.799626],
    ]);
    expect([bias, steps, lessons, gateNumerator, gateDenominator].map((value) => Number(value.toFixed(6)))).toEqual([
      -0.557499, 124, 120, 1.483015, 3.109409,
    ]);
    const { evidence, advantage, vector } = known.state;
    expect([
      known.id,
      ...[evidence, advantage, ...vector.slice(0, 4)].map((value) => Number(value.toFixed(5))),
    ]).toEqual(["m37", 19.06463, -0.07373, 0.09003, -0.05818, 0.11133, 0.19229]);
  });
});
