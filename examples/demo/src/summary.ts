import { type Interval, interval, pairedInterval } from "@qavr/lab";
import type { ArmName } from "./arms.js";
import type { ArmStanding, Checkpoint, SeedResult } from "./run-seed.js";

export type Measure = "online" | "success" | "ndcg" | "misleading";

/** Summary of one arm over all seeds after some runs. */
export interface ArmSummary {
  readonly name: ArmName;
  /** Mean over seeds with its 95 % interval. */
  readonly values: Readonly<Record<Measure, Interval>>;
  /** Difference from similarity, paired by seed; undefined for similarity itself. */
  readonly gains: Readonly<Record<Measure, Interval>> | undefined;
}

export interface SummaryRow {
  readonly runs: number;
  readonly arms: readonly ArmSummary[];
}

const MEASURES: readonly Measure[] = ["online", "success", "ndcg", "misleading"];

/** The checkpoints of several seeds, averaged. All results have the same checkpoints and arms. */
export function summarize(results: readonly SeedResult[]): readonly SummaryRow[] {
  const [first] = results as readonly [SeedResult, ...SeedResult[]];
  return first.checkpoints.map(({ runs, arms }, row) => ({
    runs,
    arms: arms.map(({ name }, place): ArmSummary => {
      const values = (measure: Measure, arm: number): number[] =>
        results.map((result) => ((result.checkpoints[row] as Checkpoint).arms[arm] as ArmStanding)[measure] ?? 0);
      return {
        name,
        values: record((measure) => interval(values(measure, place))),
        gains:
          place === 0 ? undefined : record((measure) => pairedInterval(values(measure, place), values(measure, 0))),
      };
    }),
  }));
}

/** How many times the rival's gain in held-out success ours is; undefined when the rival gained nothing. */
export function gainRatio({ arms }: SummaryRow): number | undefined {
  const gain = (name: ArmName): number => arms.find((arm) => arm.name === name)?.gains?.success.mean ?? 0;
  return gain("QAVR") > 0 ? gain("qavr") / gain("QAVR") : undefined;
}

function record(of: (measure: Measure) => Interval): Readonly<Record<Measure, Interval>> {
  return Object.fromEntries(MEASURES.map((measure) => [measure, of(measure)])) as Record<Measure, Interval>;
}
