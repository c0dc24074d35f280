import { hoursBetween, laterOf } from "../../scoring/time.js";
import { contribute } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings, NOT_NEGATIVE, TIME } from "../legality.js";
import { scoreOneByOne } from "../one-by-one.js";
import { scalarCodec } from "../scalar-codec.js";
import { TIME_WEIGHTED_DEFAULTS, TIME_WEIGHTED_RULES, type TimeWeightedOptions } from "./parameters.js";

/** One memory. */
export interface TimeWeightedMemory {
  /** Unix ms of the last exposure that showed it, NaN for never. */
  lastAccessed: number;
  /** Exposures that showed it. */
  accesses: number;
}

/** One collection. */
export interface TimeWeightedShared {
  /** Unix ms of the first exposure: when its memories are taken to have been added. NaN before. */
  since: number;
}

const memoryCodec = scalarCodec<TimeWeightedMemory>({
  lastAccessed: { empty: Number.NaN, rule: TIME },
  accesses: { empty: 0, rule: NOT_NEGATIVE },
});
const sharedCodec = scalarCodec<TimeWeightedShared>({ since: { empty: Number.NaN, rule: TIME } });

/** `(1 − decayRate)^hours` since a time; 1 for a clock that ran backwards. */
export function recency(decayRate: number, since: number, now: number): number {
  return (1 - decayRate) ** Math.max(0, hoursBetween(since, now));
}

/**
 * **Time-weighted recency**, `time-weighted@1`: LangChain's `TimeWeightedVectorStoreRetriever`.
 *
 *     score = similarity + (1 − 0.01)^hours          hours since the memory was last shown
 *
 * A memory that was never shown counts from the collection's first exposure, as LangChain counts a document from when it was
 * added. That retriever also makes candidates of the last few documents shown; a learner only orders what the host found.
 *
 * - **State**: two numbers per memory, one per collection.
 * - **Order-independent**: last access is a maximum, and outcomes are not looked at. There is nothing to correct.
 * - **Wrong choice** whenever outcomes are known: being shown keeps a memory on top, whether it helped or not. Its term lies in
 *   (0, 1] however far similarities spread: among close ones it is the order of last access, among scores up to 100 it is
 *   nothing. Kept as a baseline and for its users.
 * - `evidence` counts accesses.
 * - **Source**: LangChain.js documentation, time-weighted retriever.
 *
 * @throws INVALID_ARGUMENT
 */
export function timeWeighted(
  options: TimeWeightedOptions = {},
): Learner<TimeWeightedShared, TimeWeightedMemory, DecodedTable<TimeWeightedMemory>> {
  const settings = { ...TIME_WEIGHTED_DEFAULTS, ...options };
  checkSettings("timeWeighted", settings, TIME_WEIGHTED_RULES);
  const { decayRate } = settings;

  return {
    id: "time-weighted@1",
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new DecodedTable(memoryCodec),

    score(request) {
      const { shared, now } = request;
      const added = shared && !Number.isNaN(shared.since) ? shared.since : now;
      return scoreOneByOne(request, {
        utility: (memory) => recency(decayRate, memory ? laterOf(memory.lastAccessed, added) : added, now),
        evidence: ({ accesses }) => accesses,
        score: (similarity, utility) => similarity + utility,
      });
    },

    observe({ shared, memories, at }) {
      shared.since = Number.isNaN(shared.since) ? at : Math.min(shared.since, at);
      for (const memory of memories()) {
        memory.lastAccessed = laterOf(memory.lastAccessed, at);
        memory.accesses += 1;
      }
    },

    learn: (lesson) => contribute(lesson, {}),
    unlearn() {},

    // When a memory was last seen does not depend on its text.
    discount() {},

    describe: ({ lastAccessed, accesses }, now) => ({
      utility: Number.isNaN(lastAccessed) ? 0 : recency(decayRate, lastAccessed, now),
      evidence: accesses,
    }),
    summarize: ({ since }) => (Number.isNaN(since) ? {} : { since }),
  };
}
