import { type RunRow, runsReport } from "../reports/runs.js";
import type { Style } from "../terminal/terminal.js";
import { nameOf, shown, table, time } from "../terminal/text.js";
import type { Input, Output } from "./command.js";

export async function run({ open, options }: Input): Promise<Output> {
  const { limit, before } = options as { readonly limit: number; readonly before?: number };
  const report = await runsReport(await open(), limit, before);
  const next = report.next === undefined ? "" : `\nolder: qavr runs --before ${report.next}`;
  return {
    data: report,
    text: (style) =>
      report.runs.length === 0 ? "No run is recorded yet." : `${textOf(report.runs)}${style.dim(next)}`,
  };
}

function textOf(runs: readonly RunRow[]): string {
  return table(
    ["time (UTC)", "outcome", "by", "order", "shown", "first memory", "run"],
    runs.map((row) => [
      time(row.at),
      outcomeOf(row),
      shown(row.outcome?.source ?? "", 16),
      row.heldOut ? "held out" : row.order,
      row.shown,
      row.first ? nameOf(row.first, 40) : "",
      shown(row.episode, 40),
    ]),
  );
}

export function outcomeOf({ outcome, state }: Pick<RunRow, "outcome" | "state">): string {
  if (!outcome || outcome.reward === null) return state === "ended" ? "unknown" : state;
  if (outcome.reward === 1) return "success";
  return outcome.reward === 0 ? "failure" : outcome.reward.toFixed(2);
}

export function paintOutcome(row: Pick<RunRow, "outcome" | "state">, style: Style): string {
  const reward = row.outcome?.reward ?? undefined;
  const paint = reward === undefined ? style.dim : reward >= 0.5 ? style.good : style.bad;
  return paint(outcomeOf(row));
}
