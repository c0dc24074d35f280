import {
  addScaled,
  type Contribution,
  clamp,
  dequantise,
  expectedLogit,
  type Lesson,
  type LessonExposure,
  meetRequests,
  type RequestModel,
  requestModelCodec,
  type StateCodec,
  sigmoid,
} from "@qavr/core/learner";
import { type AdvantageVector, addAlong, memoryLogit } from "./advantage-vector.js";

/**
 * The parameters of `jar@1`. They were tuned on hwu64, clinc150 and sealtools and belong to the version. Variances are of a Gaussian prior, in logits² per unit request vector.
 */
export const JAR = {
  /** Runs that may be fitted again. Range 500..2000. */
  log: 1000,
  /** Runs fitted again after each new one. Range 0..50. Each reads and writes the states of its memories. */
  revisits: 20,
  /** Prior variance of the baseline's bias. Range 0.1..1. */
  biasVariance: 0.5,
  /** Start of the bias: a little under even odds. Logits. */
  bias: -0.3,
  /** Prior variance of the baseline's vector. Range 0.1..1. */
  baselineVariance: 1,
  /** Prior variance of a memory's vector. Range 0.1..1. */
  memoryVariance: 1,
  /** Least curvature of the logistic likelihood in a step: bounds the step on runs predicted with certainty. Range 0.01..0.25. */
  leastCurvature: 0.05,
  /** Weight of a logit against similarity, at the reference spread. Range 1..4. Unit: similarity per logit. */
  weight: 2.2,
  /** Largest shift downwards, at the reference spread. Unit: similarity. */
  penaltyCap: 1,
  /** Largest shift upwards, at the reference spread. Unit: similarity. */
  boostCap: 0.5,
  /** Cosine of request and memory at which a boost counts in full. Range 0.2..0.6. */
  boostCosine: 0.4,
  /** The scalar advantage's weight (at the reference spread) and shrinkage, when request and memory share no vector space. */
  scalarWeight: 1.5,
  scalarShrinkage: 5,
  /** Prior of the regression of surprise on prediction. */
  gateNumerator: 1.2,
  gateDenominator: 1,
  gatePrior: 0.5,
  /** Factor on the weight of earlier runs at each new run. Range 0.99..0.9999. */
  gateDecay: 0.9995,
  /** Standard errors that the slope must exceed before the gate opens. Range 0..2. */
  gateErrors: 0.8,
  /** Variance of a run's surprise. */
  gateVariance: 0.2,
  /** Slope, less its errors, at which the gate is fully open. Range 0.05..0.5. */
  gateFull: 0.12,
  /** Power of relevance in the bonus of memories with little evidence: only the top of the list gets it. Range 2..8. */
  freshPower: 4,
} as const;

/** Protection of unfamiliar requests and untried memories. */
export interface JarSettingNumbers {
  /** Bonus of an untried memory at the top of the list, at the reference spread. Unit: similarity. */
  readonly freshBonus: number;
  /** Evidence at which half of the bonus is left. Unit: runs. */
  readonly freshEvidence: number;
  /** When given, learning shifts only familiar requests: `clamp((cos − slope · top − from) / width, 0, 1)`. */
  readonly familiarity?: { readonly slope: number; readonly from: number; readonly width: number };
}

export type JarSetting = "balanced" | "guard" | "strict";

/**
 * From most gain to most safety on new kinds of request: `balanced`, `guard`, `strict`.
 */
export const JAR_SETTINGS: Readonly<Record<JarSetting, JarSettingNumbers>> = {
  balanced: { freshBonus: 0.6, freshEvidence: 5 },
  guard: { freshBonus: 0.6, freshEvidence: 5, familiarity: { slope: 0.5, from: 0.1, width: 0.1 } },
  strict: { freshBonus: 1, freshEvidence: 12, familiarity: { slope: 0.6, from: 0.1, width: 0.15 } },
};

/** State of a collection. */
export interface JarShared extends RequestModel {
  /** Signs of the last requests' values, {@link wordsOf} words each, in a ring. Empty for a setting without familiarity. */
  signatures: Int32Array;
  /** Total requests added to the ring. */
  met: number;
}

/** 32-bit words of one signature: a bit for each value of the collection's request vectors. Even, since float64 follow in the bytes. */
function wordsOf({ mean }: RequestModel): number {
  return 2 * Math.ceil(mean.length / 64);
}

const HEADER_BYTES = 16;

const model = requestModelCodec({
  bias: JAR.bias,
  gateNumerator: JAR.gateNumerator,
  gateDenominator: JAR.gateDenominator,
});

/** Two float64 (requests met, words that follow), the signatures, then the model of requests. Little-endian. */
export const sharedCodec: StateCodec<JarShared> = {
  empty: () => ({ ...model.empty(), signatures: new Int32Array(0), met: 0 }),
  decode(bytes) {
    const [met, words] = new Float64Array(bytes.buffer, bytes.byteOffset, 2) as unknown as [number, number];
    const signatures = new Int32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, words);
    return { ...model.decode(bytes.subarray(HEADER_BYTES + words * 4)), signatures, met };
  },
  encode(state, room) {
    const { signatures, met } = state;
    const bytes = model.encode(state, room + HEADER_BYTES + signatures.length * 4);
    new Float64Array(bytes.buffer, room, 2).set([met, signatures.length]);
    new Int32Array(bytes.buffer, room + HEADER_BYTES, signatures.length).set(signatures);
    return bytes;
  },
  problem(state) {
    const problem = model.problem(state);
    if (problem !== undefined) return problem;
    const { signatures, met } = state as JarShared;
    const words = wordsOf(state as JarShared);
    if (!(signatures instanceof Int32Array) || signatures.length > JAR.log * words || signatures.length % words > 0) {
      return `signatures must be an Int32Array of at most ${JAR.log} times ${words} words`;
    }
    return Number.isInteger(met) && met * words >= signatures.length ? undefined : "met must count the signatures";
  },
};

/**
 * One damped Newton step of a run's dual number towards its residual.
 *
 *     P = sigmoid(l)        d = (τ (r − P) − a) / (1 + K τ max(0.05, P (1 − P)))
 *
 * @param logit l, the model's present prediction for the run
 * @param variance K, change of the logit per unit of the dual number
 * @param weight τ of the outcome, (0, 1]
 */
function dualStep(logit: number, reward: number, dual: number, variance: number, weight: number): number {
  const probability = sigmoid(logit);
  const curvature = Math.max(JAR.leastCurvature, probability * (1 - probability));
  return (weight * (reward - probability) - dual) / (1 + variance * weight * curvature);
}

/**
 * Influence of learning on the order, in [0, 1]. It is 0 unless the slope of runs' surprises on their predictions lies above 0 by
 * 0.8 standard errors.
 *
 *     n = den + 0.5        gate = clamp((num / n − 0.8 √(0.2 / n)) / 0.12, 0, 1)
 */
export function gate({ gateNumerator, gateDenominator }: RequestModel): number {
  const seen = gateDenominator + JAR.gatePrior;
  const slope = gateNumerator / seen - JAR.gateErrors * Math.sqrt(JAR.gateVariance / seen);
  return clamp(slope / JAR.gateFull, 0, 1);
}

/**
 * Value of a logit before gate and bounds: a boost counts by the cosine of the request and the memory's vector, a penalty in full.
 *
 *     y > 0:  y · cos(v, z) / 0.4        y ≤ 0:  y
 *
 * @param logit y = v · z
 * @param norm |v| > 0
 */
export function shaped(logit: number, norm: number): number {
  return logit > 0 ? (logit * logit) / norm / JAR.boostCosine : logit;
}

/** Bonus of a memory with little evidence near the top of the list: `bonus · relevance⁴ / (1 + n / n₀)`. */
export function freshness(
  relevance: number,
  evidence: number,
  { freshBonus, freshEvidence }: JarSettingNumbers,
): number {
  return (freshBonus * relevance ** JAR.freshPower) / (1 + evidence / freshEvidence);
}

/** The expected advantage for all requests alike: `a / (n + 5)`. */
export function scalarUtility(advantage: number, evidence: number): number {
  return advantage / (evidence + JAR.scalarShrinkage);
}

/** The signs of a direction, one bit per value: two directions differ in about (angle / π) of their bits. */
function signatureOf(z: Float32Array, words: number): Int32Array {
  const signature = new Int32Array(words);
  for (let i = 0; i < z.length; i++) {
    if ((z[i] as number) > 0) signature[i >> 5] = (signature[i >> 5] as number) | (1 << (i & 31));
  }
  return signature;
}

/** Adds a request to the ring of signatures. */
function meet(shared: JarShared, z: Float32Array): void {
  const words = wordsOf(shared);
  const place = shared.met % JAR.log;
  if (place * words === shared.signatures.length) {
    const longer = new Int32Array(shared.signatures.length + words);
    longer.set(shared.signatures);
    shared.signatures = longer;
  }
  shared.signatures.set(signatureOf(z, words), place * words);
  shared.met += 1;
}

/**
 * Influence of learning on a request, in [0, 1], by its distance to the nearest earlier request.
 *
 *     F = clamp((cos(π h / D) − slope · top − from) / width, 0, 1)        h: least Hamming distance of the signatures
 *
 * @param top the best similarity of the list, in [0, 1]: a good match needs less learning
 */
export function familiarity(
  shared: JarShared,
  z: Float32Array,
  top: number,
  { slope, from, width }: NonNullable<JarSettingNumbers["familiarity"]>,
): number {
  const { signatures } = shared;
  const words = wordsOf(shared);
  const own = signatureOf(z, words);
  let least = z.length;
  for (let start = 0; start < signatures.length; start += words) {
    let distance = 0;
    for (let word = 0; word < words; word++) {
      distance += ones((signatures[start + word] as number) ^ (own[word] as number));
    }
    if (distance < least) least = distance;
  }
  const cosine = Math.cos((Math.PI * least) / z.length);
  return clamp((cosine - slope * clamp(top, 0, 1) - from) / width, 0, 1);
}

/** Number of bits set in a 32-bit word. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

type JarLesson = Lesson<JarShared, AdvantageVector>;
type JarExposure = LessonExposure<JarShared, AdvantageVector>;

/**
 * Learns from one finished run: updates the gate by the run's prediction, counts the evidence, and fits the run.
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
      // Every collection of a run updates its gate once, by the whole run.
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
          // A vote is the only evidence about a memory when the reward is unknown.
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
 * One dual coordinate step on a run, new or old: it makes the run's contribution agree with the model's present prediction. It
 * replaces the contribution, so there is no learning rate.
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

/** K. The shares of a run sum to 1, so its baselines count as those of one exposure. */
function variance(exposures: readonly JarExposure[], z: readonly (Float32Array | undefined)[]): number {
  let sum = JAR.biasVariance;
  if (z.some((direction) => direction !== undefined)) sum += JAR.baselineVariance;
  exposures.forEach(({ share, shown }, i) => {
    if (z[i]) for (const { weight } of shown) sum += JAR.memoryVariance * (share * weight) ** 2;
  });
  return sum;
}

/** Adds a step of a run's dual number to its collections and memories. */
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
