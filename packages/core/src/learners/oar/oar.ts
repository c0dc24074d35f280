import type { Learner } from "../learner.js";
import { checkSettings, oneOf } from "../legality.js";
import { observeSpread } from "../running-spread.js";
import { gate, scalarUtility } from "./formulas.js";
import { learn, unlearn } from "./learn.js";
import { OAR_SETTINGS, type OarSetting } from "./parameters.js";
import { score } from "./score.js";
import { memoryCodec, type OarMemory, type OarShared, sharedCodec } from "./state.js";
import { OarTable } from "./table.js";

export interface OarOptions {
  /** From most gain to most safety on kinds of request that were never met. Each keeps its own state. @default "balanced" */
  readonly setting?: OarSetting;
}

/**
 * **Online advantage regression**, `oar@1`, the default.
 *
 * An additive logistic model of a run: how likely it succeeds is the sum of what its kind of request expects and of what each
 * memory shown adds to such requests. Every outcome is one implicit step of that model: it moves what it must until the model
 * agrees with the run, less where much is known already, and blames for a failure those memories first that are suspected.
 * Nothing but the memories shown and one shared state is read or written. No learning rate, no random numbers.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}. **Numbers**: parameters.ts.
 * - **Settings**: `balanced` gains most; `guard` and `strict` keep learning away from requests unlike those it has met, at the
 *   price of a slower start.
 * - **State**: 1 KiB + 40 bytes per memory that taught (256 dims), 256 bytes more with `guard` and `strict`; 2 KiB per collection.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when outcomes lie (no ranker can notice: accept verified ones, or audit the sources), or when similarity is
 *   near-perfect and no memory misleads: then it costs up to 0.02 of success.
 *
 * @throws INVALID_ARGUMENT
 */
export function oar(options: OarOptions = {}): Learner<OarShared, OarMemory, OarTable> {
  const { setting = "balanced" } = options;
  checkSettings("oar", { setting }, { setting: oneOf(...Object.keys(OAR_SETTINGS)) });
  const guard = OAR_SETTINGS[setting];
  const footprints = guard !== undefined;
  return {
    id: setting === "balanced" ? "oar@1" : `oar@1/${setting}`,
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new OarTable(),
    score: (request) => score(request, guard),
    observe: observeSpread,
    learn: (lesson) => learn(lesson, footprints),
    unlearn: (lesson, contribution) => unlearn(lesson, contribution, footprints),
    discount(memory, keep) {
      memory.evidence *= keep;
      memory.advantage *= keep;
      memory.information *= keep;
      memory.vector = memory.vector.map((value) => value * keep);
      memory.footprint = memory.footprint.map((value) => value * keep);
    },
    describe: ({ advantage, evidence }) => ({ utility: scalarUtility(advantage, evidence), evidence }),
    summarize: (shared) => ({
      lessons: shared.lessons,
      gate: gate(shared),
      spread: shared.spread,
      dims: shared.mean.length,
    }),
  };
}
