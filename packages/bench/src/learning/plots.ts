import { DATASETS, type HeatMap, heatMap, linePlot, type PlotSeries, plain } from "@qavr/lab";
import type { Comparison, Comparisons } from "./comparison.js";
import { STRESS_SET } from "./plan.js";
import { BASELINE_ROW, DEFAULT_ROW, REFERENCE_ROW } from "./rows.js";
import { SCENARIOS, type ScenarioName } from "./scenarios.js";
import { rivalsByGain } from "./targets.js";

/** Gain in held-out success over the runs: the published formula, the best other learner, the default one, and that with votes. */
export function learningCurves(comparisons: Comparisons): string {
  const rival = rivalsByGain(comparisons)[0]?.row;
  const rows = [...new Set([REFERENCE_ROW, rival, `${DEFAULT_ROW}+votes`, DEFAULT_ROW])];
  const series = rows.flatMap((row): PlotSeries[] => {
    const comparison = row === undefined ? undefined : comparisons.find(row, STRESS_SET, "main");
    return comparison ? [curve(comparison)] : [];
  });
  const seeds = comparisons.find(DEFAULT_ROW, STRESS_SET, "main")?.seeds ?? 0;
  return linePlot({
    title: "Gain in success on requests that were never learned from",
    subtitle: `${STRESS_SET}, over similarity, ${seeds} seeds, bands: 95 % intervals paired by seed`,
    xLabel: "runs learned from",
    yLabel: "gain in success",
    series,
  });
}

function curve(comparison: Comparison): PlotSeries {
  const points = comparison.curve("success").map(({ runs, gain: { mean, margin } }) => ({
    x: runs,
    y: mean,
    low: mean - margin,
    high: mean + margin,
  }));
  return { name: comparison.row, points: [{ x: 0, y: 0, low: 0, high: 0 }, ...points] };
}

/** A gain of this size has the full colour; about what the best rows reach. */
const FULL_COLOUR = 0.2;

/** Every row's gain in success in every world after the last run. */
export function scenarioHeatMap(comparisons: Comparisons): string {
  const worlds = new Map<string, Pick<Comparison, "set" | "scenario">>();
  for (const { set, scenario } of comparisons.all) {
    if (scenario === "main") worlds.set(set, { set, scenario });
    else if (SCENARIOS[scenario].kind === "stress") worlds.set(scenario, { set, scenario });
  }
  const names = [...worlds.keys()];
  const isSet = (name: string): boolean => name in DATASETS;
  const rows = [...new Set(comparisons.all.map((one) => one.row))].filter(
    (row) =>
      row !== BASELINE_ROW &&
      comparisons.all.some((one) => one.row === row && SCENARIOS[one.scenario].kind !== "sources"),
  );
  const map: HeatMap = {
    title: "Gain in success over similarity, by learner and world",
    subtitle: `after the last run; left: the main world on each set, right: other worlds on ${STRESS_SET}`,
    rows,
    groups: [
      { name: "set", columns: names.filter(isSet) },
      { name: "world", columns: names.filter((name) => !isSet(name)) },
    ].filter((group) => group.columns.length > 0),
    value(row, column) {
      const world = worlds.get(column) as { set: Comparison["set"]; scenario: ScenarioName };
      return comparisons.find(row, world.set, world.scenario)?.gain("success")?.mean;
    },
    format: (value) => plain(value),
    full: FULL_COLOUR,
  };
  return heatMap(map);
}
