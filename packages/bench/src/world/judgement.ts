import type { Request, World } from "./world.js";

/** How good a list of lessons is for a request, by the world's hidden truth. */
export interface Judgement {
  /** True probability that the run succeeds. */
  readonly success: number;
  /** Normalised discounted cumulative gain at k: helpful lessons of the need count 1, all others 0. In [0, 1]. */
  readonly ndcg: number;
  /** 1 if a misleading lesson of the request's need is among them, else 0. */
  readonly misleading: number;
}

/**
 * Judges the lessons shown for a request.
 *
 * nDCG@k = Σ gainᵢ / log₂(i + 1) over places i = 1 … k, divided by its value for an ideal list (Järvelin & Kekäläinen 2002).
 *
 * @param shown lesson ids, best first; places beyond the world's k are ignored.
 */
export function judge(world: World, request: Request, shown: readonly string[]): Judgement {
  const top = shown.slice(0, world.k);
  const own = top.map((lesson) => (world.needOf(lesson) === request.need ? world.quality(lesson) : "neutral"));
  const ideal = Math.min(world.helpful(request.need).length, world.k);
  let gain = 0;
  own.forEach((quality, place) => {
    if (quality === "helpful") gain += discount(place);
  });
  let best = 0;
  for (let place = 0; place < ideal; place++) best += discount(place);
  return {
    success: world.trueProbability(request.need, top),
    ndcg: best > 0 ? gain / best : 0,
    misleading: own.includes("misleading") ? 1 : 0,
  };
}

/** The mean of judgements, one per request. @param judgements at least one */
export function meanJudgement(judgements: readonly Judgement[]): Judgement {
  const average = (key: keyof Judgement): number =>
    judgements.reduce((sum, judgement) => sum + judgement[key], 0) / judgements.length;
  return { success: average("success"), ndcg: average("ndcg"), misleading: average("misleading") };
}

/**
 * The lessons an all-knowing ranker would show: a helpful one of the need first, then whatever does not mislead.
 *
 * @param candidates lesson ids to choose from, best similarity first
 */
export function oracle(world: World, need: number, candidates: readonly string[]): readonly string[] {
  const harmless = candidates.filter((lesson) => world.quality(lesson) !== "misleading");
  const helps = (lesson: string): boolean => world.needOf(lesson) === need && world.quality(lesson) === "helpful";
  return [...harmless.filter(helps), ...harmless.filter((lesson) => !helps(lesson))].slice(0, world.k);
}

function discount(place: number): number {
  return 1 / Math.log2(place + 2);
}
