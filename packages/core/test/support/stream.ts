import type { Learner, OutcomeInput, RankedItem } from "../../src/index.js";
import { exportState } from "../../src/maintenance/index.js";
import { seededRandom } from "./random.js";
import { testEngine } from "./test-engine.js";

export const DIMS = 16;
const MEMORIES = 40;
export const TOP_K = 5;

/** One run of a stream: two retrievals now and then, an outcome of one tier or another, votes in some. */
export interface Run {
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

export function stream(seed: number, runs: number): Run[] {
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

/** Runs a stream through the public engine, always in the learned order, and calls `check` with every ranking. */
export async function play(
  runs: readonly Run[],
  learner: Learner | undefined,
  check: (run: number, exposure: number, items: readonly RankedItem[]) => void,
): Promise<ReturnType<typeof testEngine>> {
  const tested = testEngine({ holdout: 0, ...(learner ? { learner } : {}) });
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

/** Results of a fixed stream: the two best scores of every twentieth run, and the state with the best known memory. */
export async function frozen<Shared, Memory extends { readonly evidence: number }>(
  learner: Learner,
): Promise<{
  readonly scores: readonly (readonly (string | number)[])[];
  readonly shared: Shared;
  readonly known: { readonly id: string; readonly state: Memory };
}> {
  const scores: (string | number)[][] = [];
  const { engine } = await play(stream(7, 120), learner, (run, exposure, items) => {
    if (exposure > 0 || run % 20 !== 19) return;
    scores.push([run, ...items.slice(0, 2).flatMap(({ id, score }) => [id, Number(score.toFixed(6))])]);
  });
  const { shared, memories } = (await exportState(engine)) as unknown as {
    readonly shared: Shared;
    readonly memories: readonly { readonly id: string; readonly state: Memory }[];
  };
  const [known] = memories.toSorted((a, b) => b.state.evidence - a.state.evidence) as [(typeof memories)[number]];
  return { scores, shared, known };
}

// Arithmetic in float64, with plain arrays and nothing of the package, for implementations to compare with.

export const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
export const unit = (a: readonly number[]): number[] => a.map((value) => value / (Math.hypot(...a) || 1));
export const within = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
export const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
/** A direction in signed bytes, as a unit vector. */
export const coarse = (a: readonly number[]): number[] => {
  const greatest = Math.max(...a.map(Math.abs));
  return unit(a.map((value) => Math.round((value / greatest) * 127)));
};

/** Relevance weights of the memories that a run showed, by id, one map per exposure. */
export function relevanceOf(
  exposures: Run["exposures"],
  shown: readonly (readonly string[])[],
): readonly ReadonlyMap<string, number>[] {
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
  return weights;
}

/** Votes of a run on the memories that its first list showed. */
export function votesOf({ helpful, harmful }: Run, first: readonly string[]): ReadonlyMap<string, number> {
  return new Map([
    ...harmful.map((place) => [first[place] as string, -1] as const),
    ...helpful.map((place) => [first[place] as string, 1] as const),
  ]);
}
