import { relevanceWeights } from "../../credit/relevance.js";
import { sigmoid } from "../../scoring/bounds.js";
import { normalBelow } from "../../scoring/normal.js";
import { bestFirst } from "../../scoring/order.js";
import type { Control } from "../learner.js";
import * as OAR from "./parameters.js";
import { slopesOf } from "./regression.js";
import type { OarShared } from "./state.js";

/** A run's part of the regression of surprises on the advantages of learned orders, apart for both orders. */
export type WorthSums = readonly [heldSquares: number, heldProducts: number, squares: number, products: number];

/**
 * The sums of a run whose order was drawn by chance: `τ A²` and `τ A e`, rounded to float32.
 *
 * @param weight τ of the outcome
 * @param surprise e = r − P₀
 */
export function worthSums(weight: number, surprise: number, { advantage, held }: Control): WorthSums {
  const squares = Math.fround(weight * advantage * advantage);
  const products = Math.fround(weight * advantage * surprise);
  return held ? [squares, products, 0, 0] : [0, 0, squares, products];
}

/**
 * Success that the model expects of a list beyond the host's: `A = sigmoid(l₀ + Σ w u) − sigmoid(l₀ + Σ w u_host)`. Both have the relevance
 * weights w of the host's places, so that the place of a memory alone gives no advantage.
 *
 * @param base l₀
 * @param utilities u of all candidates, logits
 * @param scores by which the list is chosen
 */
export function advantageOf(
  base: number,
  similarities: Float64Array,
  utilities: Float64Array,
  scores: Float64Array,
  topK: number,
): number {
  const count = Math.min(topK, similarities.length);
  const weights = relevanceWeights([...similarities.subarray(0, count)], [...similarities.subarray(count)]);
  const chosen = bestFirst(scores, count);
  let host = base;
  let learned = base;
  weights.forEach((weight, place) => {
    host += weight * (utilities[place] as number);
    learned += weight * (utilities[chosen[place] as number] as number);
  });
  return sigmoid(learned) - sigmoid(host);
}

/**
 * Share of episodes that should show the host's order: the probability that learning is worth too little, by Thompson's rule (1933).
 *
 *     share = Φ((0.1 − β) / its standard error), rounded to twentieths, at most 0.9; 0.05 at least while Σ A² of the host's orders < 1;
 *     0 in the first 300 runs with an open gate
 *
 * β is the share of its expected advantage that learning gains. In runs whose order was drawn by chance, surprises are regressed on A and
 * on T, which is A where the learned order was shown and 0 where the host's was. The slope of A says how far an advantage marks easy
 * requests; the slope of T is β.
 *
 *     e = γ A + β T          prior γ ~ N(0, 0.2 / 1),  β ~ N(1, 0.2 / 0.3),  variance of e 0.2
 *
 * The prior of β is −1 where both gates are closed. One run in ten tries the learned order then, until that proves its worth; the host's
 * order alone could not show that the gates are wrong.
 *
 * @param isClosed both gates are 0
 */
export function hostShareOf(shared: OarShared, isClosed?: boolean): number {
  const { heldSquares, heldProducts, squares, products } = shared;
  if (!isClosed && shared.lessons < OAR.controlFrom) return 0;
  const a11 = heldSquares + squares + OAR.advantagePrior;
  const a22 = squares + OAR.worthPrior;
  const h2 = products + (isClosed ? -OAR.worthPrior : OAR.worthPrior);
  const [, worth] = slopesOf(a11, squares, a22, heldProducts + products, h2);
  const share = Math.round(normalBelow((OAR.leastWorth - worth.value) / worth.error) * 20) / 20;
  const least = heldSquares < OAR.controlEvidence ? OAR.leastControls : 0;
  return Math.min(OAR.mostControls, Math.max(least, share));
}
