import { linePlot } from "@qavr/lab";
import type { ArmName } from "./arms.js";
import type { SummaryRow } from "./summary.js";

/**
 * Held-out success over the runs, one line per arm. With several seeds the learning arms have the 95 % band of their gain over
 * similarity, paired by seed: worlds differ in how hard they are, and that is not what the plot is about.
 */
export function successPlot(rows: readonly SummaryRow[], seeds: number): string {
  const names = (rows[0] as SummaryRow).arms.map((arm) => arm.name);
  return linePlot({
    title: "Success on requests that were never learned from",
    subtitle: `banking77 questions, ${seeds === 1 ? "one seed" : `${seeds} seeds, 95 % bands of the gain`}; texts real, outcomes simulated`,
    xLabel: "runs learned from",
    yLabel: "success",
    series: names.map((name, place) => ({
      name: LABELS[name],
      points: rows.map(({ runs, arms }) => {
        const { values, gains } = arms[place] as SummaryRow["arms"][number];
        const { mean } = values.success;
        if (seeds === 1 || !gains) return { x: runs, y: mean };
        return { x: runs, y: mean, low: mean - gains.success.margin, high: mean + gains.success.margin };
      }),
    })),
  });
}

const LABELS: Readonly<Record<ArmName, string>> = {
  similarity: "plain similarity",
  QAVR: "QAVR formula",
  qavr: "qavr",
};
