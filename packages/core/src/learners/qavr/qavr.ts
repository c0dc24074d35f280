import { definedOnly } from "../../errors/defined-only.js";
import { checkFields } from "../../errors/known-fields.js";
import { blend, rescaledNote, unitSimilarities } from "../../scoring/blend.js";
import { clamp } from "../../scoring/bounds.js";
import { laterOf } from "../../scoring/time.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings } from "../legality.js";
import { leftOf } from "../moving-average.js";
import { scoreOneByOne } from "../one-by-one.js";
import { SUCCESS } from "../success.js";
import { decayedQ, updatedQ } from "./formulas.js";
import { QAVR_DEFAULTS, QAVR_REWARD_RULES, QAVR_RULES, type QavrOptions, type QavrSettings } from "./parameters.js";
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

    score(request) {
      const { shared, similarities, context, topK, now } = request;
      const warm = (shared?.contexts[context] ?? 0) >= warmThreshold;
      const alpha = warm ? alphaWarm : 0;
      const { values, rescaled } = unitSimilarities(similarities);
      const scores = scoreOneByOne(
        request,
        {
          utility: (memory) => (memory ? decayed(memory, now) : initialQ),
          evidence: ({ successCount, failureCount }) => successCount + failureCount,
          score: (similarity, q, i) => (alpha === 0 ? similarity : blend(values[i] as number, q, alpha)),
        },
        settings.overFetch * topK,
      );
      const unchanged = scores.unchanged || alpha === 0;
      return { ...scores, gate: alpha, unchanged, ...(rescaled && !unchanged ? { note: rescaledNote(0) } : {}) };
    },

    observe({ memories, at }) {
      for (const memory of memories()) {
        memory.q = decayed(memory, at);
        memory.lastAccessed = at;
        memory.accessCount += 1;
      }
    },

    learn(lesson) {
      const { exposures, reward, weight, at } = lesson;
      const counted = reward === null ? [] : firstOfContexts(exposures);
      for (const { shared, context } of counted) shared.contexts[context] = (shared.contexts[context] ?? 0) + 1;
      return contribute(lesson, {
        collection: (exposure) => (counted.includes(exposure) ? [1] : []),
        memory({ memory, used }) {
          if (reward === null) return [];
          const success = reward >= SUCCESS;
          const earned = success ? (used === false ? rewards.notUsed : rewards.used) : rewards.failed;
          const before = decayed(memory, at);
          const rate = learningRate * weight;
          memory.q = updatedQ(before, earned, rate);
          memory.lastAccessed = laterOf(memory.lastAccessed, at);
          memory.updates += 1;
          if (success) memory.successCount += 1;
          else memory.failureCount += 1;
          return [before - memory.q, rate, memory.updates, success ? 1 : 0];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        // Counted at most once per episode: its interaction goes with its outcome and comes back with the better one.
        collection({ shared, context }) {
          shared.contexts[context] = (shared.contexts[context] ?? 1) - 1;
        },
        memory({ memory }, [change = 0, rate = 0, updates = 0, success]) {
          memory.q = clamp(memory.q + leftOf(change, rate, memory.updates - updates), 0, 1);
          memory.updates -= 1;
          // An edit in between may have halved the count.
          if (success) memory.successCount = Math.max(0, memory.successCount - 1);
          else memory.failureCount = Math.max(0, memory.failureCount - 1);
        },
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
  const known = { ...QAVR_RULES, rewards: QAVR_REWARD_RULES };
  checkFields(options, "The options of qavr", "qavr has no option", known);
  const { rewards = {} } = options;
  checkFields(rewards, "The rewards of qavr", "qavr has no reward", QAVR_REWARD_RULES);
  const settings: QavrSettings = {
    ...QAVR_DEFAULTS,
    ...definedOnly(options, known),
    rewards: { ...QAVR_DEFAULTS.rewards, ...definedOnly(rewards, QAVR_REWARD_RULES) },
  };
  checkSettings("qavr", settings, QAVR_RULES);
  checkSettings("qavr", settings.rewards, QAVR_REWARD_RULES);
  return settings;
}
