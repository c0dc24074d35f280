import { checkFields } from "../../errors/known-fields.js";
import { kept } from "../../scoring/half-life.js";
import type { Learner } from "../learner.js";
import { checkSettings, type FieldRule, oneOf } from "../legality.js";
import { observeSpread } from "../running-spread.js";
import { gate, scalarShare, scalarUtility } from "./formulas.js";
import { learn, type OarRules, unlearn } from "./learn.js";
import { OAR_SETTINGS, type OarSetting } from "./parameters.js";
import { score } from "./score.js";
import { keepShare, memoryCodec, type OarMemory, type OarShared, sharedCodec } from "./state.js";
import { OarTable } from "./table.js";

export interface OarOptions {
  /** From most gain to most safety on kinds of request that were never met. Each keeps its own state. @default "balanced" */
  readonly setting?: OarSetting | undefined;
  /**
   * Ms after which half of what outcomes taught about a memory is left; it fades towards knowing nothing. Give it where what helps
   * goes out of date by itself; a store whose requests are rare forgets what it needs. Each keeps its own state. At least a minute.
   * @default nothing fades
   */
  readonly halfLife?: number | undefined;
}

const MINUTE = 60_000;

const HALF_LIFE: FieldRule = [(value) => typeof value === "number" && value >= MINUTE, "ms, at least a minute"];

function idOf(setting: OarSetting, halfLife: number): string {
  const fading = halfLife === Number.POSITIVE_INFINITY ? [] : [`half-life-${halfLife}`];
  return ["oar@1", ...(setting === "balanced" ? [] : [setting]), ...fading].join("/");
}

/**
 * **Online advantage regression**, `oar@1`, the default.
 *
 * An additive logistic model of a run: how likely it succeeds is the sum of what its kind of request expects and of what each
 * memory shown adds to such requests. Every outcome is one implicit step of that model: it moves what it must until the model
 * agrees with the run, less where much is known already, and blames for a failure those memories first that are suspected.
 * Nothing but the memories shown and one shared state is read or written. No learning rate, no random numbers.
 *
 * Beside its vector each memory keeps a scalar advantage, its worth whatever the request. How far that ranks is learned too: as far
 * as it predicts runs better than vectors do, which is where requests are of one kind or have no vector.
 *
 * Memories that were always shown together shared every outcome, and none of them tells which of them earned it. So a list is chosen
 * place by place, and a memory that is not known to help gives way while little is known of it and it points the same way as one above.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}. **Numbers**: parameters.ts.
 * - **Settings**: `balanced` gains most; `guard` and `strict` keep learning away from requests unlike those it has met, at the
 *   price of a slower start.
 * - **State**: 1 KiB + 48 bytes per memory that taught (256 dims), 256 bytes more with `guard` and `strict`; 2 KiB per collection.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when outcomes lie (no ranker can notice: accept verified ones, or audit the sources), or when similarity is
 *   near-perfect and no memory misleads: then it costs up to 0.02 of success.
 *
 * @throws INVALID_ARGUMENT
 */
export function oar(options: OarOptions = {}): Learner<OarShared, OarMemory, OarTable> {
  const rulesOfOptions = { setting: oneOf(...Object.keys(OAR_SETTINGS)), halfLife: HALF_LIFE };
  checkFields(options, "The options of oar", "oar has no option", rulesOfOptions);
  const { setting = "balanced", halfLife = Number.POSITIVE_INFINITY } = options;
  checkSettings("oar", { setting, halfLife }, rulesOfOptions);
  const guard = OAR_SETTINGS[setting];
  const rules: OarRules = { footprints: guard !== undefined, halfLife };
  return {
    id: idOf(setting, halfLife),
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new OarTable(),
    score: (request) => score(request, guard, halfLife),
    observe: observeSpread,
    learn: (lesson) => learn(lesson, rules),
    unlearn: (lesson, contribution) => unlearn(lesson, contribution, rules),
    discount: keepShare,
    describe({ advantage, evidence, at }, now) {
      const left = kept(now - at, halfLife);
      return { utility: scalarUtility(left * advantage, left * evidence), evidence: left * evidence };
    },
    summarize: (shared) => ({
      lessons: shared.lessons,
      gate: gate(shared),
      scalar: scalarShare(shared),
      spread: shared.spread,
      dims: shared.mean.length,
    }),
  };
}
