import { describe, expect, it } from "vitest";
import {
  average,
  coarse,
  DIMS,
  dot,
  play,
  type Run,
  relevanceOf,
  stream,
  TOP_K,
  unit,
  votesOf,
  within,
} from "../../../test/support/stream.js";
import type { AdvantageVector } from "../advantage-vector.js";
import { jar } from "./jar.js";
import type { JarShared } from "./state.js";

// The documented formulas again, in float64, with plain arrays and nothing of the package.

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

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

class Reference {
  readonly v = new Map<string, number[]>();
  readonly n = new Map<string, number>();
  readonly log: Logged[] = [];
  readonly revisits: number;
  mean: number[] = new Array<number>(DIMS).fill(0);
  beta: number[] = new Array<number>(DIMS).fill(0);
  bias = -0.3;
  t = 0;
  num = 1.2;
  den = 1;
  sigma = 0;
  lists = 0;
  cursor = 0;

  constructor(revisits: number) {
    this.revisits = revisits;
  }

  vector(id: string): number[] {
    const known = this.v.get(id) ?? new Array<number>(DIMS).fill(0);
    this.v.set(id, known);
    return known;
  }

  gate(): number {
    const n = this.den + 0.5;
    return within((this.num / n - 0.8 * Math.sqrt(0.2 / n)) / 0.12, 0, 1);
  }

  score(request: readonly number[], candidates: Run["exposures"][number]["candidates"]): Map<string, number> {
    const z = unit(coarse(request).map((value, d) => value - (this.mean[d] as number)));
    const similarities = candidates.map(({ similarity }) => similarity);
    const own = Math.sqrt(average(similarities.map((value) => (value - average(similarities)) ** 2)));
    const scale = (this.lists > 0 ? this.sigma : own) / 0.1;
    const top = Math.max(...similarities);
    const level = average(similarities.slice(TOP_K));
    // Nothing is known of any of them: the host's order stands.
    if (!candidates.some(({ id }) => this.v.has(id))) return new Map(candidates.map((c) => [c.id, c.similarity]));
    return new Map(
      candidates.map(({ id, similarity }) => {
        const v = this.v.get(id);
        const y = v ? dot(v, z) : 0;
        const shaped = v && y > 0 ? (y * (y / Math.sqrt(dot(v, v)))) / 0.4 : y;
        const learned = within(2.2 * this.gate() * shaped, -1, 0.5);
        const fresh = (0.6 * within((similarity - level) / (top - level), 0, 1) ** 4) / (1 + (this.n.get(id) ?? 0) / 5);
        return [id, similarity + scale * (learned + this.gate() * fresh)];
      }),
    );
  }

  learn(
    { exposures, reward, weight }: Run,
    shown: readonly (readonly string[])[],
    votes: ReadonlyMap<string, number>,
  ): void {
    for (const { candidates } of exposures) {
      const similarities = candidates.map(({ similarity }) => similarity);
      this.lists += 1;
      const spread = Math.sqrt(average(similarities.map((value) => (value - average(similarities)) ** 2)));
      this.sigma += (spread - this.sigma) / Math.min(this.lists, 500);
    }
    const share = 1 / exposures.length;
    const weights = relevanceOf(exposures, shown);
    const parts = exposures.map(({ request }, e) => {
      const q = coarse(request);
      this.t += 1;
      const rate = share / Math.min(this.t + 10, 500);
      this.mean = this.mean.map((value, d) => value + rate * ((q[d] as number) - value));
      const z = coarse(q.map((value, d) => value - (this.mean[d] as number)));
      const w = new Map([...(weights[e] as ReadonlyMap<string, number>)].map(([id, weight]) => [id, share * weight]));
      return { z, w, votes };
    });
    const run: Logged = { parts, reward, weight, voteDuals: new Map(), a: 0 };
    const expected = sigmoid(this.base(run));
    const u = sigmoid(this.base(run) + this.memories(run)) - expected;
    this.num = 0.9995 * this.num + weight * (reward - expected) * u;
    this.den = 0.9995 * this.den + weight * u * u;
    for (const { w } of parts) for (const [id, part] of w) this.n.set(id, (this.n.get(id) ?? 0) + weight * part);
    this.log.push(run);
    this.visit(run);
    for (let i = 0; i < Math.min(this.revisits, this.log.length); i++) {
      this.cursor = (this.cursor + 1) % this.log.length;
      const next = this.log[this.cursor] as Logged;
      if (next !== run) this.visit(next);
    }
    this.visit(run);
  }

  base({ parts }: Logged): number {
    return this.bias + parts.reduce((sum, { z }) => sum + dot(this.beta, z) / parts.length, 0);
  }

  memories({ parts }: Logged): number {
    return parts.reduce(
      (sum, { z, w }) => sum + [...w].reduce((part, [id, weight]) => part + weight * dot(this.vector(id), z), 0),
      0,
    );
  }

  visit(run: Logged): void {
    const { parts, reward, weight } = run;
    const squares = parts.flatMap(({ w }) => [...w.values()]).reduce((sum, w) => sum + w * w, 0);
    const P = sigmoid(this.base(run) + this.memories(run));
    const d = (weight * (reward - P) - run.a) / (1 + (0.5 + 1 + squares) * weight * Math.max(0.05, P * (1 - P)));
    run.a += d;
    this.bias += 0.5 * d;
    for (const { z, w } of parts) {
      this.beta = this.beta.map((value, i) => value + (d / parts.length) * (z[i] as number));
      for (const [id, part] of w) this.add(id, part * d, z);
    }
    for (const { z, w, votes } of parts) {
      for (const [id, part] of w) {
        const vote = votes.get(id) ?? 0;
        if (vote === 0 || part === 0) continue;
        const p = sigmoid(dot(this.vector(id), z));
        const before = run.voteDuals.get(id) ?? 0;
        const step = (weight * ((vote > 0 ? 1 : 0) - p) - before) / (1 + weight * Math.max(0.05, p * (1 - p)));
        run.voteDuals.set(id, before + step);
        this.add(id, step, z);
      }
    }
  }

  add(id: string, factor: number, z: readonly number[]): void {
    this.v.set(
      id,
      this.vector(id).map((value, i) => value + factor * (z[i] as number)),
    );
  }
}

describe("jar@1", () => {
  it.each([0, 5, 20])(
    "scores as an independent float64 implementation of its formulas does, over 300 runs with %i revisits",
    async (revisits) => {
      const runs = stream(20_261_120, 300);
      const reference = new Reference(revisits);
      let compared = 0;
      let moved = 0;
      let shown: string[][] = [];
      const learnPrevious = (run: number): void => {
        const previous = runs[run - 1];
        if (!previous) return;
        reference.learn(previous, shown, votesOf(previous, shown[0] as string[]));
        shown = [];
      };
      await play(runs, jar({ revisits }), (run, exposure, items) => {
        if (exposure === 0) learnPrevious(run);
        const { request, candidates } = (runs[run] as Run).exposures[exposure] as Run["exposures"][number];
        const expected = reference.score(request, candidates);
        for (const { id, score, similarity } of items) {
          expect(Math.abs(score - (expected.get(id) as number))).toBeLessThan(1e-4);
          compared += 1;
          moved = Math.max(moved, Math.abs(score - similarity));
        }
        shown.push(items.map(({ id }) => id));
      });
      expect(compared).toBeGreaterThan(1_500);
      // The agreement is about numbers that matter: learning moved scores far.
      expect(moved).toBeGreaterThan(0.05);
    },
  );

  it("gives the frozen numbers of this version", async () => {
    const runs = stream(7, 120);
    const scores: (string | number)[][] = [];
    const { engine } = await play(runs, jar(), (run, exposure, items) => {
      if (exposure > 0 || run % 20 !== 19) return;
      scores.push([run, ...items.slice(0, 2).flatMap(({ id, score }) => [id, Number(score.toFixed(6))])]);
    });
    const { shared, memories } = (await engine.exportState()) as {
      shared: JarShared;
      memories: { id: string; state: AdvantageVector }[];
    };
    const { bias, steps, lessons, gateNumerator, gateDenominator } = shared;
    expect(scores).toEqual([
      [19, "m35", 0.843315, "m17", 0.822225],
      [39, "m24", 1.0247, "m5", 0.765893],
      [59, "m38", 0.834813, "m30", 0.81335],
      [79, "m29", 0.825897, "m11", 0.764303],
      [99, "m24", 0.896708, "m25", 0.843592],
      [119, "m7", 0.849825, "m31", 0.799822],
    ]);
    expect([bias, steps, lessons, gateNumerator, gateDenominator].map((value) => Number(value.toFixed(6)))).toEqual([
      -0.557483, 124, 120, 1.482694, 3.109196,
    ]);
    const [known] = memories.toSorted((a, b) => b.state.evidence - a.state.evidence) as [(typeof memories)[number]];
    const { evidence, advantage, vector } = known.state;
    expect([
      known.id,
      ...[evidence, advantage, ...vector.slice(0, 4)].map((value) => Number(value.toFixed(5))),
    ]).toEqual(["m37", 19.06463, -0.07479, 0.08986, -0.05782, 0.11158, 0.19207]);
  });
});
