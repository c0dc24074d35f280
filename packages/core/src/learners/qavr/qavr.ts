import { QavrError } from "../../errors/qavr-error.js";
import { clamp } from "../../scoring/bounds.js";
import { DecodedTable } from "../decoded-table.js";
import type { Contribution, Learner } from "../learner.js";
import { blend, decayedQ, unitSimilarities, updatedQ } from "./formulas.js";
import { QAVR_DEFAULTS, type QavrOptions, type QavrSettings, SUCCESS } from "./parameters.js";
import { memoryCodec, type QavrMemory, type QavrShared, sharedCodec } from "./state.js";

/**
 * **Q-value augmented vector retrieval**, `qavr@1`: the formula that gave this project its name, exactly as published.
 *
 *     score = (1 − α) · similarity + α · q          α = 0 until 100 finished episodes of the context, then 0.3
 *     q ← q + 0.1 · (r − q), in [0, 1]              r = 1 used and succeeded, 0.1 not used, −0.2 failed
 *     unused memories fade: q · 0.99^days
 *
 * - **State**: one number per memory, whatever the request; warmth per context.
 * - **Order**: only the first 2·topK candidates compete.
 * - **Wrong choice** when memories are good for some requests and bad for others: one number cannot say so. Its reach is
 *   bounded too: a difference in q bridges at most α / (1 − α) = 0.43 of similarity. Kept as a baseline and for its users.
 * - An outcome's weight multiplies the step: a run that merely ended (weight 0.3) moves q by 0.03 instead of 0.1.
 * - Votes are ignored; q is not a probability (half successes, half failures settle at 0.4).
 *
 * @throws INVALID_ARGUMENT
 */
export function qavr(options: QavrOptions = {}): Learner<QavrShared, QavrMemory, DecodedTable<QavrMemory>> {
  const settings = resolve(options);
  const { learningRate, decayFactor, warmThreshold, alphaWarm, initialQ, rewards } = settings;
  const codec = memoryCodec(initialQ);
  const decayed = (memory: QavrMemory, now: number): number =>
    decayedQ(memory.q, memory.lastAccessed, now, decayFactor);

  return {
    id: "qavr@1",
    fetchK: (topK) => settings.overFetch * topK,
    shared: sharedCodec,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score({ shared, table, rows, similarities, context, topK, now }) {
      const warm = (shared?.contexts[context] ?? 0) >= warmThreshold;
      const alpha = warm ? alphaWarm : 0;
      const { values, rescaled } = unitSimilarities(similarities);
      const count = similarities.length;
      const score = new Float64Array(count);
      const utility = new Float64Array(count);
      const evidence = new Float64Array(count);
      for (let i = 0; i < count; i++) {
        const memory = table.at(rows[i] as number);
        const q = memory ? decayed(memory, now) : initialQ;
        utility[i] = q;
        evidence[i] = memory ? memory.successCount + memory.failureCount : 0;
        score[i] = alpha === 0 ? (similarities[i] as number) : blend(values[i] as number, q, alpha);
      }
      return {
        score,
        utility,
        evidence,
        gate: alpha,
        unchanged: alpha === 0,
        movable: settings.overFetch * topK,
        ...(rescaled && alpha > 0 ? { note: "similarities lie outside [0, 1] and were rescaled by min-max" } : {}),
      };
    },

    observe({ memories, at }) {
      for (const memory of memories()) {
        memory.q = decayed(memory, at);
        memory.lastAccessed = at;
        memory.accessCount += 1;
      }
    },

    learn({ exposures, reward, weight, at }): Contribution {
      const counted = reward === null ? [] : firstOfContexts(exposures);
      for (const { shared, context } of counted) shared.contexts[context] = (shared.contexts[context] ?? 0) + 1;
      return {
        exposures: exposures.map((exposure) => ({
          direction: undefined,
          scalars: counted.includes(exposure) ? [1] : [],
          memories: exposure.shown.map(({ memory, weight: relevance, used }): readonly number[] => {
            if (reward === null || relevance === 0) return [];
            const success = reward >= SUCCESS;
            const earned = success ? (used === false ? rewards.notUsed : rewards.used) : rewards.failed;
            const before = decayed(memory, at);
            const rate = learningRate * weight;
            memory.q = updatedQ(before, earned, rate);
            memory.lastAccessed = Number.isNaN(memory.lastAccessed) ? at : Math.max(memory.lastAccessed, at);
            memory.updates += 1;
            if (success) memory.successCount += 1;
            else memory.failureCount += 1;
            return [before - memory.q, rate, memory.updates, success ? 1 : 0];
          }),
        })),
      };
    },

    unlearn({ exposures }, contribution) {
      exposures.forEach(({ shared, context, shown }, i) => {
        // Counted at most once per episode: its interaction goes with its outcome and comes back with the better one.
        if (contribution.exposures[i]?.scalars[0]) shared.contexts[context] = (shared.contexts[context] ?? 1) - 1;
        shown.forEach(({ memory }, place) => {
          const [change, rate = 0, updates = 0, success] = contribution.exposures[i]?.memories[place] ?? [];
          if (change === undefined) return;
          // Each later update has multiplied what this one left by (1 − rate).
          memory.q = clamp(memory.q + change * (1 - rate) ** (memory.updates - updates), 0, 1);
          memory.updates -= 1;
          // An edit in between may have halved the count.
          if (success) memory.successCount = Math.max(0, memory.successCount - 1);
          else memory.failureCount = Math.max(0, memory.failureCount - 1);
        });
      });
    },

    discount(memory, keep) {
      memory.q = initialQ + (memory.q - initialQ) * keep;
      memory.successCount *= keep;
      memory.failureCount *= keep;
    },

    describe: (memory, now) => ({
      utility: decayed(memory, now),
      evidence: memory.successCount + memory.failureCount,
    }),

    summarize: (shared) => ({
      contexts: Object.fromEntries(
        Object.entries(shared.contexts).map(([context, interactions]) => [
          context,
          {
            interactions,
            mode: interactions >= warmThreshold ? "warm" : "cold",
            interactionsToWarm: Math.max(0, warmThreshold - interactions),
          },
        ]),
      ),
    }),
  };
}

/** Each context of an episode once per collection: an interaction is a finished episode, not a retrieval. */
function firstOfContexts<Exposure extends { readonly shared: QavrShared; readonly context: string }>(
  exposures: readonly Exposure[],
): Exposure[] {
  return exposures.filter(
    (exposure, i) =>
      exposures.findIndex(({ shared, context }) => shared === exposure.shared && context === exposure.context) === i,
  );
}

function resolve(options: QavrOptions): QavrSettings {
  const settings: QavrSettings = {
    ...QAVR_DEFAULTS,
    ...options,
    rewards: { ...QAVR_DEFAULTS.rewards, ...options.rewards },
  };
  const check = (name: string, value: number, legal: boolean, range: string): void => {
    if (!legal) {
      throw new QavrError("INVALID_ARGUMENT", `qavr: ${name} must be ${range}. Received ${value}.`, {
        details: { option: name, received: String(value) },
      });
    }
  };
  const { learningRate, decayFactor, warmThreshold, alphaWarm, initialQ, overFetch, rewards } = settings;
  check("learningRate", learningRate, learningRate > 0 && learningRate <= 1, "in (0, 1]");
  check("decayFactor", decayFactor, decayFactor > 0 && decayFactor <= 1, "in (0, 1]");
  check(
    "warmThreshold",
    warmThreshold,
    Number.isInteger(warmThreshold) && warmThreshold >= 0,
    "a whole number of at least 0",
  );
  check("alphaWarm", alphaWarm, alphaWarm >= 0 && alphaWarm <= 1, "in [0, 1]");
  check("initialQ", initialQ, initialQ >= 0 && initialQ <= 1, "in [0, 1]");
  check("overFetch", overFetch, Number.isInteger(overFetch) && overFetch >= 1, "a whole number of at least 1");
  for (const [name, value] of Object.entries(rewards))
    check(`rewards.${name}`, value, value >= -1 && value <= 1, "in [−1, 1]");
  return settings;
}
