import { expect } from "vitest";
import type { Learner } from "../../src/index.js";
import { average, coarse, DIMS, dot, play, type Run, relevanceOf, stream, unit, votesOf } from "./stream.js";

/** One retrieval of a run. */
export type Retrieval = Run["exposures"][number];

/** A learner's documented formulas again, in float64, with plain arrays and nothing of the package. */
export interface ReferenceModel {
  /** Scores by id. */
  score(retrieval: Retrieval): ReadonlyMap<string, number>;
  /**
   * @param credited per retrieval: the memories shown that carry credit (the weaker showing of one memory carries none)
   * @param relevance per retrieval: the weight of each memory shown
   * @param votes 1 helpful, −1 harmful, by id
   */
  learn(
    run: Run,
    credited: readonly (readonly string[])[],
    relevance: readonly ReadonlyMap<string, number>[],
    votes: ReadonlyMap<string, number>,
  ): void;
}

/** How far learner and model are compared, and what the comparison must have moved to mean something. */
export interface Agreement {
  readonly runs?: number;
  /** Largest difference of a score. */
  readonly tolerance?: number;
  /** Learning must have moved some score by so much. */
  readonly least?: number;
}

/** Plays a stream and expects the engine to score every memory that it shows as the model does. */
export async function expectAgreement(
  learner: unknown,
  model: ReferenceModel,
  { runs: count = 300, tolerance = 1e-4, least = 0.05 }: Agreement = {},
): Promise<void> {
  const runs = stream(20_261_120, count);
  let compared = 0;
  let moved = 0;
  let shown: string[][] = [];
  await play(runs, learner as Learner, (run, exposure, items) => {
    const previous = runs[run - 1];
    if (exposure === 0 && previous) {
      const relevance = relevanceOf(previous.exposures, shown);
      const credited = relevance.map((weights) => [...weights].flatMap(([id, weight]) => (weight > 0 ? [id] : [])));
      model.learn(previous, credited, relevance, votesOf(previous, shown[0] as string[]));
      shown = [];
    }
    const retrieval = (runs[run] as Run).exposures[exposure] as Retrieval;
    const expected = model.score(retrieval);
    for (const { id, score, learned } of items) {
      expect(Math.abs(score - (expected.get(id) as number))).toBeLessThan(tolerance);
      compared += 1;
      moved = Math.max(moved, Math.abs(learned));
    }
    shown.push(items.map(({ id }) => id));
  });
  expect(compared).toBeGreaterThan(5 * count);
  // The agreement is about numbers that matter: learning moved scores far.
  expect(moved).toBeGreaterThan(least);
}

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** `a + factor · b`, a new array. */
export const plus = (a: readonly number[], factor: number, b: readonly number[]): number[] =>
  a.map((value, d) => value + factor * (b[d] as number));

/** Standard deviation of the candidates' similarities. */
function spreadOf({ candidates }: Retrieval): number {
  const similarities = candidates.map(({ similarity }) => similarity);
  return Math.sqrt(average(similarities.map((value) => (value - average(similarities)) ** 2)));
}

/** The mean request, and what is special about a request. */
export class ReferenceMean {
  readonly #part: number;
  #mean = new Array<number>(DIMS).fill(0);
  #steps = 0;

  /** @param part how much of the mean is taken away */
  constructor(part = 1) {
    this.#part = part;
  }

  /** Moves the mean by the run's requests, then gives the direction of each. */
  meet({ exposures }: Run): number[][] {
    for (const { request } of exposures) {
      this.#steps += 1;
      const rate = 1 / exposures.length / Math.min(this.#steps + 10, 500);
      this.#mean = plus(this.#mean, rate, plus(coarse(request), -1, this.#mean));
    }
    return exposures.map(({ request }) => coarse(this.centred(request)));
  }

  centred(request: readonly number[]): number[] {
    return unit(plus(coarse(request), -this.#part, this.#mean));
  }
}

/** The running spread of candidates' similarities. */
export class ReferenceSpread {
  #sigma = 0;
  #lists = 0;

  observe({ exposures }: Run): void {
    for (const retrieval of exposures) {
      this.#lists += 1;
      this.#sigma += (spreadOf(retrieval) - this.#sigma) / Math.min(this.#lists, 500);
    }
  }

  /** `σ'`: the spread over the reference spread of 0.1. */
  scale(retrieval: Retrieval): number {
    return (this.#lists > 0 ? this.#sigma : spreadOf(retrieval)) / 0.1;
  }
}

/** The online logistic baseline of reward on the request. */
export class ReferenceBaseline {
  #beta = new Array<number>(DIMS).fill(0);
  #bias = 0;
  #runs = 0;

  /** Counts a run and fades the vector, before anything is predicted. */
  begin({ exposures }: Run): void {
    this.#runs += 1;
    for (const _ of exposures) this.#beta = this.#beta.map((value) => value * (1 - 0.0002 / exposures.length));
  }

  /** Mean log-odds over the run's requests. */
  logit({ exposures }: Run): number {
    return average(exposures.map(({ request }) => this.#logitOf(request)));
  }

  /** `b`: mean expected success over the run's requests. */
  expected({ exposures }: Run): number {
    return average(exposures.map(({ request }) => sigmoid(this.#logitOf(request))));
  }

  /** Learns from `drift = weight · (reward − expected)`. */
  move({ exposures }: Run, drift: number): void {
    this.#bias += (0.5 / Math.sqrt(this.#runs)) * drift;
    for (const { request } of exposures) this.#beta = plus(this.#beta, drift / exposures.length, coarse(request));
  }

  #logitOf(request: readonly number[]): number {
    return this.#bias + dot(this.#beta, coarse(request));
  }
}
