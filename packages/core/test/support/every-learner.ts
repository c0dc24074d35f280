import type { Learner } from "../../src/index.js";
import * as learners from "../../src/learners/index.js";

/** A learner of the package and what its card promises. */
export interface LearnerEntry {
  readonly name: string;
  readonly create: () => Learner;
  /**
   * What a corrected run leaves behind, compared with the better verdict alone: the same bits, or the same numbers up to the
   * rounding of float32 sums. `later`: old runs were fitted again meanwhile, by what was known then.
   */
  readonly correction: "exact" | "rounded" | "later";
  /** Whether its states do not depend on the order of outcomes. */
  readonly orderIndependent: boolean;
  /** Whether outcomes move its order: it must then gain where something can be learned. */
  readonly gains: boolean;
}

type Promises = Omit<LearnerEntry, "name" | "create">;

const counting: Promises = { correction: "exact", orderIndependent: true, gains: true };
const readingOnly: Promises = { correction: "exact", orderIndependent: true, gains: false };
const sequential: Promises = { correction: "rounded", orderIndependent: false, gains: true };

const entry = (name: string, create: () => unknown, promises: Promises): LearnerEntry => ({
  name,
  create: create as () => Learner,
  ...promises,
});

/** Every learner of the sub-path, in every variant that learns or ranks by another formula. */
export const everyLearner: readonly LearnerEntry[] = [
  entry("cav", () => learners.cav(), sequential),
  entry("jar", () => learners.jar({ revisits: 3 }), { ...sequential, correction: "later" }),
  entry("jar, guard", () => learners.jar({ setting: "guard", revisits: 0 }), sequential),
  entry("oar", () => learners.oar(), sequential),
  entry("oar, guard", () => learners.oar({ setting: "guard" }), { ...sequential, gains: false }),
  entry("qavr", () => learners.qavr({ warmThreshold: 2 }), sequential),
  entry("similarity", () => learners.similarity(), readingOnly),
  entry("successRate", () => learners.successRate(), counting),
  entry("reinforcement", () => learners.reinforcement(), readingOnly),
  entry("timeWeighted", () => learners.timeWeighted(), readingOnly),
  // The published constants are too timid to gain reliably.
  entry("score10", () => learners.score10(), { ...sequential, gains: false }),
  entry(
    "score10, wide",
    () => learners.score10({ helpful: 10, harmful: -10, rate: 0.2, recencyWeight: 0 }),
    sequential,
  ),
  entry("memrl", () => learners.memrl(), sequential),
  entry("beta, mean", () => learners.beta(), counting),
  entry("beta, ucb", () => learners.beta({ policy: "ucb" }), counting),
  entry("beta, thompson", () => learners.beta({ policy: "thompson" }), counting),
  entry("globalAdvantage", () => learners.globalAdvantage(), sequential),
  entry("jointLogistic", () => learners.jointLogistic(), sequential),
  entry("jointReplay", () => learners.jointReplay({ revisits: 3 }), { ...sequential, correction: "later" }),
  entry("rocchio", () => learners.rocchio(), sequential),
  entry("rocchio, reward", () => learners.rocchio({ feedback: "reward" }), sequential),
  entry("kernelPrototypes", () => learners.kernelPrototypes({ prototypes: 2 }), sequential),
  entry("contexts", () => learners.contexts({ contexts: 3 }), sequential),
];

/** The same as rows of `describe.each`, with the name first. */
export const everyLearnerByName: readonly (readonly [string, LearnerEntry])[] = everyLearner.map(
  (learner) => [learner.name, learner] as const,
);
