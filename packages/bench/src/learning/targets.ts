import { DATASET_NAMES, DATASETS, type DatasetName, mean } from "@qavr/lab";
import type { Comparison, Comparisons, Measure } from "./comparison.js";
import { BASELINE_ROW, DEFAULT_ROW, REFERENCE_ROW, ROWS, variantOf } from "./rows.js";
import { SCENARIOS, type ScenarioName } from "./scenarios.js";

/** One thing that is demanded of the default learner. */
export interface Target {
  readonly what: string;
  /** Without it the learner is not good enough. */
  readonly must: number;
  /** True if less is better. */
  readonly atMost?: boolean;
  /** How the numbers are written. */
  readonly unit: "gain" | "times" | "runs" | "share";
  /** Undefined while the rows or scenarios it needs are missing, or when it never happens. */
  measure(comparisons: Comparisons): number | undefined;
}

/** Sets with something to learn: every need is asked about again and again, and some memories mislead. */
export const LEARNABLE_SETS: readonly DatasetName[] = DATASET_NAMES.filter((name) => DATASETS[name].unseen > 0);

/** Sets whose needs are the groups of a target: where each request has one. */
const GROUPED_SETS: readonly DatasetName[] = ["banking77", "hwu64", "clinc150"];

/** Places where honest outcomes must not do harm: scenarios on the stress set, and the set on which there is nothing to learn. */
const HARMLESS: readonly (readonly [DatasetName, ScenarioName])[] = [
  ["banking77", "clean"],
  ["banking77", "flips-30"],
  ["banking77", "coin-toss"],
  ["banking77", "zipf"],
  ["banking77", "drift"],
  ["sealtools", "main"],
  ["sealtools", "longer"],
  ["sealtools", "repeats"],
  ["clinc150", "longer"],
  ["clinc150", "repeats"],
];

const VOTES = `${DEFAULT_ROW}+votes`;
const HASHED = `${DEFAULT_ROW}+hashed`;
const AUDITED = `${DEFAULT_ROW}+audited`;

/** The targets, in the order of the page. */
const TARGETS: readonly Target[] = [
  gain("success", "banking77", 0.165),
  gain("success", "hwu64", 0.165),
  gain("ndcg", "banking77", 0.075),
  gain("ndcg", "hwu64", 0.08),
  {
    what: `gain in success ÷ \`${REFERENCE_ROW}\`, mean of the sets`,
    must: 5.5,
    unit: "times",
    measure: (comparisons) => meanMultiple(comparisons, DEFAULT_ROW),
  },
  {
    what: `runs until \`${REFERENCE_ROW}\`'s final gain is passed, slowest set`,
    must: 300,
    atMost: true,
    unit: "runs",
    measure: (comparisons) => most(LEARNABLE_SETS.map((set) => runsToPass(comparisons, set))),
  },
  early(300, 0.04),
  early(1000, 0.1),
  gain("success", "banking77", 0.24, VOTES),
  gain("success", "hwu64", 0.23, VOTES),
  gain("ndcg", "banking77", 0.24, VOTES),
  gain("ndcg", "hwu64", 0.22, VOTES),
  {
    what: "gain kept with hashed request vectors, worst set",
    must: 0.85,
    unit: "share",
    measure: (comparisons) =>
      least(
        LEARNABLE_SETS.map((set) => ratio(success(comparisons, HASHED, set), success(comparisons, DEFAULT_ROW, set))),
      ),
  },
  gain("success", "banking77", 0.13, DEFAULT_ROW, "flips-10"),
  gain("success", "banking77", 0.03, DEFAULT_ROW, "flips-30"),
  {
    what: "gain in success ÷ `cav`, nlupp-hotels (several needs per run)",
    must: 1.5,
    unit: "times",
    measure: (comparisons) =>
      ratio(success(comparisons, DEFAULT_ROW, "nlupp-hotels"), success(comparisons, "cav", "nlupp-hotels")),
  },
  {
    what: "worst checkpoint with honest outcomes",
    must: -0.012,
    unit: "gain",
    measure: (comparisons) =>
      least(HARMLESS.map(([set, scenario]) => comparisons.find(DEFAULT_ROW, set, scenario)?.worst().gain)),
  },
  unseen(-0.11),
  {
    what: "first 600 outcomes inverted: above similarity again by run",
    must: 1500,
    atMost: true,
    unit: "runs",
    measure: (comparisons) => comparisons.find(DEFAULT_ROW, "banking77", "inverted-600")?.runsUntil(0),
  },
  gain("success", "banking77", 0.1, AUDITED, "sources-half-lie"),
  grouped(300, 0.1),
  grouped(3000, 0.215),
  byUse("by-use", 0.03),
  byUse("by-use+wrong", -0.005),
  {
    what: "own memories: gain over the order by words",
    must: 0.09,
    unit: "gain",
    measure: ({ ownMemories }) =>
      ownMemories.length > 0 ? mean(ownMemories.map(({ learned, host }) => learned - host)) : undefined,
  },
  {
    what: "lead over the best other learner, mean success",
    must: 0,
    unit: "gain",
    measure(comparisons) {
      const own = meanGain(comparisons, DEFAULT_ROW);
      const [rival] = rivalsByGain(comparisons);
      return own === undefined || !rival ? undefined : own - rival.gain;
    },
  },
  {
    what: "least lead over another learner, success or nDCG, any set",
    must: 0,
    unit: "gain",
    measure: (comparisons) =>
      least(
        LEARNABLE_SETS.flatMap((set) =>
          (["success", "ndcg"] as const).map((measure) => leadOn(comparisons, set, measure)),
        ),
      ),
  },
];

/** A target with what came out. */
export interface TargetResult {
  readonly target: Target;
  readonly value: number | undefined;
  readonly verdict: "met" | "missed" | "not measured";
}

export function targetResults(comparisons: Comparisons): readonly TargetResult[] {
  return TARGETS.map((target) => {
    const value = target.measure(comparisons);
    return { target, value, verdict: verdictOn(target, value) };
  });
}

/** A row with its gain. */
export interface Rival {
  readonly row: string;
  readonly gain: number;
}

/**
 * Rows that know no more than the default learner, which is aside with its variants; the one that gains most comes first.
 *
 * @param gainOf undefined for rows that were not run. @default mean success over the learnable sets
 */
export function rivalsByGain(
  comparisons: Comparisons,
  gainOf = (row: string): number | undefined => meanGain(comparisons, row),
): readonly Rival[] {
  return rivals()
    .flatMap((row): Rival[] => {
      const gain = gainOf(row);
      return gain === undefined ? [] : [{ row, gain }];
    })
    .sort((a, b) => b.gain - a.gain);
}

/** Mean gain in success over the learnable sets; undefined unless the row was run on all of them. */
export function meanGain(comparisons: Comparisons, row: string): number | undefined {
  const gains = LEARNABLE_SETS.map((set) => success(comparisons, row, set));
  return gains.every((one) => one !== undefined) ? mean(gains) : undefined;
}

/**
 * A row's gain in success as a multiple of the published formula's: the mean over the learnable sets of each set's own multiple.
 * Undefined unless both were run on all of them, or where the formula gains nothing.
 */
function meanMultiple(comparisons: Comparisons, row: string): number | undefined {
  const multiples = LEARNABLE_SETS.map((set) =>
    ratio(success(comparisons, row, set), success(comparisons, REFERENCE_ROW, set)),
  );
  return multiples.every((one) => one !== undefined) ? mean(multiples) : undefined;
}

/** Sums in floating point are given a hair. */
function verdictOn({ must, atMost }: Target, value: number | undefined): TargetResult["verdict"] {
  if (value === undefined) return "not measured";
  return (atMost ? value <= must + 1e-9 : value >= must - 1e-9) ? "met" : "missed";
}

function gain(
  measure: Measure & ("success" | "ndcg"),
  set: DatasetName,
  must: number,
  row: string = DEFAULT_ROW,
  scenario: ScenarioName = "main",
): Target {
  const about = scenario === "main" ? "" : `, ${SCENARIOS[scenario].about}`;
  return {
    what: `${measure === "ndcg" ? "nDCG@5" : "success"}, ${set}${row === DEFAULT_ROW ? "" : `, \`${row}\``}${about}`,
    must,
    unit: "gain",
    measure: (comparisons) => comparisons.find(row, set, scenario)?.gain(measure)?.mean,
  };
}

function early(runs: number, must: number): Target {
  return {
    what: `success after ${runs.toLocaleString("en")} runs, banking77`,
    must,
    unit: "gain",
    measure: (comparisons) => comparisons.find(DEFAULT_ROW, "banking77", "main")?.gainAfter(runs),
  };
}

function grouped(runs: number, must: number): Target {
  return {
    what: `\`grouped\`: success after ${runs.toLocaleString("en")} runs, mean of three sets`,
    must,
    unit: "gain",
    measure(comparisons) {
      const gains = GROUPED_SETS.map((set) => comparisons.find("grouped", set, "main")?.gainAfter(runs));
      return gains.every((one) => one !== undefined) ? mean(gains) : undefined;
    },
  };
}

function byUse(row: string, must: number): Target {
  return {
    what: `\`${row}\`: success beyond \`${DEFAULT_ROW}\`, mean of three sets`,
    must,
    unit: "gain",
    measure(comparisons) {
      const leads = GROUPED_SETS.map((set) => {
        const [own, bits] = [row, DEFAULT_ROW].map((name) => success(comparisons, name, set));
        return own === undefined || bits === undefined ? undefined : own - bits;
      });
      return leads.every((one) => one !== undefined) ? mean(leads) : undefined;
    },
  };
}

function unseen(must: number): Target {
  return {
    what: "nDCG@5 on unseen needs, mean of the sets",
    must,
    unit: "gain",
    measure(comparisons) {
      const gains = LEARNABLE_SETS.map((set) => comparisons.find(DEFAULT_ROW, set, "main")?.gain("unseen")?.mean);
      return gains.every((one) => one !== undefined) ? mean(gains) : undefined;
    },
  };
}

function success(comparisons: Comparisons, row: string, set: DatasetName): number | undefined {
  return comparisons.find(row, set, "main")?.gain("success")?.mean;
}

function runsToPass(comparisons: Comparisons, set: DatasetName): number | undefined {
  const published = success(comparisons, REFERENCE_ROW, set);
  const own: Comparison | undefined = comparisons.find(DEFAULT_ROW, set, "main");
  return published === undefined ? undefined : own?.runsUntil(published);
}

function rivals(): readonly string[] {
  return ROWS.filter(
    ({ name, knowsMore }) => !knowsMore && name !== BASELINE_ROW && variantOf(name) !== DEFAULT_ROW,
  ).map(({ name }) => name);
}

function leadOn(comparisons: Comparisons, set: DatasetName, measure: "success" | "ndcg"): number | undefined {
  const of = (row: string): number | undefined => comparisons.find(row, set, "main")?.gain(measure)?.mean;
  const own = of(DEFAULT_ROW);
  const others = rivals().flatMap((row) => of(row) ?? []);
  return own === undefined || others.length === 0 ? undefined : own - Math.max(...others);
}

function ratio(own: number | undefined, other: number | undefined): number | undefined {
  return own === undefined || other === undefined || other <= 0 ? undefined : own / other;
}

/** Undefined as soon as one is: a least value over what happens to be there would flatter. */
function least(values: readonly (number | undefined)[]): number | undefined {
  return values.every((value) => value !== undefined) ? Math.min(...values) : undefined;
}

function most(values: readonly (number | undefined)[]): number | undefined {
  return values.every((value) => value !== undefined) ? Math.max(...values) : undefined;
}
