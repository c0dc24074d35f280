import type { Truth } from "./truth.js";
import type { Request, World } from "./world.js";

/** How good a list of lessons is for a request, by the world's hidden truth. */
export interface Judgement {
  /** True probability that the run succeeds. */
  readonly success: number;
  /** Normalised discounted cumulative gain at k: helpful lessons of a need of the request count 1, all others 0. In [0, 1]. */
  readonly ndcg: number;
  /** Share of the helpful lessons that could be shown which are shown. In [0, 1]. */
  readonly recall: number;
  /** 1 if a misleading lesson of a need of the request is among them, else 0. */
  readonly misleading: number;
}

/**
 * Judges the lessons shown for a request.
 *
 * nDCG@k = Σ gainᵢ / log₂(i + 1) over places i = 1 … k, divided by its value for an ideal list (Järvelin & Kekäläinen 2002).
 *
 * @param shown lesson ids, best first; places beyond the world's k are ignored.
 * @param truth what holds when it is judged. @default at the world's beginning
 */
export function judge(
  world: World,
  request: Request,
  shown: readonly string[],
  truth: Truth = world.truthAt(0),
): Judgement {
  const top = shown.slice(0, world.k);
  const own = top.map((lesson) => (request.needs.includes(world.needOf(lesson)) ? truth.quality(lesson) : "neutral"));
  const helpful = request.needs.reduce((sum, need) => sum + truth.helpful(need).length, 0);
  const ideal = Math.min(helpful, world.k);
  let gain = 0;
  let hits = 0;
  own.forEach((quality, place) => {
    if (quality !== "helpful") return;
    gain += discount(place);
    hits += 1;
  });
  let best = 0;
  for (let place = 0; place < ideal; place++) best += discount(place);
  return {
    success: truth.trueProbability(request.needs, top),
    ndcg: ideal > 0 ? gain / best : 0,
    recall: ideal > 0 ? hits / ideal : 0,
    misleading: own.includes("misleading") ? 1 : 0,
  };
}

/** The mean of judgements, one per request. @param judgements at least one */
export function meanJudgement(judgements: readonly Judgement[]): Judgement {
  const average = (key: keyof Judgement): number =>
    judgements.reduce((sum, judgement) => sum + judgement[key], 0) / judgements.length;
  return {
    success: average("success"),
    ndcg: average("ndcg"),
    recall: average("recall"),
    misleading: average("misleading"),
  };
}

function discount(place: number): number {
  return 1 / Math.log2(place + 2);
}
