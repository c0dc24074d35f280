import {
  addScaled,
  type Contribution,
  clamp,
  curvature,
  dequantise,
  dot,
  dualNumber,
  expectedLogit,
  kept,
  type Lesson,
  meetRequests,
  type ShownMemory,
  shareSurprise,
  sigmoid,
} from "@qavr/core/learner";
import { addSums, NO_SUMS, type Sums, sumsOf, takeSums } from "./evidence.js";
import { footprintOf } from "./footprint.js";
import { remainingVariance, scalarShare, scalarUtility } from "./formulas.js";
import { OAR1 } from "./parameters.js";
import { fadeUntil, type Oar1Memory, type Oar1Shared } from "./state.js";

type OarLesson = Lesson<Oar1Shared, Oar1Memory>;

/** Options of `oar` that concern learning. */
export interface OarRules {
  /** True when memories keep footprints. */
  readonly footprints: boolean;
  /** Ms after which half of the evidence is left; infinite: nothing fades. */
  readonly halfLife: number;
}

/** Evidence below this is a rounding error of a correction. */
const NO_EVIDENCE = 1e-9;

/** One memory of a run, with the model's numbers before the run. */
interface Part {
  readonly shown: ShownMemory<Oar1Memory>;
  readonly z: Float32Array | undefined;
  /** w: relevance times the exposure's share. */
  readonly weight: number;
  /** u = v · z. */
  readonly logit: number;
  /** k: its remaining prior variance. */
  readonly variance: number;
}

/** A run's additions to a memory: evidence, scalar advantage, information, and the coefficient along the direction. */
type Step = readonly [evidence: number, advantage: number, information: number, along: number];

/** A run's additions to the regressions of surprise on prediction. */
interface Judgement {
  readonly gate: Sums;
  readonly scalar: Sums;
}

const NOT_JUDGED: Judgement = { gate: NO_SUMS, scalar: NO_SUMS };

/** Predictions for a run, before its lesson. */
interface Predicted {
  /** P₀, for such a request, whatever is shown. */
  readonly expected: number;
  /** P, with the memories shown, by their vectors. */
  readonly byVectors: number;
  /** Pₛ, the same by their scalar advantages. */
  readonly byScalars: number;
  /** λ, share of the scalar advantages in the ranking. */
  readonly share: number;
}

/**
 * Learns from one finished run in one implicit step, which changes only the memories shown.
 *
 *     l₀ = Σ share (bias + baseline · z)        l = l₀ + Σ w u                  P₀ = sigmoid(l₀), P = sigmoid(l)
 *     Pₛ = clamp(P₀ + Σ w s / Σ w, 0, 1)        s = scalar advantage / (n + 5)
 *     p = P + λ (Pₛ − P)                        λ = Σ share · scalarShare, 1 for an exposure without a vector
 *     gate:    num = f num + τ (r − P₀)(p − P₀),  den = f den + τ (p − P₀)²          f = e^(−τ (p − P₀)² / 15)
 *     scalar:  num = f num + τ (r − P)(Pₛ − P),   den = f den + τ (Pₛ − P)²          f = e^(−τ (Pₛ − P)² / 15)
 *     g = shareSurprise(w, u)                   K = k₀ + k_b + Σ k g²
 *     a = dualNumber(l, r, K, τ)
 *     bias += k₀ share a,  baseline += k_b share a z,  v += k g a z
 *     information += 4 τ curvature(P) g²,  n += τ w,  scalar advantage += τ w (r − P₀)
 *
 * The gate judges the ranking's prediction p. A run without request vectors moves the sums of the gate alone.
 *
 * In a run with votes each vote is one more run of its memory alone, with the reward 1 (helped) or 0 (misled), and the memory takes
 * no part of a residual of the opposite sign. A memory without a vote takes half of its part and learns from one more run of its own
 * with the reward ½.
 */
export function learn(lesson: OarLesson, { footprints, halfLife }: OarRules): Contribution {
  const { exposures, reward, weight: trust, first, at } = lesson;
  for (const { shown } of exposures) for (const { memory } of shown) fadeUntil(memory, at, halfLife);
  const directions = meetRequests(exposures, first, OAR1.centring);
  const collections = new Set(exposures.map(({ shared }) => shared));
  if (first) for (const shared of collections) shared.lessons += 1;

  const parts = exposures.map(({ share, shown }, e) => shown.map((memory) => partOf(memory, share, directions[e]?.z)));
  const all = parts.flat();
  const base = exposures.reduce(
    (sum, { shared, share }, e) => sum + share * expectedLogit(shared, directions[e]?.z),
    0,
  );
  const whole = all.reduce((sum, { weight, logit }) => sum + weight * logit, base);
  const expected = sigmoid(base);
  const probability = sigmoid(whole);
  const weights = all.map(({ weight }) => weight);
  const isGood = reward === null || reward > probability;
  const shares = isGood
    ? weights
    : shareSurprise(
        weights,
        all.map(({ logit }) => logit),
        OAR1,
      );
  const directed = directions.some((direction) => direction !== undefined);
  let variance: number = OAR1.biasVariance + (directed ? OAR1.baselineVariance : 0);
  all.forEach((part, i) => {
    if (part.z) variance += part.variance * (shares[i] as number) ** 2;
  });
  const dual = reward === null ? 0 : dualNumber(whole, reward, variance, trust, OAR1.runSteps, OAR1);
  const information = reward === null ? 0 : 4 * trust * curvature(probability, OAR1);
  const surprise = reward === null ? 0 : trust * (reward - expected);
  const judged = judgementOf(lesson, directed, {
    expected,
    byVectors: probability,
    byScalars: predictByScalars(expected, all),
    share: exposures.reduce((sum, { shared, share }, e) => sum + share * (directions[e] ? scalarShare(shared) : 1), 0),
  });
  for (const shared of collections) {
    addSums(shared, "gate", judged.gate);
    addSums(shared, "scalar", judged.scalar);
  }

  let next = 0;
  return {
    exposures: exposures.map(({ shared, share, voted }, e) => {
      const direction = directions[e];
      // An episode counts once in a collection.
      const isFirst = collections.delete(shared);
      const own = isFirst ? judged : NOT_JUDGED;
      const votes = isFirst && voted ? 1 : 0;
      shared.votedRuns += votes;
      moveBaseline(shared, direction?.z, share * dual);
      return {
        direction: direction?.bytes,
        scalars: [share * dual, at, votes, ...own.gate, shared.gateSeen, ...own.scalar, shared.scalarSeen],
        memories: (parts[e] as Part[]).map((part): readonly number[] => {
          const blame = shares[next++] as number;
          const { memory, vote } = part.shown;
          if (part.weight === 0 || (reward === null && vote === 0)) return [];
          const credit = creditOf(blame * dual, vote, voted);
          const said = voted ? voteDual(part, vote, part.variance * credit, trust) : 0;
          const advantage = creditOf(part.weight * surprise, vote, voted) + said;
          const along = part.variance * (credit + said);
          const step: Step = [trust * part.weight, advantage, information * blame * blame, along];
          move(memory, step, part.z, 1, footprints);
          memory.lastRun = shared.lessons;
          return step;
        }),
      };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding. */
export function unlearn(
  { exposures }: OarLesson,
  contribution: Contribution,
  { footprints, halfLife }: OarRules,
): void {
  exposures.forEach(({ shared, shown }, e) => {
    const given = contribution.exposures[e];
    if (!given) return;
    const [dual = 0, at = 0, voted = 0, ...sums] = given.scalars;
    const [gateNumerator = 0, gateDenominator = 0, gateSeen = 0] = sums;
    const [scalarNumerator = 0, scalarDenominator = 0, scalarSeen = 0] = sums.slice(3);
    const z = given.direction && dequantise(given.direction);
    takeSums(shared, "gate", [gateNumerator, gateDenominator], gateSeen);
    takeSums(shared, "scalar", [scalarNumerator, scalarDenominator], scalarSeen);
    shared.votedRuns -= voted;
    moveBaseline(shared, z, -dual);
    shown.forEach(({ memory }, place) => {
      const [evidence, advantage = 0, information = 0, along = 0] = given.memories[place] ?? [];
      if (evidence === undefined) return;
      const left = kept(memory.at - at, halfLife);
      move(memory, [left * evidence, left * advantage, left * information, left * along], z, -1, footprints);
    });
  });
}

/** A memory's logit for a request, `u = v · z`; 0 when request and memory share no vector space. */
function memoryLogit({ vector }: Oar1Memory, z: Float32Array | undefined): number {
  return z && vector.length === z.length ? dot(vector, z) : 0;
}

function partOf(shown: ShownMemory<Oar1Memory>, share: number, z: Float32Array | undefined): Part {
  const { memory, weight } = shown;
  return {
    shown,
    z,
    weight: share * weight,
    logit: memoryLogit(memory, z),
    variance: remainingVariance(memory.information),
  };
}

/** Expected success of a run by the scalar advantages of its memories. */
function predictByScalars(expected: number, parts: readonly Part[]): number {
  let total = 0;
  let sum = 0;
  for (const { shown, weight } of parts) {
    total += weight;
    sum += weight * scalarUtility(shown.memory.advantage, shown.memory.evidence);
  }
  return total > 0 ? clamp(expected + sum / total, 0, 1) : expected;
}

/** @param directed true when any of the run's requests had a vector */
function judgementOf(
  { reward, weight }: OarLesson,
  directed: boolean,
  { expected, byVectors, byScalars, share }: Predicted,
): Judgement {
  if (reward === null) return NOT_JUDGED;
  return {
    gate: sumsOf(weight, reward, expected, byVectors + share * (byScalars - byVectors)),
    scalar: directed ? sumsOf(weight, reward, byVectors, byScalars) : NO_SUMS,
  };
}

/** A memory's part of a run's residual: all of it; half without a vote in a run with votes; none of it against its own vote. */
function creditOf(part: number, vote: -1 | 0 | 1, voted: boolean): number {
  if (vote > 0) return Math.max(part, 0);
  if (vote < 0) return Math.min(part, 0);
  return voted ? part * OAR1.unvotedShare : part;
}

/** @param moved change of the memory's logit by the run itself */
function voteDual({ logit, variance }: Part, vote: -1 | 0 | 1, moved: number, trust: number): number {
  return dualNumber(logit + moved, (1 + vote) / 2, variance, trust, OAR1.voteSteps, OAR1);
}

function moveBaseline(shared: Oar1Shared, z: Float32Array | undefined, dual: number): void {
  shared.bias += OAR1.biasVariance * dual;
  if (z && shared.baseline.length === z.length) addScaled(shared.baseline, OAR1.baselineVariance * dual, z);
}

function move(
  memory: Oar1Memory,
  [evidence, advantage, information, along]: Step,
  z: Float32Array | undefined,
  factor: 1 | -1,
  footprints: boolean,
): void {
  memory.evidence += factor * evidence;
  memory.advantage += factor * advantage;
  memory.information = Math.max(0, memory.information + factor * information);
  if (memory.evidence < NO_EVIDENCE) {
    memory.evidence = 0;
    memory.advantage = 0;
    memory.information = 0;
    memory.vector = new Float32Array(0);
    memory.footprint = new Float32Array(0);
    return;
  }
  if (!z) return;
  if (memory.vector.length === 0) memory.vector = new Float32Array(z.length);
  if (memory.vector.length !== z.length) return;
  addScaled(memory.vector, factor * along, z);
  if (!footprints) return;
  const near = footprintOf(z);
  if (memory.footprint.length === 0) memory.footprint = new Float32Array(near.length);
  if (memory.footprint.length === near.length) addScaled(memory.footprint, factor * evidence, near);
}
