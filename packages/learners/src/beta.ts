import {
  ABOVE_0,
  contribute,
  DecodedTable,
  type Defined,
  type FieldRule,
  type Learner,
  NOT_NEGATIVE,
  observeSpread,
  oneOf,
  type RunningSpread,
  resolveOptions,
  type ScoreRequest,
  type StateCodec,
  scoreOneByOne,
  spreadScale,
  withdraw,
} from "@qavr/core/learner";
import { scalarCodec } from "./scalar-codec.js";
import { shrunkMean, successes, type WeightedSum } from "./weighted-sum.js";

/** Utility of a memory: its posterior mean, an upper bound of it, or a draw from the posterior. */
export type BetaPolicy = "mean" | "ucb" | "thompson";

/** Settings of the `beta` learner. */
export interface BetaOptions {
  /** @default "mean" */
  readonly policy?: BetaPolicy | undefined;
  /** Strength of the prior in outcomes, in (0, 1e9]. @default 5 */
  readonly shrinkage?: number | undefined;
  /** Weight of a probability against similarity, at a spread of 0.1. At least 0. @default 1 */
  readonly weight?: number | undefined;
  /** Bonus of the upper bound for a memory without outcomes, times √shrinkage. At least 0. @default 0.2 */
  readonly exploration?: number | undefined;
}

const BETA_DEFAULTS: Defined<BetaOptions> = { policy: "mean", shrinkage: 5, weight: 1, exploration: 0.2 };

/** The collection's rate of success starts at 5 of 10. */
const PRIOR_RATE = 0.5;
const PRIOR_EVIDENCE = 10;

/** More outcomes than any memory will have. */
const STRONGEST_PRIOR = 1e9;

const BETA_RULES: Readonly<Record<keyof BetaOptions, FieldRule>> = {
  policy: oneOf("mean", "ucb", "thompson"),
  shrinkage: [(value) => ABOVE_0[0](value) && (value as number) <= STRONGEST_PRIOR, "in (0, 1e9]"],
  weight: NOT_NEGATIVE,
  exploration: NOT_NEGATIVE,
};

/** One collection: Σ w·r and Σ w over its runs, whatever was shown. */
export interface BetaShared extends WeightedSum, RunningSpread {}

const scalars = scalarCodec<BetaShared>({
  sum: { empty: 0, rule: NOT_NEGATIVE },
  evidence: { empty: 0, rule: NOT_NEGATIVE },
  spread: { empty: 0, rule: NOT_NEGATIVE },
  spreadCount: { empty: 0, rule: NOT_NEGATIVE },
});
const sharedCodec: StateCodec<BetaShared> = {
  ...scalars,
  problem: (state) => scalars.problem(state) ?? successes.codec.problem(state),
};

const NO_EVIDENCE: WeightedSum = { sum: 0, evidence: 0 };

/** `μ`: the rate of success of the collection's runs, which starts at 5 of 10. */
function collectionRate(shared: BetaShared | undefined): number {
  return shrunkMean(shared ?? NO_EVIDENCE, PRIOR_RATE, PRIOR_EVIDENCE);
}

/**
 * **Beta posterior**, `beta@1`: each memory's rate of success as a distribution, started at the collection's own rate.
 *
 *     p     ~ Beta(Σ w·r + 5 μ, Σ w·(1 − r) + 5 (1 − μ))      μ = (5 + Σ w·r) / (10 + Σ w) over all runs
 *     mean      u = E p = (Σ w·r + 5 μ) / (Σ w + 5)
 *     ucb       u = E p + 0.2 / √(Σ w + 5)
 *     thompson  u = a draw from p
 *     score = similarity + σ' · (u − μ)
 *
 * σ' is the running spread of the collection's similarities over 0.1. The three policies share their states: one engine may
 * explore while another on the same store ranks by the mean. A ranking that is not recorded uses the mean.
 *
 * **Thompson sampling without random numbers.** A draw is a hash of the input of `score`: the collection's evidence and exposures,
 * the candidate's place and its similarity. Equal requests in equal states get equal draws; an outcome
 * or another exposure changes all of them. Two candidates with one id get one draw as soon as the memory has a state.
 *
 * - **State**: two numbers per memory, four per collection.
 * - **Order-independent**: the sums do not depend on the order of outcomes, and a corrected outcome leaves no trace, to the bit. σ'
 *   depends on the order of exposures.
 * - **Wrong choice** when requests differ in difficulty (a memory shown for hard ones gets a low rate: use `globalAdvantage`) or when
 *   memories help some requests and harm others. `ucb` and `thompson` show unproven memories on purpose, which costs most where
 *   few requests repeat.
 * - Votes, relevance and use are ignored.
 * - **Source**: Thompson 1933; Auer et al. 2002 for the bonus; arXiv 2604.12007 (Memory Worth) for the two counters per memory.
 *
 * @throws INVALID_ARGUMENT
 */
export function beta(options: BetaOptions = {}): Learner<BetaShared, WeightedSum, DecodedTable<WeightedSum>> {
  const settings = resolveOptions("beta", options, BETA_DEFAULTS, BETA_RULES);
  const { policy, shrinkage, weight, exploration } = settings;

  /** Returns the utility of a request's candidates. */
  function ranker(request: ScoreRequest<BetaShared, DecodedTable<WeightedSum>>, rate: number) {
    const { shared, rows, similarities, explores } = request;
    const drawn = new Map<number, number>();
    return ({ sum, evidence }: WeightedSum, candidate: number): number => {
      const expected = shrunkMean({ sum, evidence }, rate, shrinkage);
      if (policy === "mean" || !explores) return expected;
      if (policy === "ucb") return expected + exploration / Math.sqrt(evidence + shrinkage);
      const row = rows[candidate] as number;
      const known = row < 0 ? undefined : drawn.get(row);
      if (known !== undefined) return known;
      const key = [shared?.evidence ?? 0, shared?.spreadCount ?? 0, candidate, similarities[candidate] as number];
      const uniform = keyedUniforms(key);
      const draw = betaDraw(sum + shrinkage * rate, evidence - sum + shrinkage * (1 - rate), uniform);
      drawn.set(row, draw);
      return draw;
    };
  }

  return {
    id: "beta@1",
    shared: sharedCodec,
    memory: successes.codec,
    createTable: () => new DecodedTable(successes.codec),

    score(request) {
      const { shared, similarities } = request;
      const rate = collectionRate(shared);
      const scale = weight * spreadScale(shared, similarities);
      const rankedBy = ranker(request, rate);
      return scoreOneByOne(request, {
        utility: (memory, i) => rankedBy(memory ?? NO_EVIDENCE, i),
        evidence: ({ evidence }) => evidence,
        score: (similarity, utility) => similarity + scale * (utility - rate),
      });
    },

    observe: observeSpread,

    learn(lesson) {
      const { reward, weight: trust } = lesson;
      if (reward === null) return contribute(lesson, {});
      return contribute(lesson, {
        collection: ({ shared, share }) => successes.add(shared, reward, trust * share),
        memory: ({ memory }) => successes.add(memory, reward, trust),
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: ({ shared }, added) => successes.remove(shared, added),
        memory: ({ memory }, added) => successes.remove(memory, added),
      });
    },

    discount: successes.keep,
    describe: (memory) => ({ utility: shrunkMean(memory, PRIOR_RATE, shrinkage), evidence: memory.evidence }),
    summarize: (shared) => ({ rate: collectionRate(shared), evidence: shared.evidence, spread: shared.spread }),
  };
}

/** Uniform numbers in (0, 1). */
type Uniforms = () => number;

/** A draw from the standard normal distribution (Box and Muller). */
function normalDraw(uniform: Uniforms): number {
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** More than 95 in 100 attempts succeed, so this limit is reached only for a bad input; without it a ranking could hang. */
const MOST_ATTEMPTS = 64;

/** A draw from Gamma(shape, 1), shape > 0. Marsaglia and Tsang, A simple method for generating gamma variables, 2000. */
function gammaDraw(shape: number, uniform: Uniforms): number {
  if (shape < 1) return gammaDraw(shape + 1, uniform) * uniform() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const x = normalDraw(uniform);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(uniform()) < x * x * 0.5 + d - d * v + d * Math.log(v)) return d * v;
  }
  return d;
}

/**
 * A draw from Beta(a, b), both > 0 and finite, as X / (X + Y) of two gamma draws. Returns the mean when these underflow or
 * overflow.
 */
export function betaDraw(a: number, b: number, uniform: Uniforms): number {
  const x = gammaDraw(a, uniform);
  const y = gammaDraw(b, uniform);
  return x + y > 0 && Number.isFinite(x + y) ? x / (x + y) : a / (a + b);
}

/**
 * Uniform numbers in (0, 1) from a key: the n-th is a hash of the key and n, so equal keys give equal numbers on every machine. 32
 * bits each; not for secrets.
 */
export function keyedUniforms(key: readonly number[]): () => number {
  const words = new Uint32Array(Float64Array.from(key).buffer);
  let seed = words.length;
  for (const word of words) seed = mix(seed ^ mix(word));
  let counter = 0;
  return () => {
    counter = (counter + GOLDEN) >>> 0;
    return (mix(seed ^ mix(counter)) + 0.5) / 2 ** 32;
  };
}

/** 2³² divided by the golden ratio: its multiples visit every 32-bit number before any repeats. */
const GOLDEN = 0x9e3779b9;

/** MurmurHash3's final mix: every input bit changes about half of the output's. */
function mix(value: number): number {
  let hash = value;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
