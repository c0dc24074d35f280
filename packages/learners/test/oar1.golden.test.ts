import type { Learner } from "@qavr/core";
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
import { oar1 } from "../src/oar1/oar1.js";
import type { Oar1Setting } from "../src/oar1/parameters.js";
import type { Oar1Memory, Oar1Shared } from "../src/oar1/state.js";

interface Known {
  v: number[];
  e: number[];
  n: number;
  adv: number;
  info: number;
  last: number;
}

const GUARDS: Readonly<Record<Oar1Setting, readonly [number, number] | undefined>> = {
  balanced: undefined,
  guard: [-2, -3],
  strict: [-1.5, -2.4],
};

/** Solves `a = τ (r − sigmoid(l + K a))` by so many Newton steps from 0. */
function solve(l: number, r: number, K: number, tau: number, steps: number): number {
  let a = 0;
  for (let i = 0; i < steps; i++) {
    const P = sigmoid(l + K * a);
    a += (tau * (r - P) - a) / (1 + K * tau * Math.max(0.05, P * (1 - P)));
  }
  return a;
}

interface Regression {
  num: number;
  den: number;
}

/** Adds a run with the prediction `to` and the expectation `from`. */
function regress(sums: Regression, weight: number, reward: number, from: number, to: number): void {
  const seen = weight * (to - from) ** 2;
  sums.num = Math.exp(-seen / 15) * sums.num + weight * (reward - from) * (to - from);
  sums.den = Math.exp(-seen / 15) * sums.den + seen;
}

function slope({ num, den }: Regression, prior: number, errors: number): number {
  return num / (den + prior) - errors * Math.sqrt(0.2 / (den + prior));
}

/** The documented formulas again, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #known = new Map<string, Known>();
  readonly #guard: readonly [number, number] | undefined;
  readonly #mean = new ReferenceMean(0.9);
  #beta: number[] = new Array<number>(DIMS).fill(0);
  #bias = -0.3;
  #runs = 0;
  #voted = 0;
  readonly #gate = { num: 0.9, den: 1 };
  readonly #scalar = { num: 0, den: 0 };

  constructor(setting: Oar1Setting) {
    this.#guard = GUARDS[setting];
  }

  score(retrieval: Retrieval): Map<string, number> {
    const { request, candidates } = retrieval;
    if (!candidates.some(({ id }) => this.#known.has(id))) {
      return new Map(candidates.map(({ id, similarity }) => [id, similarity]));
    }
    const z = this.#mean.centred(request);
    const scale = this.#spread.scale(retrieval);
    const similarities = candidates.map(({ similarity }) => similarity);
    const top = Math.max(...similarities);
    const level = average(similarities.slice(TOP_K));
    const relative = similarities.map((s) => within((s - level) / (top - level), 0, 1));
    const gate = within(slope(this.#gate, 0.5, 0.6) / 0.08, 0, 1);
    const lambda = within(slope(this.#scalar, 2, 0.3), 0, 1);
    const [boosts, penalties] = this.#openness(candidates, z, relative, (top - level) / scale);
    const votes = this.#voted / (this.#runs + 10);
    const scores = new Map(
      candidates.map(({ id, similarity }, i) => {
        const known = this.#known.get(id);
        const y = known ? dot(known.v, z) : 0;
        const usual = known ? known.adv / (known.n + 5) : 0;
        const forgiven = penalties * Math.exp(-(this.#runs - (known?.last ?? 0)) / 3000);
        const worth = known && y > 0 ? (boosts * y * y) / Math.sqrt(dot(known.v, known.v)) / 0.6 : forgiven * y;
        const usually = usual > 0 ? boosts * usual : forgiven * usual;
        const bonus = 0.6 * (1 - 0.5 * votes) * (relative[i] as number) ** 4;
        const learned =
          within(gate * ((1 - lambda) * 2.2 * worth + lambda * 3 * usually), -1, 0.8) +
          (gate * bonus) / (1 + (known?.n ?? 0) / 5);
        return [id, similarity + scale * learned];
      }),
    );
    return this.#apart(scores, z, scale * gate * (1 - votes) * (1 - lambda));
  }

  /** The list, chosen place by place: all remaining candidates are compared with all chosen ones. */
  #apart(scores: ReadonlyMap<string, number>, z: readonly number[], weight: number): Map<string, number> {
    const list = new Map<string, number>();
    const least = [...scores.values()].toSorted((a, b) => b - a)[TOP_K + 4] ?? Number.NEGATIVE_INFINITY;
    while (list.size < TOP_K) {
      const left = [...scores].filter(([id, score]) => score >= least && !list.has(id));
      const now = left.map(([id, score]): [string, number] => [
        id,
        score - weight * this.#overlap(id, z, [...list.keys()]),
      ]);
      list.set(...now.reduce((best, one) => (one[1] > best[1] ? one : best)));
    }
    return list;
  }

  #overlap(id: string, z: readonly number[], shown: readonly string[]): number {
    const known = this.#known.get(id);
    if (known && dot(known.v, z) > 0) return 0;
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
    const { reward, weight } = run;
    this.#spread.observe(run);
    this.#runs += 1;
    const directions = this.#mean.meet(run);
    const share = 1 / directions.length;
    const parts = relevance.flatMap((weights, e) =>
      [...weights].map(([id, w]) => ({ id, z: directions[e] as number[], w: share * w })),
    );
    const before = parts.map(({ id, z }) => dot(this.#of(id).v, z));
    const base = this.#bias + average(directions.map((z) => dot(this.#beta, z)));
    const P0 = sigmoid(base);
    const logit = parts.reduce((sum, { w }, i) => sum + w * (before[i] as number), base);
    const P = sigmoid(logit);
    const usual = parts.map(({ id, w }) => (w * this.#of(id).adv) / (this.#of(id).n + 5));
    const weights = parts.reduce((sum, { w }) => sum + w, 0);
    const Ps = within(P0 + usual.reduce((sum, u) => sum + u, 0) / weights, 0, 1);
    const lambda = within(slope(this.#scalar, 2, 0.3), 0, 1);
    regress(this.#gate, weight, reward, P0, P + lambda * (Ps - P));
    regress(this.#scalar, weight, reward, P, Ps);
    if (votes.size > 0) this.#voted += 1;

    const suspicion = before.map((u) => Math.exp(within(-u / 0.5, -20, 20)));
    const total = parts.reduce((sum, { w }) => sum + w, 0);
    const suspected = parts.reduce((sum, { w }, i) => sum + w * (suspicion[i] as number), 0);
    const g = parts.map(({ w }, i) =>
      reward > P ? w : w * (0.5 + (0.5 * (suspicion[i] as number) * total) / suspected),
    );
    const k = parts.map(({ id }) => 1.3 / (1 + 0.05 * this.#of(id).info));
    const K = parts.reduce((sum, _, i) => sum + (k[i] as number) * (g[i] as number) ** 2, 1.1);
    const a = solve(logit, reward, K, weight, 2);
    this.#bias += 0.1 * a;
    for (const z of directions) this.#beta = plus(this.#beta, share * a, z);
    const information = 4 * weight * Math.max(0.05, P * (1 - P));
    parts.forEach(({ id, z, w }, i) => {
      if (w === 0) return;
      const known = this.#of(id);
      const vote = votes.get(id) ?? 0;
      const part = (g[i] as number) * a * (votes.size > 0 && vote === 0 ? 0.5 : 1);
      const credit = vote > 0 ? Math.max(part, 0) : vote < 0 ? Math.min(part, 0) : part;
      const moved = (before[i] as number) + (k[i] as number) * credit;
      const said = votes.size > 0 ? solve(moved, (1 + vote) / 2, k[i] as number, weight, 3) : 0;
      known.v = plus(known.v, (k[i] as number) * (credit + said), z);
      known.e = plus(known.e, weight * w, z);
      known.n += weight * w;
      const felt = weight * w * (reward - P0) * (votes.size > 0 && vote === 0 ? 0.5 : 1);
      known.adv += said + (vote > 0 ? Math.max(felt, 0) : vote < 0 ? Math.min(felt, 0) : felt);
      known.info += information * (g[i] as number) ** 2;
      known.last = this.#runs;
    });
  }

  #of(id: string): Known {
    const zero = new Array<number>(DIMS).fill(0);
    const known = this.#known.get(id) ?? { v: zero, e: zero, n: 0, adv: 0, info: 0, last: 0 };
    this.#known.set(id, known);
    return known;
  }

  #openness(
    candidates: Retrieval["candidates"],
    z: readonly number[],
    relative: readonly number[],
    height: number,
  ): readonly [number, number] {
    if (!this.#guard) return [1, 1];
    let local = 0;
    let total = 0;
    candidates.forEach(({ id }, i) => {
      const weight = (relative[i] as number) ** 2.5;
      total += weight;
      const e = this.#known.get(id)?.e;
      const near = e ? dot(e, z) : 0;
      if (e && near > 0) local += weight * near * (near / Math.sqrt(dot(e, e))) ** 3;
    });
    const x = Math.log(local / total + 0.05) - 4 * height;
    return [within(x - this.#guard[0], 0, 1), within(x - this.#guard[1], 0, 1)];
  }
}

describe("oar@1", () => {
  it.each(["balanced", "guard", "strict"] as const)(
    "scores with the setting %s as an independent float64 implementation of its formulas does, over 300 runs",
    async (setting) => {
      await expectAgreement(oar1({ setting }), new Reference(setting), { least: 0.02 });
    },
  );

  it("gives the frozen numbers of this version", async () => {
    const { scores, shared, known } = await frozen<Oar1Shared, Oar1Memory>(oar1() as Learner);
    const { bias, steps, lessons, votedRuns, gateNumerator, gateDenominator, gateSeen } = shared;
    const { scalarNumerator, scalarDenominator, scalarSeen } = shared;
    const { evidence, advantage, information, lastRun, vector } = known.state;
    const rounded = (values: readonly number[]): number[] => values.map((value) => Number(value.toFixed(5)));
    expect(scores).toEqual([
      [19, "m35", 0.819032, "m17", 0.784031],
      [39, "m24", 1.102357, "m5", 0.753401],
      [59, "m36", 0.810011, "m30", 0.769033],
      [79, "m18", 0.878411, "m9", 0.78379],
      [99, "m3", 0.966488, "m24", 0.922537],
      [119, "m38", 0.886595, "m9", 0.744626],
    ]);
    expect(rounded([bias, steps, lessons, votedRuns])).toEqual([-0.5699, 124, 120, 42]);
    expect(rounded([gateNumerator, gateDenominator, gateSeen])).toEqual([1.07451, 2.54833, 1.75552]);
    expect(rounded([scalarNumerator, scalarDenominator, scalarSeen])).toEqual([0.94845, 0.82469, 0.84751]);
    expect([known.id, ...rounded([evidence, advantage, information, lastRun, ...vector.slice(0, 4)])]).toEqual([
      "m37",
      18.86168,
      1.9611,
      14.47414,
      115,
      0.20256,
      -0.11251,
      0.14529,
      0.13394,
    ]);
  });
});
