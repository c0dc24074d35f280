import { countable } from "../../scoring/countable.js";
import { AdvantageTable } from "../advantage-table.js";
import { type AdvantageVector, addAlong, advantageVectorCodec, keepAlong } from "../advantage-vector.js";
import { type BaselineShared, baselineCodec } from "../baseline-state.js";
import { contribute, withdraw } from "../contribution.js";
import type { Learner } from "../learner.js";
import { checkSettings } from "../legality.js";
import { observeSpread } from "../running-spread.js";
import { scoreAlong } from "../score-along.js";
import { countRun, learnSurprise, withdrawSteps } from "../surprise.js";
import { NEUTRAL_REWARD, ROCCHIO_DEFAULTS, ROCCHIO_RULES, type RocchioOptions } from "./parameters.js";

/**
 * **Rocchio feedback**, `rocchio@1`: a memory moves towards the requests it helped and away from those it hurt.
 *
 *     v    ← v + w·g · q                             g = r − b (advantage) or r − 0.5 (reward)
 *     u     = v · q / (n + 3)                        n = Σ w
 *     score = similarity + 6 σ' · u                  σ': running spread of the collection's similarities over 0.1
 *
 * The classic relevance feedback, kept with the memory instead of the query. `b` is the expected success of such a request,
 * learned online. `cav` is this with centred requests, credit by relevance, joint surprises, a bound and a gate.
 *
 * - **State**: a vector (1 KiB at 256 dims) and two numbers per memory; the same per collection.
 * - **Not order-independent**: what was expected depends on what came before, and vectors add up in float32. A correction takes
 *   back what was recorded, up to float32 rounding. With `feedback: "reward"` nothing but that rounding depends on the order.
 * - **Wrong choice** without request vectors (it then learns, but ranks by similarity), and for kinds of request that it never
 *   saw: what all requests have in common spills over to them.
 * - The shift has no bound. Votes, relevance and use are ignored.
 * - **Source**: Rocchio 1971, applied to documents' vectors.
 *
 * @throws INVALID_ARGUMENT
 */
export function rocchio(options: RocchioOptions = {}): Learner<BaselineShared, AdvantageVector, AdvantageTable> {
  const settings = { ...ROCCHIO_DEFAULTS, ...options };
  checkSettings("rocchio", settings, ROCCHIO_RULES);
  const { feedback, weight, shrinkage } = settings;

  return {
    id: feedback === "advantage" ? "rocchio@1" : "rocchio@1/reward",
    shared: baselineCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),
    score: (request) =>
      scoreAlong(request, request.vector, weight, (product, evidence) => product / (evidence + shrinkage)),
    observe: observeSpread,

    learn(lesson) {
      const { reward, weight: trust } = lesson;
      const learned = feedback === "advantage" ? learnSurprise(lesson) : countRun(lesson);
      if (reward === null) return contribute(lesson, {});
      const surprise = learned ? learned.surprise : reward - NEUTRAL_REWARD;
      return contribute(lesson, {
        collection: (_, place) => learned?.steps[place] ?? [],
        memory({ memory }, { vector }) {
          const evidence = countable(trust);
          const advantage = countable(trust * surprise);
          addAlong(memory, evidence, advantage, vector);
          return [evidence, advantage];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: withdrawSteps,
        memory: ({ memory }, [evidence = 0, advantage = 0], { vector }) =>
          addAlong(memory, -evidence, -advantage, vector),
      });
    },

    discount: keepAlong,
    describe: ({ advantage, evidence }) => ({ utility: advantage / (evidence + shrinkage), evidence }),
    summarize: ({ lessons, spread, baseline }) => ({ lessons, spread, dims: baseline.length }),
  };
}
