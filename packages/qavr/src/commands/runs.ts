import { isPostgres } from "@qavr/core/adapter";
import type { Ledger, LedgerOptions } from "../open-ledger.js";
import { orderOfRun, type RunRow, runsReport, shownOf } from "../reports/runs.js";
import type { Style } from "../terminal/terminal.js";
import { nameOf, quoted, shown, table, time } from "../terminal/text.js";
import type { Input, Output } from "./command.js";

export async function run({ open, options }: Input): Promise<Output> {
  const { limit, before } = options as { readonly limit: number; readonly before?: number };
  const ledger = await open();
  const report = await runsReport(ledger, limit, before);
  const again = ["--before", String(report.next), "--limit", String(limit), ...placeOptions(options, ledger)];
  const next = report.next === undefined ? "" : `\nolder: npx qavr runs ${again.join(" ")}`;
  const none =
    before === undefined
      ? `The ledger has no run of namespace ${shown(ledger.namespace)}.`
      : `No run lies before place ${before} of the ledger.`;
  return {
    data: report,
    text: (style) => (report.runs.length === 0 ? none : `${textOf(report.runs)}${style.dim(next)}`),
  };
}

/** The options that name the ledger, as they were given, for a shell. A URL goes without its password. */
function placeOptions({ store, namespace }: LedgerOptions, { place }: Ledger): string[] {
  return [
    ...(store === undefined ? [] : ["--store", quoted(isPostgres(store) ? place : store)]),
    ...(namespace === undefined ? [] : ["--namespace", quoted(namespace)]),
  ];
}

function textOf(runs: readonly RunRow[]): string {
  return table(
    ["time (UTC)", "outcome", "by", "order", "shown", "run", "first memory"],
    runs.map((row) => [
      time(row.at),
      outcomeOf(row),
      shown(row.outcome?.source ?? "", 16),
      orderOfRun(row),
      shownOf(row),
      shown(row.episode, 40),
      row.first ? nameOf(row.first, 40) : "",
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
