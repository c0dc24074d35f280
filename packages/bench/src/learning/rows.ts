import { type Learner, oar, qValue, similarity } from "@qavr/core";
import type { DatasetName } from "@qavr/lab";
import {
  beta,
  byUse,
  cav,
  contexts,
  globalAdvantage,
  grouped,
  jar,
  jointLogistic,
  jointReplay,
  kernelPrototypes,
  memrl,
  oar1,
  reinforcement,
  rocchio,
  score10,
  successRate,
  timeWeighted,
} from "@qavr/learners";
import type { CreateArm } from "./arm.js";
import { type EngineArmOptions, engineArm } from "./engine-arm.js";
import { idealObserverArm } from "./ideal-observer.js";
import { timeWeightedArm } from "./time-weighted-arm.js";

/** One line of every table: a way to choose memories. */
export interface Row {
  readonly name: string;
  readonly createArm: CreateArm;
  /** True if it receives votes, groups, needs or the simulator's own uses, which the other rows do not. */
  readonly knowsMore: boolean;
  /** Costs so much that the full benchmark leaves it out of the other worlds. */
  readonly slow: boolean;
  /** The only comparisons that it takes part in. @default all */
  readonly only?: { readonly sets: readonly DatasetName[]; readonly scenario: string };
  /** Seeds of the full benchmark where it takes fewer than the others. */
  readonly seeds?: number;
  /** Takes part only where outcomes come from named sources. */
  readonly sourcesOnly: boolean;
  /** Settings of one learner, or learners of one idea: in the page's table the one that gains most stands for its group. */
  readonly group: string;
}

type RowOptions = Omit<EngineArmOptions, "learner"> &
  Partial<Pick<Row, "slow" | "only" | "seeds" | "sourcesOnly" | "group">>;

/** A row that runs a learner in the public engine. */
function row(
  name: string,
  learner: () => unknown,
  { slow, only, seeds, sourcesOnly, group, ...options }: RowOptions = {},
): Row {
  // A learner's states are its own business: the engine sees all learners alike.
  const arm: EngineArmOptions = { learner: learner as () => Learner, ...options };
  return {
    name,
    createArm: (world) => engineArm(world, arm),
    knowsMore:
      options.votes === true ||
      options.groups !== undefined ||
      options.context !== undefined ||
      (options.used ?? "seen") !== "seen",
    slow: slow ?? false,
    ...(only && { only }),
    ...(seeds !== undefined && { seeds }),
    sourcesOnly: sourcesOnly ?? false,
    group: group ?? name,
  };
}

/** The row of the engine's default learner; `<name>+votes`, `<name>+hashed` are its variants. A test holds it to the engine's own. */
export const DEFAULT_ROW = "oar";
/** The default learner before it. */
export const PREDECESSOR_ROW = "oar1";
/** The row that another one is a variant of, by its name: `oar+votes` of `oar`. */
export function variantOf(row: string): string {
  return row.split("+", 1)[0] as string;
}

/** The row that every gain is counted from. */
export const BASELINE_ROW = "similarity";
/** The published formula that gains are multiples of. */
export const REFERENCE_ROW = "qavr";

/** Yardsticks know the needs of requests: they are compared where each request has one, and needs come again. */
const YARDSTICKS: NonNullable<Row["only"]> = { sets: ["banking77", "hwu64", "clinc150"], scenario: "main" };

export const YARDSTICK_SEEDS = 4;

/** All rows, in the order of the tables. Adding a learner is one line here. */
export const ROWS: readonly Row[] = [
  row(BASELINE_ROW, similarity),
  row(REFERENCE_ROW, () => qValue({ rewards: { failed: 0 } })),
  row("qavr-table", qValue, { used: "seen", group: "qavr" }),
  row("memrl", memrl),
  row("score10", score10),
  row("score10-wide", () => score10({ helpful: 10, harmful: -10, rate: 0.2, recencyWeight: 0 }), { group: "score10" }),
  row("success-rate", successRate, { group: "counts" }),
  row("reinforcement", reinforcement, { group: "reading" }),
  row("time-weighted", timeWeighted, { group: "reading" }),
  row("beta-mean", beta, { group: "counts" }),
  row("beta-ucb", () => beta({ policy: "ucb" }), { group: "counts" }),
  row("beta-thompson", () => beta({ policy: "thompson" }), { group: "counts" }),
  row("global-advantage", globalAdvantage, { group: "advantages" }),
  row("joint-logistic", jointLogistic, { group: "advantages" }),
  row("joint-replay", jointReplay, { slow: true, group: "jar" }),
  row("rocchio", rocchio, { group: "places" }),
  row("rocchio-reward", () => rocchio({ feedback: "reward" }), { group: "places" }),
  row("kernel-prototypes", kernelPrototypes, { slow: true, group: "places" }),
  row("contexts", contexts, { slow: true, group: "places" }),
  row("cav", cav, { group: "places" }),
  row("cav+votes", cav, { votes: true, group: "others with votes" }),
  row("jar", jar, { slow: true }),
  row("jar-8", () => jar({ revisits: 8 }), { slow: true, group: "jar" }),
  row("jar-5", () => jar({ revisits: 5 }), { slow: true, group: "jar" }),
  row("jar-0", () => jar({ revisits: 0 }), { group: "jar" }),
  row("jar-guard", () => jar({ setting: "guard" }), { slow: true, group: "jar" }),
  row("jar-strict", () => jar({ setting: "strict" }), { slow: true, group: "jar" }),
  row("jar+votes", jar, { votes: true, slow: true, group: "others with votes" }),
  row("oar1", oar1),
  row("oar1-guard", () => oar1({ setting: "guard" }), { group: "oar1" }),
  row("oar1-strict", () => oar1({ setting: "strict" }), { group: "oar1" }),
  row("oar1+votes", oar1, { votes: true, group: "others with votes" }),
  row("oar", oar),
  row("oar+votes", oar, { votes: true }),
  row("oar+hashed", oar, { vector: "text" }),
  row("oar+1536", oar, { vector: "wide", slow: true }),
  row("oar+audited", oar, { trust: "audited", sourcesOnly: true }),
  row("oar+verified-only", oar, { hears: ({ tier }) => tier === "verified", sourcesOnly: true }),
  row("grouped", grouped, { groups: "needs", slow: true }),
  row("grouped+random", grouped, { groups: "random", slow: true, group: "grouped" }),
  row("by-use", byUse, { used: "true", slow: true }),
  row("by-use+wrong", byUse, { used: "wrong", slow: true, group: "by-use" }),
  row("needs-inferred", oar, { context: "inferred need", only: YARDSTICKS, seeds: YARDSTICK_SEEDS, slow: true }),
  {
    name: "ideal-observer",
    createArm: idealObserverArm,
    knowsMore: true,
    slow: true,
    only: YARDSTICKS,
    seeds: YARDSTICK_SEEDS,
    sourcesOnly: false,
    group: "ideal-observer",
  },
  {
    name: "langchain-time-weighted",
    createArm: timeWeightedArm,
    knowsMore: false,
    slow: false,
    only: { sets: ["banking77"], scenario: "main" },
    sourcesOnly: false,
    group: "reading",
  },
];
