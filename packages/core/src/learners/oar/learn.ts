import { dequantise } from "../../embedding/quantise.js";
import { sigmoid } from "../../scoring/bounds.js";
import { kept } from "../../scoring/half-life.js";
import { addScaled, dot } from "../../scoring/vectors.js";
import { curvature, dualNumber, shareSurprise } from "../implicit-step.js";
import type { Contribution, Lesson, ShownMemory } from "../learner.js";
import { expectedLogit, meetRequests } from "../request-model.js";
import { baselineVariance, reputationVariance, vectorVariance } from "./formulas.js";
import { addSums, NO_SUMS, type Sums, sumsOf, takeSums } from "./gates.js";
import * as OAR from "./parameters.js";
import { onOneScale } from "./reward-scale.js";
import { fadeUntil, type OarMemory, type OarShared } from "./state.js";
import { worthSums } from "./worth.js";

type OarLesson = Lesson<OarShared, OarMemory>;

/** Evidence below this is a rounding error of a correction. */
const NO_EVIDENCE = 1e-9;

/** One memory of a run, with the model's numbers before the run. */
interface Part {
  readonly shown: ShownMemory<OarMemory>;
  readonly z: Float32Array | undefined;
  /** w: relevance times the exposure's share. */
  readonly weight: number;
  /** y = v · z. */
  readonly logit: number;
  /** κ and k: the remaining prior variances of its reputation and of its vector; k is 0 without a request vector. */
  readonly reputationVariance: number;
  readonly vectorVariance: number;
}

/** A run's additions to a memory: evidence, reputation, information, and the coefficient along the direction. */
type Step = readonly [evidence: number, reputation: number, information: number, along: number];

/** A run's numbers of a collection: additions to the bias and, along the direction, to the baseline, and what the gates take. */
type Scalars = [step: number, along: number, at: number, voted: number, predicted: number, ...Sums];

/**
 * Learns from one finished run in one implicit step, which changes only the memories shown.
 *
 *     r = onOneScale(reward), by the rewards of the first exposure's collection
 *     l₀ = Σ share (bias + baseline · z)        l = l₀ + Σ w (ρ + v · z)
 *     P₀ = sigmoid(l₀)    P₁ = sigmoid(l₀ + Σ w ρ)    P₂ = sigmoid(l₀ + Σ w v · z)    P = sigmoid(l)
 *     gates:  the regression of r − P₀ on P₁ − P₀ and P₂ − P₀ takes one more run; that of the worth of learning, too, if its order was drawn
 *     g = shareSurprise(w, ρ + v · z)           K = k₀ + k_b + Σ (κ + k) g²
 *     a = dualNumber(l, r, K, τ)
 *     bias += k₀ share a,  baseline += k_b share a z,  ρ += κ g a,  v += k g a z
 *     information += τ curvature(P) g²,  n += τ w
 *
 * In a run with votes each vote is one more run of its memory alone, with the reward 1 (helped) or 0 (misled), and the memory takes
 * no part of a residual of the opposite sign. A memory without a vote takes half of its part and learns from one more run of its own
 * with the reward ½.
 *
 * Additions except evidence are rounded to float32, which halves the record that can take them back.
 *
 * @param halfLife ms after which half of the evidence is left; infinite: nothing fades
 */
export function learn(lesson: OarLesson, halfLife: number): Contribution {
  const { exposures, weight: trust, first, at } = lesson;
  const reward =
    lesson.reward === null ? null : onOneScale(lesson.reward, (exposures[0] as (typeof exposures)[0]).shared);
  for (const { shown } of exposures) for (const { memory } of shown) fadeUntil(memory, at, halfLife);
  const directions = meetRequests(exposures, first, OAR.centring);
  const collections = new Set(exposures.map(({ shared }) => shared));
  if (first) for (const shared of collections) shared.lessons += 1;

  const parts = exposures.map(({ share, shown }, e) => shown.map((memory) => partOf(memory, share, directions[e]?.z)));
  const all = parts.flat();
  const base = exposures.reduce(
    (sum, { shared, share }, e) => sum + share * expectedLogit(shared, directions[e]?.z),
    0,
  );
  const byReputations = all.reduce((sum, { weight, shown }) => sum + weight * shown.memory.reputation, 0);
  const byContexts = all.reduce((sum, { weight, logit }) => sum + weight * logit, 0);
  const whole = base + byReputations + byContexts;
  const expected = sigmoid(base);
  const probability = sigmoid(whole);
  const shares = shareSurprise(
    all.map(({ weight }) => weight),
    all.map(({ logit, shown }) => shown.memory.reputation + logit),
    OAR.STEP,
  );
  const baselines = exposures.map(({ shared }, e) => (directions[e] ? baselineVariance(shared) : 0));
  let variance = OAR.biasVariance + Math.max(0, ...baselines);
  all.forEach((part, i) => {
    variance += (part.reputationVariance + part.vectorVariance) * (shares[i] as number) ** 2;
  });
  const weight = reward === null ? 0 : trust;
  const dual = dualNumber(whole, reward ?? 0, variance, weight, OAR.runSteps, OAR.STEP);
  const information = weight * curvature(probability, OAR.STEP);
  const judged: Sums =
    reward === null
      ? NO_SUMS
      : sumsOf(
          trust,
          reward - expected,
          sigmoid(base + byReputations) - expected,
          sigmoid(base + byContexts) - expected,
          probability - expected,
          lesson.reward as number,
        );

  let next = 0;
  return {
    exposures: exposures.map(({ shared, share, control, voted }, e) => {
      const direction = directions[e];
      // An episode counts once in a collection.
      const isFirst = collections.delete(shared);
      const votes = isFirst && voted ? 1 : 0;
      shared.votedRuns += votes;
      const worth = control && reward !== null ? worthSums(share * trust, reward - expected, control) : [];
      const sums: Sums = [...(isFirst ? judged : NO_SUMS), ...worth] as Sums;
      addSums(shared, sums);
      const step = Math.fround(share * dual);
      const along = Math.fround((baselines[e] as number) * step);
      moveBaseline(shared, direction?.z, step, along);
      return {
        direction: direction?.bytes,
        scalars: [step, along, at, votes, shared.predicted, ...sums] satisfies Scalars,
        memories: (parts[e] as Part[]).map((part): readonly number[] => {
          const blame = shares[next++] as number;
          const { memory, vote } = part.shown;
          if (part.weight === 0 || (reward === null && vote === 0)) return [];
          const credit = creditOf(blame * dual, vote, voted);
          const taught = credit + (voted ? voteDual(part, vote, credit, trust) : 0);
          const additions: Step = [
            trust * part.weight,
            Math.fround(part.reputationVariance * taught),
            Math.fround(information * blame * blame),
            Math.fround(part.vectorVariance * taught),
          ];
          move(memory, additions, part.z, 1);
          memory.lastRun = shared.lessons;
          return additions;
        }),
      };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding. */
export function unlearn({ exposures }: OarLesson, contribution: Contribution, halfLife: number): void {
  // The last first: what a collection forgot by its first exposure, it forgot before it learned from the others.
  for (const [e, { shared, shown }] of [...exposures.entries()].reverse()) {
    const given = contribution.exposures[e];
    if (!given) continue;
    const [step, along, at, voted, predicted, ...sums] = given.scalars as Scalars;
    const z = given.direction && dequantise(given.direction);
    takeSums(shared, sums, predicted);
    shared.votedRuns -= voted;
    moveBaseline(shared, z, -step, -along);
    shown.forEach(({ memory }, place) => {
      const additions = given.memories[place] ?? [];
      if (additions.length === 0) return;
      const left = kept(memory.at - at, halfLife);
      move(memory, additions.map((value) => left * value) as unknown as Step, z, -1);
    });
  }
}

function partOf(shown: ShownMemory<OarMemory>, share: number, z: Float32Array | undefined): Part {
  const { memory, weight } = shown;
  return {
    shown,
    z,
    weight: share * weight,
    // 0 when request and memory share no vector space.
    logit: z && memory.vector.length === z.length ? dot(memory.vector, z) : 0,
    reputationVariance: reputationVariance(memory.information),
    vectorVariance: z ? vectorVariance(memory.information) : 0,
  };
}

/** A memory's part of a run's residual: all of it; half without a vote in a run with votes; none of it against its own vote. */
function creditOf(part: number, vote: -1 | 0 | 1, voted: boolean): number {
  if (vote > 0) return Math.max(part, 0);
  if (vote < 0) return Math.min(part, 0);
  return voted ? part * OAR.unvotedShare : part;
}

/** The dual number of a vote: one more run of the memory alone, after it took its credit of the run. */
function voteDual(part: Part, vote: -1 | 0 | 1, credit: number, trust: number): number {
  const variance = part.reputationVariance + part.vectorVariance;
  const logit = part.shown.memory.reputation + part.logit + variance * credit;
  return dualNumber(logit, (1 + vote) / 2, variance, trust, OAR.voteSteps, OAR.STEP);
}

function moveBaseline(shared: OarShared, z: Float32Array | undefined, step: number, along: number): void {
  shared.bias += OAR.biasVariance * step;
  if (z && shared.baseline.length === z.length) addScaled(shared.baseline, along, z);
}

function move(
  memory: OarMemory,
  [evidence, reputation, information, along]: Step,
  z: Float32Array | undefined,
  factor: 1 | -1,
): void {
  memory.evidence += factor * evidence;
  memory.reputation += factor * reputation;
  memory.information = Math.max(0, memory.information + factor * information);
  if (memory.evidence < NO_EVIDENCE) {
    memory.evidence = 0;
    memory.reputation = 0;
    memory.information = 0;
    memory.vector = new Float32Array(0);
    return;
  }
  if (!z) return;
  if (memory.vector.length === 0) memory.vector = new Float32Array(z.length);
  if (memory.vector.length === z.length) addScaled(memory.vector, factor * along, z);
}
