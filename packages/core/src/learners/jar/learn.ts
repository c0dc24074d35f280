import { dequantise } from "../../embedding/quantise.js";
import { sigmoid } from "../../scoring/bounds.js";
import { addScaled } from "../../scoring/vectors.js";
import { type AdvantageVector, addAlong, memoryLogit } from "../advantage-vector.js";
import type { Contribution, Lesson, LessonExposure } from "../learner.js";
import { expectedLogit } from "../request-baseline.js";
import { meetRequests } from "../request-model.js";
import { meet } from "./familiarity.js";
import { dualStep } from "./formulas.js";
import { JAR, type JarSettingNumbers } from "./parameters.js";
import type { JarShared } from "./state.js";

type JarLesson = Lesson<JarShared, AdvantageVector>;
type JarExposure = LessonExposure<JarShared, AdvantageVector>;

/**
 * Learns from one finished run: judges the gate by what was predicted for it, counts the evidence, and fits the run.
 *
 *     P₀ = sigmoid(Σ share (bias + baseline · z))        u = sigmoid(P₀'s logit + Σ share w v · z) − P₀
 *     num = 0.9995 num + τ (r − P₀) u,  den = 0.9995 den + τ u²
 *     n += τ · share · w
 */
export function learn(lesson: JarLesson, { familiarity }: JarSettingNumbers): Contribution {
  const { exposures, reward, weight, first } = lesson;
  const directions = meetRequests(exposures, first);
  const expected = sigmoid(baseLogit(exposures, (i) => directions[i]?.z));
  const whole = baseLogit(exposures, (i) => directions[i]?.z) + memoriesLogit(exposures, (i) => directions[i]?.z);
  const advantage = sigmoid(whole) - expected;
  const judged = new Set<JarShared>();
  const contribution: Contribution = {
    exposures: exposures.map((exposure, i) => {
      const { shared, share, shown } = exposure;
      const direction = directions[i];
      // Every collection of a run judges its gate once, by the whole run.
      const judges = reward !== null && !judged.has(shared);
      const numerator = judges ? weight * (reward - expected) * advantage : 0;
      const denominator = judges ? weight * advantage * advantage : 0;
      if (first && !judged.has(shared)) {
        shared.lessons += 1;
        shared.gateNumerator *= JAR.gateDecay;
        shared.gateDenominator *= JAR.gateDecay;
      }
      judged.add(shared);
      shared.gateNumerator += numerator;
      shared.gateDenominator += denominator;
      if (first && familiarity && direction) meet(shared, direction.z);
      return {
        direction: direction?.bytes,
        scalars: [0, numerator, denominator, shared.lessons],
        memories: shown.map(({ memory, weight: relevance, vote }): readonly number[] => {
          // Where nobody knows how the run ended, a vote is all that is known about a memory.
          const evidence = reward === null && vote === 0 ? 0 : weight * share * relevance;
          if (evidence > 0) addAlong(memory, evidence, 0, direction?.z);
          return [evidence, 0];
        }),
      };
    }),
  };
  return refit(lesson, contribution);
}

/**
 * One dual coordinate step on a run, new or old: makes what it contributes consistent with what the model now says of it.
 * Revisiting replaces a run's contribution instead of adding to it, so there is no learning rate.
 *
 *     l = Σ share (bias + baseline · z + Σ w v · z)        K = k₀ + k_b + k_v Σ (share w)²
 *     d = dualStep(l, r, a, K, τ);   a += d
 *     bias += k₀ share d,   baseline += k_b share d z,   v += k_v share w d z
 *
 * A vote is one more run of its memory alone, with the reward 1 (helped) or 0 (misled).
 */
export function refit(lesson: JarLesson, contribution: Contribution): Contribution {
  const { exposures, reward, weight } = lesson;
  const z = contribution.exposures.map(({ direction }) => direction && dequantise(direction));
  const [{ scalars: [before = 0] = [] } = { scalars: [] }] = contribution.exposures;
  let dual = before;
  if (reward !== null) {
    const logit = baseLogit(exposures, (i) => z[i]) + memoriesLogit(exposures, (i) => z[i]);
    const step = dualStep(logit, reward, dual, variance(exposures, z), weight);
    dual += step;
    addRun(exposures, z, step);
  }
  return {
    exposures: exposures.map((exposure, i) => {
      const given = contribution.exposures[i];
      const [, ...rest] = given?.scalars ?? [];
      return {
        direction: given?.direction,
        scalars: [dual, ...rest],
        memories: exposure.shown.map(({ memory, vote, weight: relevance }, place) => {
          const [evidence = 0, voteDual = 0] = given?.memories[place] ?? [];
          if (vote === 0 || relevance === 0) return [evidence, voteDual];
          const reward = vote > 0 ? 1 : 0;
          const step = dualStep(memoryLogit(memory, z[i]), reward, voteDual, JAR.memoryVariance, weight);
          addAlong(memory, 0, JAR.memoryVariance * step, z[i]);
          return [evidence, voteDual + step];
        }),
      };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding. */
export function unlearn({ exposures }: JarLesson, contribution: Contribution): void {
  const z = contribution.exposures.map(({ direction }) => direction && dequantise(direction));
  const [dual = 0] = contribution.exposures[0]?.scalars ?? [];
  addRun(exposures, z, -dual);
  exposures.forEach(({ shared, shown }, i) => {
    const given = contribution.exposures[i];
    if (!given) return;
    const [, numerator = 0, denominator = 0, lessons = 0] = given.scalars;
    const faded = JAR.gateDecay ** (shared.lessons - lessons);
    shared.gateNumerator -= numerator * faded;
    shared.gateDenominator -= denominator * faded;
    shown.forEach(({ memory }, place) => {
      const [evidence = 0, voteDual = 0] = given.memories[place] ?? [];
      if (voteDual !== 0) addAlong(memory, 0, -JAR.memoryVariance * voteDual, z[i]);
      if (evidence !== 0) addAlong(memory, -evidence, 0, undefined);
    });
  });
}

type DirectionOf = (exposure: number) => Float32Array | undefined;

function baseLogit(exposures: readonly JarExposure[], z: DirectionOf): number {
  return exposures.reduce((sum, { shared, share }, i) => sum + share * expectedLogit(shared, z(i)), 0);
}

function memoriesLogit(exposures: readonly JarExposure[], z: DirectionOf): number {
  let sum = 0;
  exposures.forEach(({ share, shown }, i) => {
    for (const { memory, weight } of shown) if (weight > 0) sum += share * weight * memoryLogit(memory, z(i));
  });
  return sum;
}

/** K: the shares of a run sum to 1, so that its baselines move the logit by no more than one exposure's would. */
function variance(exposures: readonly JarExposure[], z: readonly (Float32Array | undefined)[]): number {
  let sum = JAR.biasVariance;
  if (z.some((direction) => direction !== undefined)) sum += JAR.baselineVariance;
  exposures.forEach(({ share, shown }, i) => {
    if (z[i]) for (const { weight } of shown) sum += JAR.memoryVariance * (share * weight) ** 2;
  });
  return sum;
}

/** Moves everything that a run's dual number moves. */
function addRun(exposures: readonly JarExposure[], z: readonly (Float32Array | undefined)[], step: number): void {
  if (step === 0) return;
  exposures.forEach(({ shared, share, shown }, i) => {
    const direction = z[i];
    shared.bias += JAR.biasVariance * share * step;
    if (direction && shared.baseline.length === direction.length) {
      addScaled(shared.baseline, JAR.baselineVariance * share * step, direction);
    }
    for (const { memory, weight } of shown) {
      if (weight > 0) addAlong(memory, 0, JAR.memoryVariance * share * weight * step, direction);
    }
  });
}
