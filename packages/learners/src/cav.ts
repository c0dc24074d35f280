import {
  type Contribution,
  centre,
  clamp,
  dequantise,
  dot,
  type Learner,
  type Lesson,
  type LessonExposure,
  meetRequests,
  observeSpread,
  type RequestModel,
  requestModelCodec,
  type ScoreRequest,
  type Scores,
  type StateCodec,
  spreadScale,
} from "@qavr/core/learner";
import { AdvantageTable, type AdvantageVector, addAlong, advantageVectorCodec, keepAlong } from "./advantage-vector.js";
import { expectedSuccess, fadeBaseline, moveBaseline, moveBaselineBack } from "./request-baseline.js";

/**
 * The parameters of `cav@1`. They were tuned on hwu64 and clinc150 (never on banking77) and belong to the version, as do those of
 * the running spread, the baseline and the mean request.
 */
const CAV = {
  /** Weight of an expected advantage against similarity, at the reference spread. Range 5..30. Unit: similarity per utility. */
  weight: 20,
  /** The same for the scalar advantage, used when request and memory share no vector space. Range 0.5..3. */
  scalarWeight: 1.5,
  /** Evidence at which an advantage counts half. Range 5..60. Unit: runs. */
  shrinkage: 32,
  /** The same for the scalar advantage. Range 1..20. */
  scalarShrinkage: 5,
  /** Largest shift that learning may cause, at the reference spread. Range 0.1..1. Unit: similarity. */
  cap: 1,
  /** Influence of learning while its predictions do not come true. Range 0..1. */
  gateFloor: 0.25,
  /** Slope of surprise on prediction at which the gate is fully open. Range 0.1..1. */
  gateFull: 0.35,
  /** Prior of that regression: slope 2 / 5.5, so that the gate is open until there is evidence. */
  gateNumerator: 2,
  gateDenominator: 5,
  gatePrior: 0.5,
  /** Factor on the weight of earlier runs at each new run. Range 0.99..0.9999. */
  gateDecay: 0.998,
  /** Bounds of the predicted success of a run. */
  lowestPrediction: 0.02,
  highestPrediction: 0.98,
  /** Advantage of a vote, and the share of the surprise that a memory without a vote keeps in a run with votes. */
  voteStep: 0.5,
  unvotedShare: 0.5,
} as const;

/**
 * **Context advantage vectors**, `cav@1`.
 *
 * Each memory has one vector: the sum of the advantages of its runs, each along the direction of its request. The advantage is the
 * reward minus the expected success. Little evidence shifts little, and memories at the bottom of a list take little credit. A gate
 * reduces the influence of learning when its predictions do not come true. Deterministic: no random numbers, no exploration.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}. **Parameters**: {@link CAV}.
 * - **State**: 1 KiB + 16 bytes per memory with evidence (256 dims); one shared state of 2 KiB per collection.
 * - **Order**: vectors are not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when outcomes are false (accept verified ones only), when every need occurs once, or when similarity is
 *   near-perfect and no memory misleads: it then costs up to 0.02 of success.
 */
export function cav(): Learner<CavShared, CavMemory, AdvantageTable> {
  return {
    id: "cav@1",
    shared: sharedCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),
    score,
    observe: observeSpread,
    learn,
    unlearn,
    discount: keepAlong,
    describe: (memory) => ({ utility: scalarUtility(memory.advantage, memory.evidence), evidence: memory.evidence }),
    summarize: (shared) => ({
      lessons: shared.lessons,
      gate: gate(shared),
      spread: shared.spread,
      dims: shared.mean.length,
    }),
  };
}

/** State of one memory: advantages along the centred request vectors. */
export type CavMemory = AdvantageVector;

/** State of a collection. */
export type CavShared = RequestModel;

const sharedCodec: StateCodec<CavShared> = requestModelCodec({
  bias: 0,
  gateNumerator: CAV.gateNumerator,
  gateDenominator: CAV.gateDenominator,
});

/**
 * Expected extra success of showing the memory to the request `z`: the shrunk, advantage-weighted mean of its past requests.
 *
 *     u = v · z / (n + 32)          0 for a memory that never taught
 */
function utility(memory: CavMemory, z: Float32Array): number {
  return memory.vector.length === z.length ? shrunk(dot(memory.vector, z), memory.evidence) : 0;
}

/** A sum of advantages over `evidence` runs, as a mean drawn to 0. */
function shrunk(advantage: number, evidence: number): number {
  return advantage / (evidence + CAV.shrinkage);
}

/** The expected advantage for all requests alike: `a / (n + 5)`. */
function scalarUtility(advantage: number, evidence: number): number {
  return advantage / (evidence + CAV.scalarShrinkage);
}

/**
 * Influence of learning on the order, in [0.25, 1], from the slope of runs' surprises on their predictions. Learning loses influence
 * when its predictions do not come true (noise, changed habits, nothing to learn).
 *
 *     α = clamp(num / (den + 0.5), 0, 1)        gate = 0.25 + 0.75 · min(1, α / 0.35)
 */
function gate(shared: CavShared): number {
  const slope = clamp(shared.gateNumerator / (shared.gateDenominator + CAV.gatePrior), 0, 1);
  return CAV.gateFloor + (1 - CAV.gateFloor) * Math.min(1, slope / CAV.gateFull);
}

/**
 * Surprise of a run for one memory.
 *
 *     no votes in the run   g
 *     voted helpful         max(g, 0) + 0.5
 *     voted harmful         min(g, 0) − 0.5
 *     not voted on          g / 2
 */
function votedAdvantage(surprise: number, vote: -1 | 0 | 1, voted: boolean): number {
  if (vote > 0) return Math.max(surprise, 0) + CAV.voteStep;
  if (vote < 0) return Math.min(surprise, 0) - CAV.voteStep;
  return voted ? surprise * CAV.unvotedShare : surprise;
}

/**
 * Learns from one finished run: every memory shown gets a part of the run's surprise by its relevance, along the direction of the
 * request.
 *
 *     mean += (q − mean) / min(t + 10, 500)          z = unit(q − mean), kept as signed bytes
 *     baseline −= 0.0002 baseline
 *     b = expected success,  U = Σ w u               over the memories shown
 *     num = 0.998 num + (r − b) U,  den = 0.998 den + U²
 *     g = r − clamp(b + U, 0.02, 0.98)               not explained by the memories shown yet
 *     bias += 0.5/√t (r − b),  baseline += (r − b) q
 *     v += w g z,  a += w g,  n += w
 *
 * Every increment is multiplied by the exposure's share in a run with several; those from the outcome also by its weight. The mean
 * moves and the three decays apply once per run, at its first lesson and before any prediction. A corrected run then ends in the
 * same state as with the better verdict alone.
 */
function learn(lesson: Lesson<CavShared, CavMemory>): Contribution {
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
          const advantage = evidence * votedAdvantage(surprise, vote, exposure.voted);
          addAlong(memory, evidence, advantage, direction?.z);
          return [evidence, advantage];
        }),
      };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding and the baseline's slow decay since then. */
function unlearn({ exposures }: Lesson<CavShared, CavMemory>, contribution: Contribution): void {
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

/** `U`: the exposure's part of the predicted advantage of the memories shown. */
function predictedAdvantage(
  { share, shown }: LessonExposure<CavShared, CavMemory>,
  z: Float32Array | undefined,
): number {
  if (!z) return 0;
  let sum = 0;
  for (const { memory, weight } of shown) if (weight > 0) sum += weight * utility(memory, z);
  return share * sum;
}

/**
 * Similarity plus the bounded, gated expectation of extra success; σ' is the collection's spread over the reference spread.
 *
 *     score_m = s_m + clamp(20 σ' · gate · u_m, −σ', +σ')
 *
 * The scalar advantage is used when request and memory share no vector space (no vector given, another embedding model, a memory
 * that learned without one): `clamp(1.5 σ' · gate · a / (n + 5), −σ', +σ')`.
 */
function score(request: ScoreRequest<CavShared, AdvantageTable>): Scores {
  const { shared, table, rows, similarities, vector } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = shared ? gate(shared) : CAV.gateFloor;
  const scale = spreadScale(shared, similarities);
  const cap = CAV.cap * scale;
  const z = vector && centre(shared, vector);
  const products = z && table.dots(rows, z);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    let learned = 0;
    if (row >= 0) {
      unchanged = false;
      const n = table.evidence[row] as number;
      const product = products ? (products[i] as number) : Number.NaN;
      const directed = !Number.isNaN(product);
      const expected = directed ? shrunk(product, n) : scalarUtility(table.advantage[row] as number, n);
      const weight = directed ? CAV.weight : CAV.scalarWeight;
      utilities[i] = expected;
      evidence[i] = n;
      learned = clamp(weight * scale * open * expected, -cap, cap);
    }
    scores[i] = (similarities[i] as number) + learned;
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged };
}
