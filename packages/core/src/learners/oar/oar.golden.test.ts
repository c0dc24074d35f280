import { describe, expect, it } from "vitest";
import {
  expectAgreement,
  plus,
  ReferenceMean,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
  sigmoid,
} from "../../../test/support/reference-model.js";
import { average, DIMS, dot, frozen, type Run, TOP_K, within } from "../../../test/support/stream.js";
import type { Learner } from "../../index.js";
import { oar } from "./oar.js";
import type { OarMemory, OarShared } from "./state.js";

interface Known {
  v: number[];
  rho: number;
  n: number;
  info: number;
  last: number;
}

/** Solves `a = τ (r − sigmoid(l + K a))` by so many Newton steps from 0. */
function solve(l: number, r: number, K: number, tau: number, steps: number): number {
  let a = 0;
  for (let i = 0; i < steps; i++) {
    const P = sigmoid(l + K * a);
    a += (tau * (r - P) - a) / (1 + K * tau * Math.max(0.05, P * (1 - P)));
  }
  return a;
}

/** The documented formulas again, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #known = new Map<string, Known>();
  readonly #mean = new ReferenceMean(0.9);
  #beta: number[] = new Array<number>(DIMS).fill(0);
  #bias = -0.3;
  #runs = 0;
  #voted = 0;
  /** Regression of surprises on the predictions by reputations (1) and by contexts (2), with its prior. */
  #sums = { a11: 0, a12: 0, a22: 0, h1: 0, h2: 0 };
  /** All rewards with their weights, which fade as the sums do. */
  #rewards: { r: number; tau: number }[] = [];

  score(retrieval: Retrieval): Map<string, number> {
    const { request, candidates } = retrieval;
    if (!candidates.some(({ id }) => this.#known.has(id))) {
      return new Map(candidates.map(({ id, similarity }) => [id, similarity]));
    }
    const z = this.#mean.centred(request);
    const scale = this.#spread.scale(retrieval);
    const similarities = candidates.map(({ similarity }) => similarity);
    const top = Math.max(...similarities);
    const low = average(similarities.slice(TOP_K));
    const relative = similarities.map((s) => within((s - low) / (top - low), 0, 1));
    const [R, C] = this.#gates();
    const votes = this.#voted / (this.#runs + 10);
    const expected = sigmoid(this.#bias + dot(this.#beta, z));
    const free = Math.max(0, 1 - expected / 0.25);
    const need = Math.max(0, 1 - expected / 0.6);
    const claims = relative.map((value) => value ** 2 + free * (1 - value ** 2));
    const most = Math.max(...candidates.map(({ id }, i) => (claims[i] as number) * this.#left(id) * this.#of(id).n));
    const utilities = new Map<string, number>();
    const scores = new Map(
      candidates.map(({ id, similarity }, i) => {
        const { v, rho, n: all } = this.#of(id);
        const n = this.#left(id) * all;
        const forgiven = this.#left(id) ** (1 / 3);
        const others = candidates.flatMap((other, j) => {
          const known = this.#of(other.id);
          const weight = ((relative[j] as number) ** 2 * known.n) / (known.n + 1);
          return j === i ? [] : [{ weight, y: dot(known.v, z) }];
        });
        const level =
          (Math.max(1 - free, Math.min(1, most / 60)) * others.reduce((sum, { weight, y }) => sum + weight * y, 0)) /
          (others.reduce((sum, { weight }) => sum + weight, 0) + 0.2);
        const y = dot(v, z);
        const sameSign = y * level > 0;
        const beyond = sameSign ? Math.sign(y) * Math.max(0, Math.abs(y) - Math.abs(level)) : y;
        const x = (all / (all + 1)) * beyond;
        const context = x > 0 ? (x * x) / Math.sqrt(dot(v, v)) / 0.6 : forgiven * x;
        const shift = 2.2 * (R * (rho > 0 ? rho : forgiven * rho) + C * context);
        const untried = ((claims[i] as number) * (most - n)) / ((most + 1) * (1 + n / 5));
        const needed = (0.3 * need * Math.sqrt(Math.min(16, most))) / (1 + n);
        const bonus = n < most ? 0.2 * (1 - 0.5 * votes) * (untried + needed) : 0;
        utilities.set(id, rho + y);
        return [id, similarity + scale * (Math.min(shift, 0.8) + Math.max(R, C) * bonus)];
      }),
    );
    return this.#apart(scores, utilities, scale * Math.max(R, C) * (1 - votes));
  }

  /** Share of the evidence that counts in the bonus. */
  #left(id: string): number {
    const { n, last } = this.#of(id);
    return Math.exp(-(this.#runs - last) / (1000 + (20 * last) / (n + 1)));
  }

  #gates(): readonly [number, number] {
    const { a11, a12, a22, h1, h2 } = this.#sums;
    const [A, B, D] = [a11 + 0.2, a12, a22 + 1.5];
    const det = A * D - B * B;
    const s1 = (D * (h1 + 0.1) - B * (h2 + 1.5)) / det;
    const s2 = (A * (h2 + 1.5) - B * (h1 + 0.1)) / det;
    const error1 = Math.sqrt((0.2 * D) / det);
    return [within((s1 - 0.3 * error1 - 0.3) / 0.4, 0, 1), within((s2 - 0.2) / 0.2, 0, 1)];
  }

  /** The list, chosen place by place: all remaining candidates are compared with all chosen ones. */
  #apart(
    scores: ReadonlyMap<string, number>,
    utilities: ReadonlyMap<string, number>,
    weight: number,
  ): Map<string, number> {
    const list = new Map<string, number>();
    const least = [...scores.values()].toSorted((a, b) => b - a)[TOP_K + 4] ?? Number.NEGATIVE_INFINITY;
    while (list.size < TOP_K) {
      const left = [...scores].filter(([id, score]) => score >= least && !list.has(id));
      const now = left.map(([id, score]): [string, number] => [
        id,
        score - weight * ((utilities.get(id) as number) > 0 ? 0 : this.#overlap(id, [...list.keys()])),
      ]);
      list.set(...now.reduce((best, one) => (one[1] > best[1] ? one : best)));
    }
    return list;
  }

  #overlap(id: string, shown: readonly string[]): number {
    const known = this.#known.get(id);
    const cosines = shown.map((other) => {
      const beside = this.#known.get(other);
      if (!known || !beside) return 0;
      return dot(known.v, beside.v) / Math.sqrt(dot(known.v, known.v) * dot(beside.v, beside.v));
    });
    return Math.max(0, ...cosines) ** 2 / (1 + (known?.n ?? 0) / 10);
  }

  learn(
    run: Run,
    _: readonly (readonly string[])[],
    relevance: readonly ReadonlyMap<string, number>[],
    votes: ReadonlyMap<string, number>,
  ): void {
    const { weight } = run;
    const reward = this.#scaled(run);
    this.#spread.observe(run);
    this.#runs += 1;
    const directions = this.#mean.meet(run);
    const share = 1 / directions.length;
    const parts = relevance.flatMap((weights, e) =>
      [...weights].map(([id, w]) => ({ id, z: directions[e] as number[], w: share * w })),
    );
    const contexts = parts.map(({ id, z }) => dot(this.#of(id).v, z));
    const before = parts.map(({ id }, i) => this.#of(id).rho + (contexts[i] as number));
    const base = this.#bias + average(directions.map((z) => dot(this.#beta, z)));
    const l1 = parts.reduce((sum, { id, w }) => sum + w * this.#of(id).rho, 0);
    const l2 = parts.reduce((sum, { w }, i) => sum + w * (contexts[i] as number), 0);
    const logit = base + l1 + l2;
    const [P0, P] = [sigmoid(base), sigmoid(logit)];
    const [d1, d2, e] = [sigmoid(base + l1) - P0, sigmoid(base + l2) - P0, reward - P0];
    const f = Math.exp((-weight * (P - P0) ** 2) / 15);
    this.#rewards = [...this.#rewards.map(({ r, tau }) => ({ r, tau: f * tau })), { r: run.reward, tau: weight }];
    const { a11, a12, a22, h1, h2 } = this.#sums;
    this.#sums = {
      a11: f * a11 + weight * d1 * d1,
      a12: f * a12 + weight * d1 * d2,
      a22: f * a22 + weight * d2 * d2,
      h1: f * h1 + weight * d1 * e,
      h2: f * h2 + weight * d2 * e,
    };
    if (votes.size > 0) this.#voted += 1;

    const suspicion = before.map((u) => Math.exp(within(-u / 0.5, -20, 20)));
    const total = parts.reduce((sum, { w }) => sum + w, 0);
    const suspected = parts.reduce((sum, { w }, i) => sum + w * (suspicion[i] as number), 0);
    const g = parts.map(({ w }, i) => w * (0.5 + (0.5 * (suspicion[i] as number) * total) / suspected));
    const k = parts.map(({ id }) => Math.max(0.5, 1.3 / (1 + 0.2 * this.#of(id).info)));
    const kappa = parts.map(({ id }) => Math.max(0.05, 1 / (1 / 0.07 + 0.5 * this.#of(id).info)));
    const kb = Math.max(0.15, 1.5 / (1 + this.#runs / 100));
    const K = parts.reduce(
      (sum, _, i) => sum + ((k[i] as number) + (kappa[i] as number)) * (g[i] as number) ** 2,
      0.1 + kb,
    );
    const a = solve(logit, reward, K, weight, 2);
    this.#bias += 0.1 * a;
    for (const z of directions) this.#beta = plus(this.#beta, kb * share * a, z);
    const information = weight * Math.max(0.05, P * (1 - P));
    parts.forEach(({ id, z, w }, i) => {
      if (w === 0) return;
      const known = this.#of(id);
      this.#known.set(id, known);
      const vote = votes.get(id) ?? 0;
      const part = (g[i] as number) * a * (votes.size > 0 && vote === 0 ? 0.5 : 1);
      const credit = vote > 0 ? Math.max(part, 0) : vote < 0 ? Math.min(part, 0) : part;
      const variance = (k[i] as number) + (kappa[i] as number);
      const moved = (before[i] as number) + variance * credit;
      const said = votes.size > 0 ? solve(moved, (1 + vote) / 2, variance, weight, 3) : 0;
      known.v = plus(known.v, (k[i] as number) * (credit + said), z);
      known.rho += (kappa[i] as number) * (credit + said);
      known.n += weight * w;
      known.info += information * (g[i] as number) ** 2;
      known.last = this.#runs;
    });
  }

  /** The reward, as far from the mean as if all rewards were bits; a success and a failure come before them. */
  #scaled({ reward }: Run): number {
    const all = [{ r: 1, tau: 1 }, { r: 0, tau: 1 }, ...this.#rewards];
    const total = all.reduce((sum, { tau }) => sum + tau, 0);
    const mean = all.reduce((sum, { r, tau }) => sum + tau * r, 0) / total;
    const variance = all.reduce((sum, { r, tau }) => sum + tau * (r - mean) ** 2, 0) / total;
    return within(mean + (reward - mean) * Math.sqrt((mean * (1 - mean)) / variance), 0, 1);
  }

  /** State of a memory; a new one is not kept. */
  #of(id: string): Known {
    return this.#known.get(id) ?? { v: new Array<number>(DIMS).fill(0), rho: 0, n: 0, info: 0, last: 0 };
  }
}

describe("oar@2", () => {
  it("scores as an independent float64 implementation of its formulas does, over 300 runs", async () => {
    await expectAgreement(oar(), new Reference(), { least: 0.02 });
  });

  it("gives the frozen numbers of this version", async () => {
    const { scores, shared, known } = await frozen<OarShared, OarMemory>(oar() as Learner);
    const { bias, steps, lessons, votedRuns, predicted } = shared;
    const { reputations, both, gateDenominator, reputationSurprise, gateNumerator } = shared;
    const { evidence, reputation, information, lastRun, vector } = known.state;
    const rounded = (values: readonly number[]): number[] => values.map((value) => Number(value.toFixed(5)));
    expect(scores).toEqual([
      [19, "m17", 0.716381, "m35", 0.680891],
      [39, "m3", 0.779226, "m24", 0.756282],
      [59, "m21", 0.917851, "m36", 0.715341],
      [79, "m9", 0.861622, "m24", 0.778282],
      [99, "m3", 0.946368, "m25", 0.702625],
      [119, "m12", 0.835137, "m31", 0.717571],
    ]);
    expect(rounded([bias, steps, lessons, votedRuns])).toEqual([-0.62108, 124, 120, 42]);
    expect(rounded([predicted, reputations, both, gateDenominator, reputationSurprise, gateNumerator])).toEqual([
      2.46358, 0.02045, 0.16098, 1.96468, 0.01257, 0.70158,
    ]);
    expect([known.id, ...rounded([evidence, reputation, information, lastRun, ...vector.slice(0, 4)])]).toEqual([
      "m12",
      24.99256,
      0.05246,
      3.83111,
      120,
      -0.14267,
      0.4305,
      -0.08053,
      -0.15869,
    ]);
  });
});
