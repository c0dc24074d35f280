import { type FieldRules, resolveOptions } from "../../errors/field-rules.js";
import { kept } from "../../scoring/half-life.js";
import type { Learner } from "../learner.js";
import { observeSpread } from "../running-spread.js";
import { gatesOf } from "./gates.js";
import { learn, unlearn } from "./learn.js";
import { score } from "./score.js";
import { keepShare, memoryCodec, type OarMemory, type OarShared, sharedCodec } from "./state.js";
import { OarTable } from "./table.js";
import { hostShareOf } from "./worth.js";

export interface OarOptions {
  /**
   * Ms after which half of a memory's evidence is left. Set it when the value of memories changes by itself over time; a store with
   * rare requests then forgets evidence that it needs. Each value keeps its own state. At least a minute.
   * @default nothing fades
   */
  readonly halfLife?: number | undefined;
}

/** The learner that `oar` returns, named for the declarations of other packages. */
export interface OarLearner extends Learner<OarShared, OarMemory, OarTable> {}

const MINUTE = 60_000;

const RULES: FieldRules<OarOptions> = {
  halfLife: [(value) => typeof value === "number" && value >= MINUTE, "ms, at least a minute"],
};

/**
 * **Online advantage regression**, `oar@2`, the default.
 *
 * An additive logistic model of a run: its logit of success is the sum of a baseline for the kind of request and of the effect of
 * each memory shown. A memory's effect is its reputation, one number for all requests, plus its context: a vector whose product with
 * the request says what it adds on such requests. Every outcome is one implicit step of that model: it changes the parameters until
 * the model agrees with the run, less for memories with more evidence. Of what a run teaches, memories of low utility take more.
 * It reads and writes only the memories shown and one shared state. No learning rate, no random numbers.
 *
 * Reputations and contexts move the order only as far as their predictions came true: a regression of the runs' surprises on both
 * gives each a gate between 0 and 1.
 *
 * After 300 runs a share of the episodes shows the host's order, until the comparison says what learning is worth.
 *
 * Memories that were always shown together share every outcome, so their effects cannot be separated. The list is therefore chosen
 * place by place, and a memory with little evidence and no positive utility is discounted when its vector is like one above it.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}. **Gates**: {@link gatesOf}. **Controls**: {@link hostShareOf}. **Numbers**: parameters.ts.
 * - **State**: 1 KiB + 48 bytes per memory with evidence at 256 dims (4 KiB for requests given as texts); 2 KiB per collection.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when outcomes are false (accept verified ones only, or audit the sources).
 *
 * @throws INVALID_ARGUMENT
 */
export function oar(options: OarOptions = {}): OarLearner {
  const { halfLife } = resolveOptions("oar", options, { halfLife: Number.POSITIVE_INFINITY }, RULES);
  return {
    id: halfLife === Number.POSITIVE_INFINITY ? "oar@2" : `oar@2/half-life-${halfLife}`,
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new OarTable(),
    score: (request) => score(request, halfLife),
    observe: observeSpread,
    learn: (lesson) => learn(lesson, halfLife),
    unlearn: (lesson, contribution) => unlearn(lesson, contribution, halfLife),
    forgetsRequests: true,
    discount: keepShare,
    describe({ reputation, evidence, at }, now) {
      const left = kept(now - at, halfLife);
      return { utility: left * reputation, evidence: left * evidence };
    },
    summarize(shared) {
      const { reputation, context } = gatesOf(shared, shared.spreadCount > 0);
      const gate = Math.max(reputation, context);
      return {
        lessons: shared.lessons,
        gate,
        reputations: reputation,
        contexts: context,
        controls: hostShareOf(shared, gate === 0),
        spread: shared.spread,
        dims: shared.mean.length,
      };
    },
  };
}
