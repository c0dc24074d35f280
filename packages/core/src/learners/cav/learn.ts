import { dequantise } from "../../embedding/quantise.js";
import { clamp } from "../../scoring/bounds.js";
import { addAlong } from "../advantage-vector.js";
import type { Contribution, Lesson, LessonExposure } from "../learner.js";
import { expectedSuccess, fadeBaseline, moveBaseline, moveBaselineBack } from "../request-baseline.js";
import { meetRequests } from "../request-model.js";
import { utility, votedAdvantage } from "./formulas.js";
import { CAV } from "./parameters.js";
import type { CavMemory, CavShared } from "./state.js";

/**
 * Learns from one finished run: every memory shown gets the part of the run's surprise that its relevance earns, along the
 * direction of the request.
 *
 *     mean += (q − mean) / min(t + 10, 500)          z = unit(q − mean), kept as signed bytes
 *     baseline −= 0.0002 baseline
 *     b = expected success,  U = Σ w u               over the memories shown
 *     num = 0.998 num + (r − b) U,  den = 0.998 den + U²
 *     g = r − clamp(b + U, 0.02, 0.98)               what the shown set does not explain yet
 *     bias += 0.5/√t (r − b),  baseline += (r − b) q
 *     v += w g z,  a += w g,  n += w
 *
 * Every increment is multiplied by the exposure's share in a run with several, and those that follow from the outcome by its
 * weight. What happens once per run (mean and the three decays) happens at its first lesson, before anything is predicted: a
 * corrected run then ends where it would have ended with the better verdict alone.
 */
export function learn(lesson: Lesson<CavShared, CavMemory>): Contribution {
  const { exposures, reward, weight, first } = lesson;
  const directions = meetRequests(exposures, first);
  if (first) for (const { shared, vector, share } of exposures) if (vector) fadeBaseline(shared, share);
  const baseline = exposures.reduce(
    (sum, { shared, vector, share }) => sum + share * expectedSuccess(shared, vector),
    0,
  );
  const predicted = exposures.map((exposure, i) => predictedAdvantage(exposure, directions[i]?.z));
  const total = predicted.reduce((sum, part) => sum + part, 0);
  const totalOf = new Map<CavShared, number>();
  exposures.forEach(({ shared }, i) => {
    totalOf.set(shared, (totalOf.get(shared) ?? 0) + (predicted[i] as number));
  });
  const surprise = reward === null ? 0 : reward - clamp(baseline + total, CAV.lowestPrediction, CAV.highestPrediction);
  const drift = reward === null ? 0 : (reward - baseline) * weight;

  for (const shared of new Set(exposures.map((exposure) => exposure.shared))) {
    if (!first) break;
    shared.lessons += 1;
    shared.gateNumerator *= CAV.gateDecay;
    shared.gateDenominator *= CAV.gateDecay;
  }
  return {
    exposures: exposures.map((exposure, i) => {
      const { shared, vector, share } = exposure;
      const direction = directions[i];
      const part = predicted[i] as number;
      // Each collection is judged by its own predictions: its sum over the run's exposures is exactly (Σ parts)².
      const numerator = reward === null ? 0 : drift * part;
      const denominator = reward === null ? 0 : weight * (totalOf.get(shared) as number) * part;
      shared.gateNumerator += numerator;
      shared.gateDenominator += denominator;
      const [bias, step] = reward === null ? [0, 0] : moveBaseline(shared, direction && vector, drift, share);
      return {
        direction: direction?.bytes,
        scalars: [numerator, denominator, bias, step, shared.lessons],
        memories: exposure.shown.map(({ memory, weight: relevance, vote }): readonly number[] => {
          if (relevance === 0 || (reward === null && vote === 0)) return [0, 0];
          const evidence = weight * share * relevance;
          const advantage = evidence * votedAdvantage(surprise, vote, lesson.voted);
          addAlong(memory, evidence, advantage, direction?.z);
          return [evidence, advantage];
        }),
      };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding and what the baseline's slow decay has taken of it since. */
export function unlearn({ exposures }: Lesson<CavShared, CavMemory>, contribution: Contribution): void {
  exposures.forEach((exposure, i) => {
    const given = contribution.exposures[i];
    if (!given) return;
    const { shared, vector } = exposure;
    const [numerator = 0, denominator = 0, bias = 0, step = 0, lessons = 0] = given.scalars;
    const faded = CAV.gateDecay ** (shared.lessons - lessons);
    shared.gateNumerator -= numerator * faded;
    shared.gateDenominator -= denominator * faded;
    moveBaselineBack(shared, vector, bias, step);
    const z = given.direction && dequantise(given.direction);
    exposure.shown.forEach(({ memory }, place) => {
      const [evidence = 0, advantage = 0] = given.memories[place] ?? [];
      if (evidence !== 0) addAlong(memory, -evidence, -advantage, z);
    });
  });
}

/** `U`: the exposure's part of the advantage that was predicted for the memories shown. */
function predictedAdvantage(
  { share, shown }: LessonExposure<CavShared, CavMemory>,
  z: Float32Array | undefined,
): number {
  if (!z) return 0;
  let sum = 0;
  for (const { memory, weight } of shown) if (weight > 0) sum += weight * utility(memory, z);
  return share * sum;
}
