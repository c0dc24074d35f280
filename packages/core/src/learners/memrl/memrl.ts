import { blend } from "../../scoring/blend.js";
import { clamp } from "../../scoring/bounds.js";
import { standardised } from "../../scoring/spread.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings } from "../legality.js";
import { type MovingAverage, movingAverages } from "../moving-average.js";
import { noState } from "../no-state.js";
import { scoreOneByOne } from "../one-by-one.js";
import { scalarCodec } from "../scalar-codec.js";
import { CLIP, MEMRL_DEFAULTS, MEMRL_RULES, type MemrlOptions } from "./parameters.js";

/** One memory: its value Q in [−1, 1]. */
export type MemrlMemory = MovingAverage;

/**
 * **MemRL**, `memrl@1`: two-phase retrieval by similarity, then by learned value.
 *
 *     phase A   the first 2·topK candidates, above a threshold if one is set
 *     phase B   score = 0.5 · ẑ(similarity) + 0.5 · ẑ(Q)         ẑ: standardised over phase A, that of Q within ±3
 *     Q ← Q + 0.3 · (r − Q)                                       r = 1 success, −1 failure; Q starts at 0
 *
 * Every memory shown gets the same reward. An outcome's weight multiplies the step.
 *
 * - **State**: three numbers per memory, nothing per collection.
 * - **Not order-independent**: a moving average keeps more of what came last. A correction takes back what later outcomes of the same
 *   weight have left of the old verdict, which is exact for the last one only.
 * - **Wrong choice** when memories help some requests and harm others (one number cannot say so), when similarity leaves little
 *   doubt (standardising makes two nearly equal values as far apart as two opposite ones), and with few candidates.
 * - The authors' implementation draws a random order in one of a hundred requests on one benchmark; left out here, so that equal
 *   states give equal rankings. Votes, relevance and use are ignored.
 * - **Source**: arXiv 2601.03192 (formulas, λ, α, k1 and k2); MemTensor/MemRL (the bound of ±3).
 *
 * @throws INVALID_ARGUMENT
 */
export function memrl(options: MemrlOptions = {}): Learner<null, MemrlMemory, DecodedTable<MemrlMemory>> {
  const settings = { ...MEMRL_DEFAULTS, ...options };
  checkSettings("memrl", settings, MEMRL_RULES);
  const { learningRate, initialQ, success, failure, valueWeight, candidates, threshold } = settings;
  const averages = movingAverages(initialQ, -1, 1);
  const codec = scalarCodec<MemrlMemory>(averages.fields);

  return {
    id: "memrl@1",
    fetchK: (topK) => candidates * topK,
    shared: noState,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score(request) {
      const { table, rows, similarities, topK } = request;
      const unlike = similarities.findIndex((similarity) => similarity <= threshold);
      const movable = Math.min(candidates * topK, unlike === -1 ? similarities.length : unlike);
      const qOf = (memory: MemrlMemory | undefined): number => memory?.value ?? initialQ;
      const near = standardised(similarities.subarray(0, movable));
      const good = standardised(Float64Array.from(rows.subarray(0, movable), (row) => qOf(table.at(row))));
      return scoreOneByOne(
        request,
        {
          utility: qOf,
          evidence: ({ evidence }) => evidence,
          score: (_, __, i) => blend(near[i] as number, clamp(good[i] as number, -CLIP, CLIP), valueWeight),
        },
        movable,
      );
    },

    observe() {},

    learn(lesson) {
      const { reward, weight } = lesson;
      if (reward === null) return contribute(lesson, {});
      const target = failure + reward * (success - failure);
      return contribute(lesson, { memory: ({ memory }) => averages.move(memory, target, learningRate, weight) });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, { memory: ({ memory }, added) => averages.takeBack(memory, added) });
    },

    discount: averages.keep,
    describe: ({ value, evidence }) => ({ utility: value, evidence }),
    summarize: () => ({}),
  };
}
