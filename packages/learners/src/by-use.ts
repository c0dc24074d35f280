import { type Learner, oar } from "@qavr/core";
import {
  addScaled,
  type Contribution,
  centre,
  curvature,
  dequantise,
  dimsOf,
  dot,
  dualNumber,
  expectedLogit,
  FINITE,
  finiteVector,
  type Lesson,
  MAX_DIMS,
  type MemoryTable,
  NOT_NEGATIVE,
  type OarMemory,
  type OarShared,
  problemOf,
  RowVectors,
  type ScoreRequest,
  type Scores,
  type ShownMemory,
  type StateCodec,
  type StepNumbers,
  sigmoid,
  spread,
  spreadScale,
  withNumbers,
} from "@qavr/core/learner";

/** State of one memory: that of `oar`, and what is known from its uses. */
export interface ByUseMemory extends OarMemory {
  /** Its effect on the logit of the runs that used it. */
  effect: number;
  effectInformation: number;
  /** How much more runs use it, as a logit, along each direction of request space. Length 0 before the first flag. */
  use: Float32Array;
  useInformation: number;
}

/** State of a collection: that of `oar`, and how often runs use a memory that they are shown. */
export interface ByUseShared extends OarShared {
  /** Logit of that share, beyond the first guess. */
  useBias: number;
  /** Runs of which it is known what they used. */
  flagged: number;
}

type ByUseLesson = Lesson<ByUseShared, ByUseMemory>;

/** Parameters; part of the version. Chosen on hwu64, clinc150 and sealtools with seeds above 100. */
const USE = {
  /** Share of the mean request that is subtracted from a request; that of `oar`. */
  centring: 0.9,
  /** First guess of the share of the memories shown that a run uses, a logit, and the speed at which the share is learned. */
  bias: -0.5,
  biasVariance: 0.02,
  /** Prior variance of a memory's vector of use. Range 1..6. */
  useVariance: 3,
  /** Prior variance of a memory's effect. Range 0.3..1: more learns faster and remembers luck. */
  effectVariance: 0.5,
  /** Variance of the expectation of a run, whatever it used. */
  expectedVariance: 1.6,
  /** Speed at which the variances fall with information. */
  settling: 0.2,
  /** Shift of a memory that is used for certain, against one that never is, at the reference spread. Unit: similarity. */
  relevance: 0.5,
  /** Shift per logit of effect. Unit: similarity. */
  worth: 1.5,
  newtonSteps: 3,
} as const;

const STEP: StepNumbers = { leastCurvature: 0.05, suspicion: 0, suspicionScale: 1 };

const base: Learner<OarShared, OarMemory> = oar();

const SCALARS = ["effect", "effectInformation", "useInformation"] as const;
const HEAD = 8 * (SCALARS.length + 1);
const RULES = {
  effect: FINITE,
  effectInformation: NOT_NEGATIVE,
  useInformation: NOT_NEGATIVE,
  use: finiteVector(MAX_DIMS),
};

/** Bytes before the state of `oar`, a multiple of 8. */
function headOf(dims: number): number {
  return HEAD + 8 * Math.ceil(dims / 2);
}

/** Three numbers and the length of the vector as float64, the vector as float32, then the state of `oar`. Little-endian. */
const memoryCodec: StateCodec<ByUseMemory> = {
  empty: () => ({
    ...base.memory.empty(),
    effect: 0,
    effectInformation: 0,
    use: new Float32Array(0),
    useInformation: 0,
  }),
  decode(bytes) {
    const [effect, effectInformation, useInformation, length] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      SCALARS.length + 1,
    ) as unknown as [number, number, number, number];
    const use = new Float32Array(bytes.buffer, bytes.byteOffset + HEAD, dimsOf(length));
    return { ...base.memory.decode(bytes.subarray(headOf(length))), effect, effectInformation, use, useInformation };
  },
  encode(memory, room) {
    if (memory.evidence === 0) return new Uint8Array(room);
    const bytes = base.memory.encode(memory, room + headOf(memory.use.length));
    new Float64Array(bytes.buffer, room, SCALARS.length + 1).set([
      ...SCALARS.map((field) => memory[field]),
      memory.use.length,
    ]);
    new Float32Array(bytes.buffer, room + HEAD, memory.use.length).set(memory.use);
    return bytes;
  },
  problem: (state) => base.memory.problem(state) ?? problemOf(state, RULES),
};

const sharedCodec: StateCodec<ByUseShared> = withNumbers(base.shared, { useBias: FINITE, flagged: NOT_NEGATIVE });

/** Memory states of `byUse`: a table of `oar`, and beside it what is known from uses. */
export class ByUseTable implements MemoryTable {
  readonly oar: MemoryTable = base.createTable();
  readonly uses: RowVectors = new RowVectors();
  readonly effects: number[] = [];

  get size(): number {
    return this.oar.size + this.uses.size + 8 * this.effects.length;
  }

  put(bytes: Uint8Array, row?: number): number {
    const { effect, use } = memoryCodec.decode(bytes);
    const place = this.oar.put(bytes.subarray(headOf(use.length)), row);
    this.uses.set(place, use);
    this.effects[place] = effect;
    return place;
  }
}

/**
 * **Use**, `by-use@1`: `oar`, and a model of use where runs tell which memories they used (`used` of an outcome, or found by an adapter).
 *
 * A run's outcome is one bit about all memories shown; its uses are one bit about each. From uses it learns for which requests a memory
 * is used at all, and from the outcomes of the runs that used it the effect that it has there, as one number.
 *
 *     p = sigmoid(bias + u · z)                   chance that a run uses the memory;  p₀ = sigmoid(bias): any memory
 *     s' = s + σ' (0.5 (p − p₀) + 1.5 ε max(0, p − p₀))                     ranked by `oar` in place of the similarity s
 *
 *     one implicit step per flag:                 b = τ (1 or 0 − sigmoid(bias + u · z + K b)),  u += k b z,  bias += 0.02 b
 *     one per run over the memories that it used: a = τ (r − sigmoid(l₀ + Σ ε + K a)),  ε += κ a
 *     k = 3 / (1 + 0.2 I)    κ = 0.5 / (1 + 0.2 J)          I, J: information of the flags, of the runs that used it
 *     l₀: what `oar` expects of such a request
 *
 * Without uses it ranks and learns as `oar`, to the bit.
 *
 * - **State**: that of `oar` and as much again for memories with uses; 16 bytes more per collection.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when no run lists its uses (a quote says nothing about the other memories), or when uses follow the order of the
 *   list instead of the request.
 */
export function byUse(): Learner<ByUseShared, ByUseMemory, ByUseTable> {
  return {
    id: "by-use@1",
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new ByUseTable(),
    score,
    forgetsRequests: true,
    observe: base.observe,
    learn,
    unlearn,
    discount(memory, keep) {
      base.discount(memory, keep);
      for (const field of SCALARS) memory[field] *= keep;
      memory.use = memory.use.map((value) => keep * value);
    },
    describe: base.describe,
    summarize: (shared) => ({ ...base.summarize(shared), flagged: shared.flagged }),
  };
}

function score(request: ScoreRequest<ByUseShared, ByUseTable>): Scores {
  const { shared, table, rows, similarities, vector } = request;
  if (!shared || shared.flagged === 0 || !vector) return base.score({ ...request, table: table.oar });
  const scale = spreadScale(shared, similarities);
  const usual = sigmoid(USE.bias + shared.useBias);
  const shifts = table.uses.dots(rows, centre(shared, vector, USE.centring)).map((logit, i) => {
    if (Number.isNaN(logit)) return 0;
    const more = sigmoid(USE.bias + shared.useBias + logit) - usual;
    const effect = table.effects[rows[i] as number] as number;
    return scale * (USE.relevance * more + USE.worth * effect * Math.max(0, more));
  });
  const shifted = (values: Float64Array): Float64Array => values.map((value, i) => value + (shifts[i] as number));
  // Equal similarities are no order to protect, and `oar` has to see that.
  const isFlat = shared.spreadCount === 0 && spread(similarities) === 0;
  const scores = base.score({
    ...request,
    table: table.oar,
    similarities: isFlat ? similarities : shifted(similarities),
    // The advantage that `oar` expects is that of its own list.
    draws: false,
  });
  return {
    ...scores,
    hostShare: 0,
    score: isFlat ? shifted(scores.score) : scores.score,
    unchanged: scores.unchanged && shifts.every((shift) => shift === 0),
    ...(scores.terms && { terms: { ...scores.terms, learned: shifted(scores.terms.learned) } }),
  };
}

/** A run's additions to a memory by its use; then follow those of `oar`. */
type Step = [effect: number, effectInformation: number, useInformation: number, along: number];

const STEP_LENGTH = 4;

function learn(lesson: ByUseLesson): Contribution {
  const { exposures, reward, weight: trust } = lesson;
  const isFlagged = exposures.some(({ shown }) => shown.some(({ used }) => used !== undefined));
  /** The collections as `oar` knew them before the run. */
  const before = exposures.map(({ shared }) => (isFlagged ? { ...shared, baseline: shared.baseline.slice() } : shared));
  const contribution = base.learn(lesson);
  const flags = exposures.map(({ shared, shown }, e) => {
    const { direction, memories = [] } = contribution.exposures[e] ?? {};
    const known = shown.filter(({ used }, i) => used !== undefined && memories[i]?.length);
    return { shared, z: direction && dequantise(direction), known };
  });
  const steps = new Map<ShownMemory<ByUseMemory>, Step>();
  const used = flags.flatMap(({ known }) => known.filter((one) => one.used));
  if (reward !== null && used.length > 0) {
    const expected = exposures.reduce(
      (sum, { share }, e) => sum + share * expectedLogit(before[e] as ByUseShared, flags[e]?.z),
      0,
    );
    const logit = used.reduce((sum, { memory }) => sum + memory.effect, expected);
    const variances = used.map(({ memory }) => USE.effectVariance / (1 + USE.settling * memory.effectInformation));
    const variance = variances.reduce((sum, one) => sum + one, USE.expectedVariance);
    const dual = dualNumber(logit, reward, variance, trust, USE.newtonSteps, STEP);
    const information = Math.fround(trust * curvature(sigmoid(logit), STEP));
    used.forEach((one, i) => {
      steps.set(one, [Math.fround((variances[i] as number) * dual), information, 0, 0]);
    });
  }
  return {
    exposures: contribution.exposures.map((given, e) => {
      const { shared, z, known } = flags[e] as (typeof flags)[number];
      let bias = 0;
      for (const one of z ? known : []) {
        const { memory } = one;
        const logit = USE.bias + shared.useBias + bias + (memory.use.length === z?.length ? dot(memory.use, z) : 0);
        const k = USE.useVariance / (1 + USE.settling * memory.useInformation);
        const dual = dualNumber(logit, one.used ? 1 : 0, k + USE.biasVariance, trust, USE.newtonSteps, STEP);
        bias += USE.biasVariance * dual;
        const [effect, information] = steps.get(one) ?? [0, 0];
        steps.set(one, [
          effect,
          information,
          Math.fround(trust * curvature(sigmoid(logit), STEP)),
          Math.fround(k * dual),
        ]);
      }
      bias = Math.fround(bias);
      const flagged = known.length > 0 ? 1 : 0;
      shared.useBias += bias;
      shared.flagged += flagged;
      return {
        ...given,
        scalars: [bias, flagged, ...given.scalars],
        memories: given.memories.map((own, i): readonly number[] => {
          const one = exposures[e]?.shown[i] as ShownMemory<ByUseMemory>;
          const step = steps.get(one);
          if (!step) return own.length > 0 ? [0, 0, 0, 0, ...own] : own;
          move(one.memory, step, z, 1);
          return [...step, ...own];
        }),
      };
    }),
  };
}

function unlearn(lesson: ByUseLesson, contribution: Contribution): void {
  base.unlearn(lesson, {
    exposures: contribution.exposures.map(({ direction, scalars, memories }) => ({
      direction,
      scalars: scalars.slice(2),
      memories: memories.map((numbers) => numbers.slice(STEP_LENGTH)),
    })),
  });
  lesson.exposures.forEach(({ shared, shown }, e) => {
    const { scalars = [], memories = [], direction } = contribution.exposures[e] ?? {};
    const [bias = 0, flagged = 0] = scalars;
    shared.useBias -= bias;
    shared.flagged -= flagged;
    const z = direction && dequantise(direction);
    shown.forEach(({ memory }, i) => {
      const step = memories[i] ?? [];
      if (step.length > 0) move(memory, step.slice(0, STEP_LENGTH) as Step, z, -1);
    });
  });
}

function move(memory: ByUseMemory, step: Step, z: Float32Array | undefined, factor: 1 | -1): void {
  const [effect, effectInformation, useInformation, along] = step;
  if (memory.evidence === 0) {
    Object.assign(memory, memoryCodec.empty());
    return;
  }
  memory.effect += factor * effect;
  memory.effectInformation = Math.max(0, memory.effectInformation + factor * effectInformation);
  memory.useInformation = Math.max(0, memory.useInformation + factor * useInformation);
  if (!z || along === 0) return;
  if (memory.use.length === 0) memory.use = new Float32Array(z.length);
  if (memory.use.length === z.length) addScaled(memory.use, factor * along, z);
}
