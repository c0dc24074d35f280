import { dequantise } from "../../embedding/quantise.js";
import { sigmoid } from "../../scoring/bounds.js";
import { countable } from "../../scoring/countable.js";
import { addScaled } from "../../scoring/vectors.js";
import { type AdvantageVector, addAlong, memoryLogit } from "../advantage-vector.js";
import type { Contribution, Lesson, LessonExposure } from "../learner.js";
import { expectedLogit } from "../request-baseline.js";
import { meetRequests } from "../request-model.js";
import { JOINT_REPLAY } from "./parameters.js";
import type { JointReplayShared } from "./state.js";

type ReplayLesson = Lesson<JointReplayShared, AdvantageVector>;
type ReplayExposure = LessonExposure<JointReplayShared, AdvantageVector>;
type Directions = readonly (Float32Array | undefined)[];

/** What one more fit leaves of the baseline's vector. */
const BASELINE_KEEP = 1 - JOINT_REPLAY.rate * JOINT_REPLAY.baselinePrior;

/** Learns from one finished run: meets its requests, counts the evidence (`n += τ` for each memory with credit), and fits it. */
export function learn(lesson: ReplayLesson): Contribution {
  const { exposures, reward, weight, first } = lesson;
  if (first) for (const shared of new Set(exposures.map((exposure) => exposure.shared))) shared.lessons += 1;
  const directions = meetRequests(exposures, first, JOINT_REPLAY.centring);
  const evidence = reward === null ? 0 : countable(weight);
  const contribution: Contribution = {
    exposures: exposures.map((exposure, i) => {
      const direction = directions[i];
      return {
        direction: direction?.bytes,
        scalars: [],
        memories: exposure.shown.map(({ memory, weight: relevance }) => {
          if (evidence === 0 || relevance === 0) return [];
          addAlong(memory, evidence, 0, direction?.z);
          return [evidence];
        }),
      };
    }),
  };
  return refit(lesson, contribution);
}

/**
 * One step of gradient ascent on a run's part of the log posterior, for a new run or an old one.
 *
 *     p = sigmoid(Σ share (bias + baseline · z + Σ w v · z))          g = τ (r − p)
 *     d = 0.3 (g − 0.3 a),   a += d,   v += share w d z
 *     bias += 0.09 share g,   baseline = 0.994^share baseline,   baseline += 0.3 share g z
 *
 * A memory's vector is `v = Σ share w a z` over its runs, so that shrinking each run's own coefficient a at its visits shrinks v as
 * its prior asks, and leaves a run with what it contributed and nothing else: at rest `a = g / 0.3`, the maximum of the posterior.
 */
export function refit(lesson: ReplayLesson, contribution: Contribution): Contribution {
  const { exposures, reward, weight } = lesson;
  if (reward === null) return contribution;
  const { rate, memoryPrior, biasShare } = JOINT_REPLAY;
  const z = directionsOf(contribution);
  const ascent = rate * weight * (reward - sigmoid(logitOf(exposures, z)));
  const [before = 0] = contribution.exposures[0]?.scalars ?? [];
  const step = ascent - rate * memoryPrior * before;
  fadeBaselines(exposures);
  addToMemories(exposures, z, step);
  return {
    exposures: exposures.map(({ shared, share }, i) => {
      const { direction, memories, scalars = [] } = contribution.exposures[i] ?? { direction: undefined, memories: [] };
      const [, bias = 0] = scalars;
      const left = baselineLeft(shared, scalars);
      const added = share * ascent;
      shared.bias += biasShare * added;
      addToBaseline(shared, added, z[i]);
      return { direction, scalars: [before + step, bias + biasShare * added, left + added, shared.fits], memories };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding. */
export function unlearn({ exposures }: ReplayLesson, contribution: Contribution): void {
  const z = directionsOf(contribution);
  const [coefficient = 0] = contribution.exposures[0]?.scalars ?? [];
  addToMemories(exposures, z, -coefficient);
  exposures.forEach(({ shared, shown }, i) => {
    const { scalars, memories } = contribution.exposures[i] ?? { scalars: [], memories: [] };
    const [, bias = 0] = scalars;
    shared.bias -= bias;
    addToBaseline(shared, -baselineLeft(shared, scalars), z[i]);
    shown.forEach(({ memory }, place) => {
      const [evidence = 0] = memories[place] ?? [];
      if (evidence > 0) addAlong(memory, -evidence, 0, undefined);
    });
  });
}

function directionsOf({ exposures }: Contribution): Directions {
  return exposures.map(({ direction }) => direction && dequantise(direction));
}

function logitOf(exposures: readonly ReplayExposure[], z: Directions): number {
  return exposures.reduce((sum, { shared, share, shown }, i) => {
    const memories = shown.reduce((part, { memory, weight }) => part + weight * memoryLogit(memory, z[i]), 0);
    return sum + share * (expectedLogit(shared, z[i]) + memories);
  }, 0);
}

function addToMemories(exposures: readonly ReplayExposure[], z: Directions, step: number): void {
  exposures.forEach(({ share, shown }, i) => {
    for (const { memory, weight } of shown) if (weight > 0) addAlong(memory, 0, share * weight * step, z[i]);
  });
}

function fadeBaselines(exposures: readonly ReplayExposure[]): void {
  for (const { shared, share } of exposures) {
    shared.fits += share;
    addScaled(shared.baseline, BASELINE_KEEP ** share - 1, shared.baseline);
  }
}

function addToBaseline({ baseline }: JointReplayShared, step: number, z: Float32Array | undefined): void {
  if (z && baseline.length === z.length) addScaled(baseline, step, z);
}

/** What later fits have left of an exposure's part of the baseline. */
function baselineLeft({ fits }: JointReplayShared, [, , added = 0, then = 0]: readonly number[]): number {
  return added * BASELINE_KEEP ** (fits - then);
}
