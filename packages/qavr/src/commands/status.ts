import { LISTED_NAMESPACES } from "../open-ledger.js";
import { areSeveral } from "../reports/collections.js";
import { type StatusReport, statusReport } from "../reports/status.js";
import type { Style } from "../terminal/terminal.js";
import { count, nameOf, percent, plural, shown, signed, sparkline, table } from "../terminal/text.js";
import type { Input, Output } from "./command.js";

export async function run({ open, progress }: Input): Promise<Output> {
  const report = await statusReport(await open(), progress("reading the ledger"));
  return { data: report, text: (style) => statusText(report, style) };
}

export function statusText(report: StatusReport, style: Style): string {
  const { state, runs, memories, best, worst } = report;
  const paint = { learning: style.good, harming: style.bad, unjudged: style.bad, cold: style.bold, empty: style.bold };
  const suspended = runs.suspended > 0 ? `, ${count(runs.suspended)} suspended` : "";
  const over = runs.suspended > 0 ? " of the others" : "";
  const coverage = runs.coverage === undefined ? "" : `, ${percent(runs.coverage)}${over} with an outcome`;
  const abandoned = runs.abandoned > 0 ? `, ${count(runs.abandoned)} abandoned` : "";
  const several = areSeveral([...best, ...worst]);
  return [
    // It may name collections.
    paint[state.level](shown(state.sentence, Number.POSITIVE_INFINITY)),
    "",
    curveLine(report, style),
    `runs      ${count(runs.recorded)} recorded${suspended}${coverage}${abandoned}`,
    memories
      ? `memories  ${count(memories.known)} shown, ${count(memories.withEvidence)} with evidence`
      : "memories  not known: their states cannot be read here",
    `outcomes  ${outcomesOf(report) || "none"}`,
    `learner   ${shown(report.learner)}, namespace ${shown(report.namespace)}${others(report)}`,
    ...extremes("Best", best, several, style),
    ...extremes("Worst", worst, several, style),
    ...report.sources
      .filter(({ flags }) => flags.length > 0)
      .map(({ source, flags }) => style.bad(`source ${shown(source)}: ${flags.join(", ")}`)),
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

function curveLine({ curve: { points, judged, sampled } }: StatusReport, style: Style): string | undefined {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return undefined;
  const line = sparkline(points.map(({ success }) => success));
  const ends = points.length > 1 ? `${percent(first.success)} → ${percent(last.success)}` : percent(last.success);
  const total = points.reduce((sum, { runs, heldOut }) => sum + runs + (heldOut?.runs ?? 0), 0);
  const runs = judged ? plural(total, "judged run") : `${plural(total, "run")} that ended, none judged`;
  return `success   ${style.bold(line)}  ${ends} ${style.dim(`over ${runs}${sampled ? ", a sample" : ""}`)}`;
}

function outcomesOf({ outcomes }: StatusReport): string {
  return Object.entries(outcomes)
    .filter(([, number]) => number > 0)
    .map(([tier, number]) => `${count(number)} ${tier}`)
    .join(", ");
}

function others({ otherNamespaces }: StatusReport): string {
  if (otherNamespaces.length === 0) return "";
  const names = otherNamespaces.slice(0, 3).map((name) => shown(name, 30));
  const or = otherNamespaces.length >= LISTED_NAMESPACES - 1 ? " or" : "";
  return ` (${count(otherNamespaces.length)}${or} more: ${names.join(", ")}${otherNamespaces.length > 3 ? " …" : ""})`;
}

function extremes(title: string, memories: StatusReport["best"], several: boolean, style: Style): string[] {
  if (memories.length === 0) return [];
  const rows = memories.map((memory) => [
    signed(memory.utility, 2),
    memory.evidence.toFixed(1),
    ...(several ? [shown(memory.collection, 30)] : []),
    nameOf(memory),
  ]);
  const head = ["utility", "evidence", ...(several ? ["collection"] : []), "memory"];
  return ["", style.bold(title), table(head, rows)];
}
