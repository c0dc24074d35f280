import { countable } from "../../scoring/countable.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings } from "../legality.js";
import { scoreOneByOne } from "../one-by-one.js";
import { observeSpread, spreadScale } from "../running-spread.js";
import { learn, memoryLogit, unlearn } from "./learn.js";
import { membershipsOf } from "./membership.js";
import { CONTEXTS_DEFAULTS, CONTEXTS_RULES, type ContextsOptions, GLOBAL_SHARE } from "./parameters.js";
import { type ContextsMemory, type ContextsShared, memoryCodec, sharedCodec } from "./state.js";

/**
 * **Contexts**, `contexts@1`: requests fall into kinds that are found on the way, and each memory has a number for each kind.
 *
 *     φ_c   = cos(q, centre_c)⁴ over its sum         for the three nearest contexts
 *     u     = 0.3 m + Σ φ_c m_c                      what showing the memory adds to the log-odds of success
 *     score = similarity + σ' · u                    σ': running spread of the collection's similarities over 0.1
 *
 * A request founds a context where none is nearer than a cosine of 0.5 and fewer than 192 exist; otherwise it moves the nearest one.
 * The log-odds are those of one logistic model of all runs, fitted by one gradient step per run ({@link learn}).
 *
 * - **State**: two numbers and three per context it was shown in, per memory; up to 195 KiB per collection at 256 dims, read and
 *   written with every outcome.
 * - **Not order-independent**: contexts form around what came first. A corrected outcome takes its steps back, to the bit for the
 *   last one; of older ones what later fading took stays.
 * - **Wrong choice** for kinds of request that it never saw (it gives them to the nearest context), where commits must be small,
 *   and where the kinds are known: give them as collections instead.
 * - Without a request vector only `0.3 m` is left. `context` labels, votes, relevance and use are ignored.
 * - **Source**: leader clustering (Hartigan 1975) and logistic regression on memberships. Passing over old runs again makes it
 *   stronger; a learner that sees one run at a time cannot.
 *
 * @throws INVALID_ARGUMENT
 */
export function contexts(
  options: ContextsOptions = {},
): Learner<ContextsShared, ContextsMemory, DecodedTable<ContextsMemory>> {
  const settings = { ...CONTEXTS_DEFAULTS, ...options };
  checkSettings("contexts", settings, CONTEXTS_RULES);

  return {
    id: "contexts@1",
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new DecodedTable(memoryCodec),

    score(request) {
      const { shared, similarities, vector } = request;
      const memberships = membershipsOf(shared, vector);
      const scale = settings.weight * spreadScale(shared, similarities);
      return scoreOneByOne(request, {
        utility: (memory) => (memory ? memoryLogit(memory, memberships) : 0),
        evidence: ({ evidence }) => evidence,
        score: (similarity, logit) => similarity + scale * logit,
      });
    },

    observe: observeSpread,
    learn: (lesson) => learn(lesson, settings),
    unlearn,

    discount(memory, keep) {
      for (const effect of [memory, ...memory.effects.values()]) {
        effect.evidence = countable(effect.evidence * keep);
        effect.logit = effect.evidence === 0 ? 0 : countable(effect.logit * keep);
      }
    },

    describe: ({ logit, evidence }) => ({ utility: GLOBAL_SHARE * logit, evidence }),
    summarize: ({ contexts: known, spread }) => ({
      contexts: known.length,
      spread,
      dims: known[0]?.centre.length ?? 0,
    }),
  };
}
