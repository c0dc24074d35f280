import { AdvantageTable } from "../advantage-table.js";
import { type AdvantageVector, advantageVectorCodec, keepAlong } from "../advantage-vector.js";
import type { Learner } from "../learner.js";
import { checkSettings } from "../legality.js";
import { centre } from "../request-model.js";
import { observeSpread } from "../running-spread.js";
import { scoreAlong } from "../score-along.js";
import { learn, refit, unlearn } from "./learn.js";
import { JOINT_REPLAY, JOINT_REPLAY_DEFAULTS, JOINT_REPLAY_RULES, type JointReplayOptions } from "./parameters.js";
import { type JointReplayShared, sharedCodec } from "./state.js";

/**
 * **Joint logistic regression with experience replay**, `joint-replay@1`: one logistic model of success, with a vector for each
 * memory, fitted to a log of runs over and over.
 *
 *     z     = unit(q − 0.7 mean)                     the request, less most of what all requests have in common
 *     p     = sigmoid(bias + baseline · z + Σ w v · z)                    over the memories shown, w: relevance
 *     score = similarity + 0.6 σ' · v · z            σ': running spread of the collection's similarities over 0.1
 *
 * A new run and twelve of the last 2000 each take a step of gradient ascent ({@link refit}) after every outcome: what one memory
 * explains is not credited to the others, and what is known of a memory now is applied to old runs, too. `jar` maximises such a
 * posterior by dual steps without a rate, and adds a gate, bounds and a bonus for memories that were tried little.
 *
 * - **No random numbers**: old runs are visited round robin where experience replay usually draws them, and scores are left without
 *   the noise (Thompson's, 0.1 / √(n + 1)) that its numbers were tuned with. Credit goes by the engine's relevance, not by a power
 *   of similarity.
 * - **State**: 1 KiB + 16 bytes per memory that taught (256 dims), 2 KiB per collection, and one short state per remembered run.
 * - **Not order-independent**; equal ledgers give equal bytes. A corrected outcome takes back what its run contributes, up to
 *   float32 rounding; what other runs were fitted to meanwhile stays until they are visited again, and the baseline ages by its
 *   fits. A run that left the log keeps what it contributed by then.
 * - **Wrong choice** when writes are dear (each visited run writes its episode and some five memories again), without request
 *   vectors (it then learns, but ranks by similarity), for kinds of request that it never saw, and when similarity is near-perfect
 *   (it then costs up to 0.04 of success): nothing bounds the shift or closes a gate.
 * - An outcome's weight multiplies its gradient. Votes and use are ignored; relevance counts.
 * - **Source**: logistic regression with a Gaussian prior by stochastic gradient ascent; experience replay (Lin 1992).
 *
 * @throws INVALID_ARGUMENT
 */
export function jointReplay(
  options: JointReplayOptions = {},
): Learner<JointReplayShared, AdvantageVector, AdvantageTable> {
  const settings = { ...JOINT_REPLAY_DEFAULTS, ...options };
  checkSettings("jointReplay", settings, JOINT_REPLAY_RULES);
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
