import {
  type Defined,
  type FieldRules,
  kept,
  type Learner,
  observeSpread,
  oneOf,
  resolveOptions,
} from "@qavr/core/learner";
import { gate, scalarShare, scalarUtility } from "./formulas.js";
import { learn, type OarRules, unlearn } from "./learn.js";
import { OAR1_SETTINGS, type Oar1Setting } from "./parameters.js";
import { score } from "./score.js";
import { keepShare, memoryCodec, type Oar1Memory, type Oar1Shared, sharedCodec } from "./state.js";
import { Oar1Table } from "./table.js";

export interface Oar1Options {
  /** From most gain to most safety on new kinds of request. Each keeps its own state. @default "balanced" */
  readonly setting?: Oar1Setting | undefined;
  /**
   * Ms after which half of a memory's evidence is left. Set it when the value of memories changes by itself over time; a store with
   * rare requests then forgets evidence that it needs. Each value keeps its own state. At least a minute.
   * @default nothing fades
   */
  readonly halfLife?: number | undefined;
}

const MINUTE = 60_000;

const RULES: FieldRules<Oar1Options> = {
  setting: oneOf(...Object.keys(OAR1_SETTINGS)),
  halfLife: [(value) => typeof value === "number" && value >= MINUTE, "ms, at least a minute"],
};
const DEFAULTS: Defined<Oar1Options> = { setting: "balanced", halfLife: Number.POSITIVE_INFINITY };

function idOf(setting: Oar1Setting, halfLife: number): string {
  const fading = halfLife === Number.POSITIVE_INFINITY ? [] : [`half-life-${halfLife}`];
  return ["oar@1", ...(setting === "balanced" ? [] : [setting]), ...fading].join("/");
}

/**
 * **Online advantage regression**, `oar@1`: the model from which `oar` comes. Scalar advantages stand beside its vectors instead of in the model.
 *
 * An additive logistic model of a run: its logit of success is the sum of a baseline for the kind of request and of the effect of
 * each memory shown on such requests. Every outcome is one implicit step of that model: it changes the parameters until the model
 * agrees with the run, less for memories with more evidence. Memories of low utility take most of the blame for a failure.
 * It reads and writes only the memories shown and one shared state. No learning rate, no random numbers.
 *
 * Beside its vector each memory keeps a scalar advantage, for all requests alike. Its share in the ranking is learned: as far as it
 * predicts runs better than vectors do, which is so when requests are of one kind or have no vector.
 *
 * Memories that were always shown together share every outcome, so their effects cannot be separated. The list is therefore chosen
 * place by place, and a memory with little evidence and no positive utility is discounted when its vector is like one above it.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}. **Numbers**: parameters.ts.
 * - **Settings**: `balanced` gains most; `guard` and `strict` reduce learned shifts for unfamiliar requests, and start more
 *   slowly.
 * - **State**: 1 KiB + 48 bytes per memory with evidence at 256 dims (4 KiB for requests given as texts), 256 bytes more with `guard` and
 *   `strict`; 2 KiB per collection.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when outcomes are false (accept verified ones only, or audit the sources), or when similarity is near-perfect
 *   and no memory misleads: it then costs up to 0.06 of success.
 *
 * @throws INVALID_ARGUMENT
 */
export function oar1(options: Oar1Options = {}): Learner<Oar1Shared, Oar1Memory, Oar1Table> {
  const { setting, halfLife } = resolveOptions("oar1", options, DEFAULTS, RULES);
  const guard = OAR1_SETTINGS[setting];
  const rules: OarRules = { footprints: guard !== undefined, halfLife };
  return {
    id: idOf(setting, halfLife),
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new Oar1Table(),
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
