import { type DatasetName, type Interval, interval, mean, pairedInterval } from "@qavr/lab";
import type { Checkpoint, JobResult, Results } from "./results.js";
import { BASELINE_ROW } from "./rows.js";
import type { ScenarioName } from "./scenarios.js";

/** Measures at a checkpoint … */
export type CheckpointMeasure = Exclude<keyof Checkpoint, "runs">;
/** … and at the end of a trial. */
export type Measure = CheckpointMeasure | "online" | "unseen" | "unseenSuccess";

/** One row in one scenario on one set, against similarity in the same worlds. */
export interface Comparison {
  readonly row: string;
  readonly set: DatasetName;
  readonly scenario: ScenarioName;
  /** How many seeds both have. */
  readonly seeds: number;
  /** The row's own value after the last run; undefined for measures of unseen needs where there were none. */
  value(measure: Measure): Interval | undefined;
  /** Differences from similarity after the last run, one for each seed. */
  gains(measure: Measure): readonly number[];
  /** Their mean. */
  gain(measure: Measure): Interval | undefined;
  /** The same at every checkpoint, in their order. */
  curve(
    measure: CheckpointMeasure,
  ): readonly { readonly runs: number; readonly gain: Interval; readonly value: Interval }[];
  /** Mean gain in success at a checkpoint; undefined if there is none after so many runs. */
  gainAfter(runs: number): number | undefined;
  /** The checkpoint whose mean gain in success is least. */
  worst(): { readonly runs: number; readonly gain: number };
  /** The first checkpoint from which on every mean gain in success is at least `threshold`; undefined if there is none. */
  runsUntil(threshold: number): number | undefined;
}

/** Results by what they are about, with their comparisons. */
export interface Comparisons {
  readonly all: readonly Comparison[];
  /** Undefined when it was not run. */
  find(row: string, set: DatasetName, scenario: ScenarioName): Comparison | undefined;
  readonly ownMemories: Results["ownMemories"];
}

/** @param trials in the order of the tables; those without similarity on the same world are left out */
export function compare(trials: readonly JobResult[], ownMemories: Results["ownMemories"] = []): Comparisons {
  const groups = new Map<string, JobResult[]>();
  const keyOf = (row: string, set: string, scenario: string): string => `${scenario}/${set}/${row}`;
  for (const result of trials) {
    const key = keyOf(result.row, result.set, result.scenario);
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  const comparisons = new Map<string, Comparison>();
  for (const [key, group] of groups) {
    const { row, set, scenario } = group[0] as JobResult;
    const baseline = groups.get(keyOf(BASELINE_ROW, set, scenario)) ?? [];
    const pairs = group.flatMap((trial): Pair[] => {
      const control = baseline.find((other) => other.seed === trial.seed);
      return control ? [{ trial, control }] : [];
    });
    if (pairs.length > 0) comparisons.set(key, createComparison({ row, set, scenario }, pairs));
  }
  return {
    all: [...comparisons.values()],
    find: (row, set, scenario) => comparisons.get(keyOf(row, set, scenario)),
    ownMemories,
  };
}

interface Pair {
  readonly trial: JobResult;
  readonly control: JobResult;
}

function createComparison(about: Pick<Comparison, "row" | "set" | "scenario">, pairs: readonly Pair[]): Comparison {
  const [{ trial: first }] = pairs as readonly [Pair];
  const gainAt = (measure: CheckpointMeasure, place: number): Interval =>
    pairedInterval(
      pairs.map(({ trial }) => at(trial, place)[measure]),
      pairs.map(({ control }) => at(control, place)[measure]),
    );
  const successGains = (): readonly { readonly runs: number; readonly gain: number }[] =>
    first.checkpoints.map(({ runs }, place) => ({
      runs,
      gain: mean(pairs.map(({ trial, control }) => at(trial, place).success - at(control, place).success)),
    }));
  const gains = (measure: Measure): readonly number[] =>
    pairs.flatMap(({ trial, control }) => {
      const [treated, untreated] = [last(trial, measure), last(control, measure)];
      return treated === undefined || untreated === undefined ? [] : [treated - untreated];
    });
  return {
    ...about,
    seeds: pairs.length,
    value(measure) {
      const values = pairs.flatMap(({ trial }) => last(trial, measure) ?? []);
      return values.length > 0 ? interval(values) : undefined;
    },
    gains,
    gain(measure) {
      const each = gains(measure);
      return each.length > 0 ? interval(each) : undefined;
    },
    curve: (measure) =>
      first.checkpoints.map(({ runs }, place) => ({
        runs,
        gain: gainAt(measure, place),
        value: interval(pairs.map(({ trial }) => at(trial, place)[measure])),
      })),
    gainAfter: (runs) => successGains().find((one) => one.runs === runs)?.gain,
    worst: () => successGains().reduce((least, one) => (one.gain < least.gain ? one : least)),
    runsUntil(threshold) {
      const gains = successGains();
      const below = gains.findLastIndex(({ gain }) => gain < threshold);
      return gains[below + 1]?.runs;
    },
  };
}

function at(result: JobResult, place: number): Checkpoint {
  return result.checkpoints[place] as Checkpoint;
}

function last(result: JobResult, measure: Measure): number | undefined {
  if (measure === "online" || measure === "unseen" || measure === "unseenSuccess") return result[measure];
  return (result.checkpoints.at(-1) as Checkpoint)[measure];
}
