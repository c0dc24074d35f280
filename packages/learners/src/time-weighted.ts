import {
  contribute,
  DecodedTable,
  type Defined,
  type FieldRule,
  type Learner,
  laterOf,
  NOT_NEGATIVE,
  resolveOptions,
  scoreOneByOne,
  TIME,
  UNIT,
} from "@qavr/core/learner";
import { scalarCodec } from "./scalar-codec.js";

/** Settings of the `timeWeighted` learner. */
export interface TimeWeightedOptions {
  /** Share of recency that is lost per hour, in [0, 1]; 0 and 1 make time irrelevant. @default 0.01, LangChain's */
  readonly decayRate?: number | undefined;
}

const TIME_WEIGHTED_DEFAULTS: Defined<TimeWeightedOptions> = { decayRate: 0.01 };

const TIME_WEIGHTED_RULES: Readonly<Record<keyof TimeWeightedOptions, FieldRule>> = { decayRate: UNIT };

/** One memory. */
export interface TimeWeightedMemory {
  /** Unix ms of the last exposure that showed it, NaN for never. */
  lastAccessed: number;
  /** Exposures that showed it. */
  accesses: number;
}

/** One collection. */
export interface TimeWeightedShared {
  /** Unix ms of the first exposure, assumed as the time at which its memories were added. NaN before. */
  since: number;
}

const memoryCodec = scalarCodec<TimeWeightedMemory>({
  lastAccessed: { empty: Number.NaN, rule: TIME },
  accesses: { empty: 0, rule: NOT_NEGATIVE },
});
const sharedCodec = scalarCodec<TimeWeightedShared>({ since: { empty: Number.NaN, rule: TIME } });

const MS_PER_HOUR = 3_600_000;

/** `(1 − decayRate)^hours` since a time, both Unix ms; 1 for negative times. */
export function recency(decayRate: number, since: number, now: number): number {
  return (1 - decayRate) ** Math.max(0, (now - since) / MS_PER_HOUR);
}

/**
 * **Time-weighted recency**, `time-weighted@1`: LangChain's `TimeWeightedVectorStoreRetriever`.
 *
 *     score = similarity + (1 − 0.01)^hours          hours since the memory was last shown
 *
 * A memory that was never shown counts from the collection's first exposure, as LangChain counts a document from when it was
 * added. That retriever also adds the last few documents shown as candidates; a learner only orders the host's candidates.
 *
 * - **State**: two numbers per memory, one per collection.
 * - **Order-independent**: last access is a maximum, and outcomes are ignored. There is nothing to correct.
 * - **Wrong choice** when outcomes are known: showing keeps a memory on top, helpful or not. Its term lies in (0, 1] whatever the
 *   spread of similarities: it decides among close ones, and has no effect on scores up to 100. It is a baseline.
 * - `evidence` counts accesses.
 * - **Source**: LangChain.js documentation, time-weighted retriever.
 *
 * @throws INVALID_ARGUMENT
 */
export function timeWeighted(
  options: TimeWeightedOptions = {},
): Learner<TimeWeightedShared, TimeWeightedMemory, DecodedTable<TimeWeightedMemory>> {
  const settings = resolveOptions("timeWeighted", options, TIME_WEIGHTED_DEFAULTS, TIME_WEIGHTED_RULES);
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

    // The time of the last showing does not depend on the text.
    discount() {},

    describe: ({ lastAccessed, accesses }, now) => ({
      utility: Number.isNaN(lastAccessed) ? 0 : recency(decayRate, lastAccessed, now),
      evidence: accesses,
    }),
    summarize: ({ since }) => (Number.isNaN(since) ? {} : { since }),
  };
}
