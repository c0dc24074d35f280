import { betaDraw } from "../../scoring/beta-draw.js";
import { keyedUniforms } from "../../scoring/keyed-random.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner, ScoreRequest, StateCodec } from "../learner.js";
import { checkSettings, NOT_NEGATIVE } from "../legality.js";
import { scoreOneByOne } from "../one-by-one.js";
import { observeSpread, type RunningSpread, spreadScale } from "../running-spread.js";
import { scalarCodec } from "../scalar-codec.js";
import { shrunkMean, successes, type WeightedSum } from "../weighted-sum.js";
import { BETA_DEFAULTS, BETA_RULES, type BetaOptions, PRIOR_EVIDENCE, PRIOR_RATE } from "./parameters.js";

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
 * σ' is the running spread of the collection's similarities over 0.1. The three policies rank by the same states: one engine may
 * explore while another, on the same store, serves by the mean. A ranking that is not recorded goes by the mean.
 *
 * **Thompson without chance.** A learner has no random numbers, so a draw is a hash of what `score` may see: the collection's
 * evidence and exposures, the candidate's place and its similarity. Equal requests in equal states get equal draws; an outcome
 * or another exposure changes all of them. Two candidates with one id get one draw as soon as the memory has a state.
 *
 * - **State**: two numbers per memory, four per collection.
 * - **Order-independent**: the sums do not depend on the order of outcomes, and a corrected outcome leaves no trace, to the bit. σ'
 *   follows the order of exposures.
 * - **Wrong choice** when requests differ in difficulty (a memory shown with hard ones looks bad: use `globalAdvantage`) or when
 *   memories help some requests and harm others. `ucb` and `thompson` show unproven memories on purpose, which costs most where
 *   few requests repeat.
 * - Votes, relevance and use are ignored.
 * - **Source**: Thompson 1933; Auer et al. 2002 for the bonus; arXiv 2604.12007 (Memory Worth) for the two counters per memory.
 *
 * @throws INVALID_ARGUMENT
 */
export function beta(options: BetaOptions = {}): Learner<BetaShared, WeightedSum, DecodedTable<WeightedSum>> {
  const settings = { ...BETA_DEFAULTS, ...options };
  checkSettings("beta", settings, BETA_RULES);
  const { policy, shrinkage, weight, exploration } = settings;

  /** What a request's candidates are ranked by. */
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
