import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../test/support/random.js";
import { testEngine } from "../../../test/support/test-engine.js";
import type { CavMemory, CavShared, OutcomeInput } from "../../index.js";

const DIMS = 16;
const MEMORIES = 40;
const TOP_K = 5;

/** One run of a stream: two retrievals now and then, an outcome of one tier or another, votes in some. */
interface Run {
  readonly exposures: readonly {
    readonly request: number[];
    readonly candidates: readonly { id: string; similarity: number }[];
  }[];
  readonly reward: number;
  readonly weight: number;
  /** Places in the first list that was shown. */
  readonly helpful: readonly number[];
  readonly harmful: readonly number[];
}

function stream(seed: number, runs: number): Run[] {
  const random = seededRandom(seed);
  const homes = Array.from({ length: MEMORIES }, () => random.direction(DIMS));
  const needs = Array.from({ length: 12 }, () => random.direction(DIMS));
  const exposure = (): Run["exposures"][number] => {
    const need = needs[random.below(needs.length)] as number[];
    const request = need.map((value) => Math.fround(value + 0.15 * random.normal()));
    const candidates = homes
      .map((home, i) => ({
        id: `m${i}`,
        similarity: Math.fround(0.6 + 0.2 * home.reduce((sum, value, d) => sum + value * (request[d] as number), 0)),
      }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, 20);
    return { request, candidates };
  };
  return Array.from({ length: runs }, () => ({
    exposures: random.next() < 0.1 ? [exposure(), exposure()] : [exposure()],
    reward: [0, 1, Math.round(random.next() * 100) / 100][random.below(3)] as number,
    weight: random.next() < 0.2 ? 0.3 : 1,
    helpful: random.next() < 0.2 ? [random.below(TOP_K)] : [],
    harmful: random.next() < 0.1 ? [random.below(TOP_K)] : [],
  }));
}

/** Runs a stream through the public engine, and calls `check` with every ranking. */
async function play(
  runs: readonly Run[],
  check: (run: number, exposure: number, items: readonly { id: string; score: number; utility: number }[]) => void,
): Promise<ReturnType<typeof testEngine>> {
  const tested = testEngine();
  const { engine } = tested;
  for (const [r, { exposures, reward, weight, helpful, harmful }] of runs.entries()) {
    let episode: string | undefined;
    let first: readonly { readonly id: string }[] = [];
    for (const [e, { request, candidates }] of exposures.entries()) {
      const ranking = await engine.rank({ ...(episode ? { episode } : {}), vector: request, candidates, topK: TOP_K });
      episode = ranking.episode;
      if (e === 0) first = ranking.items;
      check(r, e, ranking.items);
    }
    const ids = (places: readonly number[]): string[] => places.map((place) => (first[place] as { id: string }).id);
    const outcome: OutcomeInput = { reward, weight, helpful: ids(helpful), harmful: ids(harmful) };
    await engine.end(episode as string, outcome);
  }
  return tested;
}

// ── The documented formulas again, in float64, with plain arrays and nothing of the package ─────────────────────────────

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
const unit = (a: readonly number[]): number[] => a.map((value) => value / (Math.hypot(...a) || 1));
const within = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
/** A direction in signed bytes, as a unit vector. */
const coarse = (a: readonly number[]): number[] => {
  const greatest = Math.max(...a.map(Math.abs));
  return unit(a.map((value) => Math.round((value / greatest) * 127)));
};

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
    const weights = exposures.map(({ candidates }, e) => {
      const of = new Map(candidates.map(({ id, similarity }) => [id, similarity]));
      const ids = shown[e] as readonly string[];
      const level = average(candidates.filter(({ id }) => !ids.includes(id)).map(({ similarity }) => similarity));
      const top = Math.max(...ids.map((id) => of.get(id) as number));
      return new Map(
        ids.map((id) => {
          const relevance = ((of.get(id) as number) - level) / (top - level);
          return [id, top > level ? within(relevance, 0.2, 1) ** 0.7 : 1];
        }),
      );
    });
    // A memory that both lists showed counts where its weight is largest.
    for (const id of weights[1]?.keys() ?? []) {
      const [first, second] = weights as [Map<string, number>, Map<string, number>];
      const before = first.get(id);
      if (before === undefined) continue;
      if ((second.get(id) as number) > before) first.set(id, 0);
      else second.set(id, 0);
    }
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
      const votes = new Map([
        ...previous.harmful.map((place) => [first[place] as string, -1] as const),
        ...previous.helpful.map((place) => [first[place] as string, 1] as const),
      ]);
      reference.learn(previous, shown, votes);
      shown = [];
    };
    await play(runs, (run, exposure, items) => {
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
    const { engine } = await play(runs, (run, exposure, items) => {
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
