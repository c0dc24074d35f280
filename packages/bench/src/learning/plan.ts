import { DATASET_NAMES, type DatasetName } from "@qavr/lab";
import { PUBLISHED_SEEDS } from "../report/published-seeds.js";
import type { Job, JobResult, Results } from "./results.js";
import { BASELINE_ROW, DEFAULT_ROW, PREDECESSOR_ROW, REFERENCE_ROW, ROWS, type Row } from "./rows.js";
import { SCENARIO_NAMES, SCENARIOS, type ScenarioKind, type ScenarioName } from "./scenarios.js";

/** The jobs to run; every list in the order of the tables. */
export interface Selection {
  readonly rows: readonly string[];
  readonly sets: readonly DatasetName[];
  readonly scenarios: readonly ScenarioName[];
  readonly seeds: readonly number[];
}

/** The rows that the targets about other worlds compare. */
const HEADLINES: readonly string[] = [BASELINE_ROW, REFERENCE_ROW, DEFAULT_ROW];
const STRESS_SEEDS = 2;
const SOURCES_SEEDS = 4;

/** The sets of the harmless scenarios: one with many needs, and one with nothing to learn. */
const HARMLESS_SETS: readonly DatasetName[] = ["clinc150", "sealtools"];

/** The set of the stress scenarios: one that nothing is tuned on. */
export const STRESS_SET: DatasetName = "banking77";

/**
 * A plan for an hour: all rows on all sets; on one set, all but the slow ones through the stress scenarios, with two seeds where
 * they are not the rows that the targets compare; and those that hear of sources through the lying ones.
 */
export function fullPlan(): readonly Job[] {
  const rows = ROWS.map((row) => row.name);
  const kind = (wanted: ScenarioKind): readonly ScenarioName[] =>
    SCENARIO_NAMES.filter((name) => SCENARIOS[name].kind === wanted);
  const stress = { sets: [STRESS_SET], seeds: PUBLISHED_SEEDS };
  const told = ROWS.filter((row) => HEADLINES.includes(row.name) || row.sourcesOnly).map((row) => row.name);
  const seedsOf = new Map(ROWS.map((row) => [row.name, row.seeds]));
  const slow = new Set(ROWS.filter((row) => row.slow).map((row) => row.name));
  return [
    ...select({ rows, sets: DATASET_NAMES, scenarios: kind("main"), seeds: PUBLISHED_SEEDS }).filter(
      (job) => job.seed <= (seedsOf.get(job.row) ?? PUBLISHED_SEEDS.length),
    ),
    ...select({ ...stress, rows: rows.filter((row) => !slow.has(row)), scenarios: kind("stress") }).filter(
      (job) => HEADLINES.includes(job.row) || job.seed <= STRESS_SEEDS,
    ),
    ...select({
      rows: [...HEADLINES, PREDECESSOR_ROW],
      sets: HARMLESS_SETS,
      scenarios: kind("harmless"),
      seeds: PUBLISHED_SEEDS,
    }),
    ...select({ ...stress, rows: told, scenarios: kind("sources") }).filter((job) => job.seed <= SOURCES_SEEDS),
  ];
}

/** A plan for continuous integration: the default learner on one set. */
export function quickPlan(): readonly Job[] {
  const seeds = [1, 2, 3];
  const rows = [BASELINE_ROW, REFERENCE_ROW, DEFAULT_ROW];
  return [
    ...select({ rows, sets: [STRESS_SET], scenarios: ["main"], seeds }),
    ...select({ rows: [BASELINE_ROW, DEFAULT_ROW], sets: [STRESS_SET], scenarios: ["coin-toss"], seeds }),
  ];
}

/** Jobs of a selection; similarity always runs along, since everything is compared with it. */
export function select({ rows, sets, scenarios, seeds }: Selection): readonly Job[] {
  const chosen = ROWS.filter((row) => row.name === BASELINE_ROW || rows.includes(row.name));
  return sets.flatMap((set) =>
    scenarios.flatMap((scenario) =>
      chosen
        .filter((row) => takesPart(row, set, scenario))
        .flatMap((row) => seeds.map((seed): Job => ({ row: row.name, set, scenario, seed }))),
    ),
  );
}

/** Results with new trials in place of those of the same jobs, in the order of the full plan; trials that it does not have follow. */
export function updated({ trials, ownMemories }: Results, fresh: readonly JobResult[]): Results {
  const keyOf = ({ row, set, scenario, seed }: Job): string => JSON.stringify([row, set, scenario, seed]);
  const place = new Map(fullPlan().map((job, i) => [keyOf(job), i]));
  const placeOf = (job: Job): number => place.get(keyOf(job)) ?? place.size;
  const all = new Map([...trials, ...fresh].map((trial) => [keyOf(trial), trial]));
  return { ownMemories, trials: [...all.values()].sort((a, b) => placeOf(a) - placeOf(b)) };
}

function takesPart({ only, sourcesOnly }: Row, set: DatasetName, scenario: ScenarioName): boolean {
  if (only && !(only.sets.includes(set) && only.scenario === scenario)) return false;
  return !sourcesOnly || SCENARIOS[scenario].kind === "sources";
}
