import {
  addScaled,
  type Contribution,
  centre,
  type Defined,
  dequantise,
  expectedLogit,
  type FieldRule,
  type Learner,
  type Lesson,
  type LessonExposure,
  meetRequests,
  NOT_NEGATIVE,
  observeSpread,
  problemOf,
  type RequestModel,
  requestModelCodec,
  resolveOptions,
  type StateCodec,
  sigmoid,
  whole,
} from "@qavr/core/learner";
import {
  AdvantageTable,
  type AdvantageVector,
  addAlong,
  advantageVectorCodec,
  keepAlong,
  memoryLogit,
  scoreAlong,
} from "./advantage-vector.js";
import { countable } from "./weighted-sum.js";

/** Settings of the `jointReplay` learner. */
export interface JointReplayOptions {
  /** Weight of a memory's log-odds against similarity, at a spread of 0.1. At least 0. @default 0.6 */
  readonly weight?: number | undefined;
  /** Old runs fitted again after each new one, 0 to 100: more fit better and write more states (about five each). @default 12 */
  readonly revisits?: number | undefined;
}

const JOINT_REPLAY_DEFAULTS: Defined<JointReplayOptions> = { weight: 0.6, revisits: 12 };

const JOINT_REPLAY_RULES: Readonly<Record<keyof JointReplayOptions, FieldRule>> = {
  weight: NOT_NEGATIVE,
  revisits: whole(0, 100),
};

/** The other parameters of `joint-replay@1`, tuned on hwu64, clinc150 and sealtools. They belong to the version. */
const JOINT_REPLAY = {
  /** Runs that may be fitted again. Range 500..5000. */
  log: 2000,
  /** Share of the mean request that is subtracted from a request. Range 0..1. */
  centring: 0.7,
  /** Step of a fit. Range 0.05..1. Unit: logits per unit of surprise. */
  rate: 0.3,
  /** Strength of the Gaussian prior on a memory's vector: 1 / its variance. Range 0.1..1. */
  memoryPrior: 0.3,
  /** The same for the baseline's vector, per fit and not per run: old fits fade. Range 0..0.1. */
  baselinePrior: 0.02,
  /** Step of the bias, as a share of the others'. Range 0.1..1. */
  biasShare: 0.3,
  /** Evidence at which a memory's mean residual counts half in "best" lists. Unit: runs. */
  scalarShrinkage: 5,
} as const;

/**
 * **Joint logistic regression with experience replay**, `joint-replay@1`: one logistic model of success, with a vector for each
 * memory, fitted repeatedly to a log of runs.
 *
 *     z     = unit(q − 0.7 mean)                     the request less most of the mean request
 *     p     = sigmoid(bias + baseline · z + Σ w v · z)                    over the memories shown, w: relevance
 *     score = similarity + 0.6 σ' · v · z            σ': running spread of the collection's similarities over 0.1
 *
 * After every outcome the new run and twelve of the last 2000 each take a step of gradient ascent ({@link refit}). The effect of one
 * memory is not credited to the others, and new evidence about a memory also changes the fit of old runs. `jar` maximises such a
 * posterior by dual steps without a rate, and adds a gate, bounds and a bonus for memories with little evidence.
 *
 * - **No random numbers**: old runs are visited round robin; experience replay usually draws them at random. Scores omit the noise
 *   (Thompson's, 0.1 / √(n + 1)) of the tuning runs. Credit is shared by the engine's relevance, not by a power of similarity.
 * - **State**: 1 KiB + 16 bytes per memory with evidence (256 dims), 2 KiB per collection, and one short state per remembered run.
 * - **Not order-independent**; equal ledgers give equal bytes. A correction takes back its run's contribution up to float32
 *   rounding; other runs keep their fits until they are visited again, and the baseline fades with each fit. A run that left the log
 *   keeps its last contribution.
 * - **Wrong choice** when writes are expensive (each visited run writes its episode and some five memories again), without request
 *   vectors (it then learns, but ranks by similarity), for new kinds of request, and when similarity is near-perfect (it then costs
 *   up to 0.04 of success): it has no bound on the shift and no gate.
 * - An outcome's weight multiplies its gradient. Votes and use are ignored; relevance counts.
 * - **Source**: logistic regression with a Gaussian prior by stochastic gradient ascent; experience replay (Lin 1992).
 *
 * @throws INVALID_ARGUMENT
 */
export function jointReplay(
  options: JointReplayOptions = {},
): Learner<JointReplayShared, AdvantageVector, AdvantageTable> {
  const settings = resolveOptions("jointReplay", options, JOINT_REPLAY_DEFAULTS, JOINT_REPLAY_RULES);
  const { weight, revisits } = settings;

  return {
    id: "joint-replay@1",
    shared: sharedCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),

    score(request) {
      const { shared, vector } = request;
      const z = vector && centre(shared, vector, JOINT_REPLAY.centring);
      return scoreAlong(request, z, weight, (logit) => logit);
    },

    observe: observeSpread,
    learn,
    revisits: { log: JOINT_REPLAY.log, count: revisits, fit: refit },
    unlearn,
    discount: keepAlong,
    describe: ({ advantage, evidence }) => ({
      utility: advantage / (evidence + JOINT_REPLAY.scalarShrinkage),
      evidence,
    }),
    summarize: ({ lessons, spread, mean }) => ({ lessons, spread, dims: mean.length }),
  };
}

/** State of a collection. The gate's sums stay 0: this learner has no gate. */
export interface JointReplayShared extends RequestModel {
  /** Fits so far, by their shares: the clock of the baseline's decay. */
  fits: number;
}

const model = requestModelCodec({ bias: 0, gateNumerator: 0, gateDenominator: 0 });

/** The number of fits as float64, then the model of requests. Little-endian. */
const sharedCodec: StateCodec<JointReplayShared> = {
  empty: () => ({ ...model.empty(), fits: 0 }),
  decode(bytes) {
    const [fits] = new Float64Array(bytes.buffer, bytes.byteOffset, 1) as unknown as [number];
    return { ...model.decode(bytes.subarray(8)), fits };
  },
  encode(state, room) {
    const bytes = model.encode(state, room + 8);
    new Float64Array(bytes.buffer, room, 1)[0] = state.fits;
    return bytes;
  },
  problem: (state) => model.problem(state) ?? problemOf(state, { fits: NOT_NEGATIVE }),
};

type ReplayLesson = Lesson<JointReplayShared, AdvantageVector>;
type ReplayExposure = LessonExposure<JointReplayShared, AdvantageVector>;
type Directions = readonly (Float32Array | undefined)[];

/** Factor on the baseline's vector at each fit. */
const BASELINE_KEEP = 1 - JOINT_REPLAY.rate * JOINT_REPLAY.baselinePrior;

/** Learns from one finished run: moves the mean request, counts the evidence (`n += τ` for each memory with credit), and fits it. */
function learn(lesson: ReplayLesson): Contribution {
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
 * A memory's vector is `v = Σ share w a z` over its runs. Shrinking the coefficient a of each run at its visits therefore shrinks v
 * by its prior. At the fixed point `a = g / 0.3`, the maximum of the posterior.
 */
function refit(lesson: ReplayLesson, contribution: Contribution): Contribution {
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
function unlearn({ exposures }: ReplayLesson, contribution: Contribution): void {
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

/** Remainder of an exposure's part of the baseline after later fits. */
function baselineLeft({ fits }: JointReplayShared, [, , added = 0, then = 0]: readonly number[]): number {
  return added * BASELINE_KEEP ** (fits - then);
}
