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
  unit,
  votesOf,
  within,
} from "../../../test/support/stream.js";
import type { CavMemory, CavShared, Learner } from "../../index.js";
import { cav } from "./cav.js";

// The documented formulas again, in float64, with plain arrays and nothing of the package.

class Reference {
  readonly v = new Map<string, number[]>();
  readonly n = new Map<string, number>();
  mean: number[] = new Array<number>(DIMS).fill(0);
  beta: number[] = new Array<number>(DIMS).fill(0);
  bias = 0;
  t = 0;
  runs = 0;
  num = 2;
  den = 5;
  sigma = 0;
  lists = 0;

  u(id: string, z: readonly number[]): number {
    const v = this.v.get(id);
    return v ? dot(v, z) / ((this.n.get(id) as number) + 32) : 0;
  }

  score(request: readonly number[], candidates: Run["exposures"][number]["candidates"]): Map<string, number> {
    const z = unit(coarse(request).map((value, d) => value - (this.mean[d] as number)));
    const similarities = candidates.map(({ similarity }) => similarity);
    const own = Math.sqrt(average(similarities.map((value) => (value - average(similarities)) ** 2)));
    const scale = (this.lists > 0 ? this.sigma : own) / 0.1;
    const gate = 0.25 + 0.75 * Math.min(1, within(this.num / (this.den + 0.5), 0, 1) / 0.35);
    return new Map(
      candidates.map(({ id, similarity }) => [
        id,
        similarity + within(20 * scale * gate * this.u(id, z), -scale, scale),
      ]),
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
    this.runs += 1;
    const requests = exposures.map(({ request }) => coarse(request));
    const directions = requests.map((q) => {
      this.t += 1;
      const rate = share / Math.min(this.t + 10, 500);
      this.mean = this.mean.map((value, d) => value + rate * ((q[d] as number) - value));
      this.beta = this.beta.map((value) => value * (1 - 0.0002 * share));
      return coarse(q.map((value, d) => value - (this.mean[d] as number)));
    });
    const b = requests.reduce((sum, q) => sum + share / (1 + Math.exp(-(this.bias + dot(this.beta, q)))), 0);
    const U = weights.reduce(
      (sum, list, e) =>
        sum + share * [...list].reduce((part, [id, w]) => part + w * this.u(id, directions[e] as number[]), 0),
      0,
    );
    const g = reward - within(b + U, 0.02, 0.98);
    this.num = 0.998 * this.num + weight * (reward - b) * U;
    this.den = 0.998 * this.den + weight * U * U;
    const voted = votes.size > 0;
    this.bias += (0.5 / Math.sqrt(this.runs)) * weight * (reward - b);
    requests.forEach((q) => {
      this.beta = this.beta.map((value, d) => value + weight * share * (reward - b) * (q[d] as number));
    });
    weights.forEach((list, e) => {
      const z = directions[e] as number[];
      for (const [id, w] of list) {
        if (w === 0) continue;
        const vote = votes.get(id) ?? 0;
        const advantage = vote > 0 ? Math.max(g, 0) + 0.5 : vote < 0 ? Math.min(g, 0) - 0.5 : voted ? g / 2 : g;
        const v = this.v.get(id) ?? new Array<number>(DIMS).fill(0);
        this.v.set(
          id,
          v.map((value, d) => value + weight * share * w * advantage * (z[d] as number)),
        );
        this.n.set(id, (this.n.get(id) ?? 0) + weight * share * w);
      }
    });
  }
}

describe("cav@1", () => {
  it("scores as an independent float64 implementation of its formulas does, over 300 runs", async () => {
    const runs = stream(20_261_120, 300);
    const reference = new Reference();
    let compared = 0;
    let moved = 0;
    let shown: string[][] = [];
    const learnPrevious = (run: number): void => {
      const previous = runs[run - 1];
      if (!previous) return;
      const [first] = shown as [string[]];
      const votes = votesOf(previous, first);
      reference.learn(previous, shown, votes);
      shown = [];
    };
    await play(runs, cav() as Learner, (run, exposure, items) => {
      if (exposure === 0) learnPrevious(run);
      const { request, candidates } = (runs[run] as Run).exposures[exposure] as Run["exposures"][number];
      const expected = reference.score(request, candidates);
      for (const { id, score } of items) {
        expect(Math.abs(score - (expected.get(id) as number))).toBeLessThan(1e-4);
        compared += 1;
        moved = Math.max(
          moved,
          Math.abs(score - (candidates.find((candidate) => candidate.id === id)?.similarity ?? 0)),
        );
      }
      shown.push(items.map(({ id }) => id));
    });
    expect(compared).toBeGreaterThan(1_500);
    // The agreement is about numbers that matter: learning moved scores far.
    expect(moved).toBeGreaterThan(0.05);
  });

  it("gives the frozen numbers of this version", async () => {
    const runs = stream(7, 120);
    const scores: (string | number)[][] = [];
    const { engine } = await play(runs, cav() as Learner, (run, exposure, items) => {
      if (exposure > 0 || run % 20 !== 19) return;
      scores.push([run, ...items.slice(0, 2).flatMap(({ id, score }) => [id, Number(score.toFixed(6))])]);
    });
    const state = (await engine.exportState()) as { shared: CavShared; memories: { id: string; state: CavMemory }[] };
    const { shared, memories } = state;
    const { bias, steps, lessons, gateNumerator, gateDenominator, spread, spreadCount } = shared;
    const rounded = [bias, steps, lessons, gateNumerator, gateDenominator, spread, spreadCount].map((value) =>
      Number(value.toFixed(6)),
    );
    expect(scores).toEqual([
      [19, "m17", 0.716388, "m35", 0.68293],
      [39, "m24", 0.888285, "m5", 0.735964],
      [59, "m21", 0.739346, "m38", 0.716961],
      [79, "m9", 0.739327, "m34", 0.704357],
      [99, "m24", 0.785987, "m23", 0.718919],
      [119, "m0", 0.830771, "m7", 0.727691],
    ]);
    expect(rounded).toEqual([-0.137845, 124, 120, 1.489227, 3.996225, 0.032458, 124]);
    const [known] = memories.toSorted((a, b) => b.state.evidence - a.state.evidence) as [(typeof memories)[number]];
    const { evidence, advantage, vector } = known.state;
    expect(known.id).toBe("m12");
    expect([evidence, advantage, ...vector.slice(0, 4)].map((value) => Number(value.toFixed(5)))).toEqual([
      21.36315, 0.23045, -0.15449, 1.14848, 0.05354, -0.66196,
    ]);
  });
});
