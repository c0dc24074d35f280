import type { EpisodeView, ExposureView } from "@qavr/core";
import { areSeveral } from "../reports/collections.js";
import { type Appearance, type WhyReport, whyReport } from "../reports/why.js";
import type { Style } from "../terminal/terminal.js";
import { count, decimal, nameOf, orderOf, percent, plural, shown, signed, table, time } from "../terminal/text.js";
import type { Input, Output } from "./command.js";
import { paintOutcome } from "./runs.js";

export async function run({ open, args, options }: Input): Promise<Output> {
  const { collection } = options as { readonly collection?: string };
  const report = await whyReport(await open(), args[0] as string, collection);
  return {
    data: report,
    text: (style) => (report.kind === "run" ? ofRun(report.run, style) : ofMemory(report, style)),
  };
}

/** Candidates that were not shown and are printed. */
const NOT_SHOWN = 10;
const TERMS = ["similarity", "learned", "bonus", "overlap", "unverified"] as const;

function ofRun(run: EpisodeView, style: Style): string {
  const { outcome, votes = [], used } = run;
  const by = outcome ? ` (${[...new Set([outcome.tier, shown(outcome.source)])].join(", ")})` : "";
  const several = areSeveral(run.exposures);
  return [
    `${style.bold(`Run ${shown(run.episode)}`)}: ${paintOutcome(run, style)}${by}`,
    ...(outcome?.note ? [shown(outcome.note, 200)] : []),
    ...run.exposures.flatMap((exposure) => ["", ofExposure(exposure, several, style)]),
    ...(run.compacted ? ["", "Earlier retrievals were compacted away."] : []),
    ...(used ? ["", `Used: ${used.map(({ id }) => shown(id)).join(", ") || "none of the memories shown"}`] : []),
    ...votes.map(({ id, vote, source }) => `Vote: ${vote} for ${shown(id)}, by ${shown(source)}`),
  ].join("\n");
}

function ofExposure(exposure: ExposureView, several: boolean, style: Style): string {
  const { items, notShown, gate, learner, collection } = exposure;
  // Terms that are 0 everywhere say nothing.
  const terms = TERMS.filter((term) => term === "similarity" || items.some((item) => item[term] !== 0));
  const rows = items.map((item) => [
    item.rank,
    item.hostRank,
    ...terms.map((term) => (term === "similarity" ? decimal(item[term]) : signed(item[term]))),
    decimal(item.score),
    item.evidence.toFixed(1),
    nameOf(item),
  ]);
  const head = ["place", "without", ...terms, "score", "evidence", "memory"];
  const others = notShown
    .slice(0, NOT_SHOWN)
    .map((item) => [
      item.rank,
      item.hostRank,
      decimal(item.similarity),
      signed(item.shift),
      decimal(item.score),
      item.reason,
      nameOf(item),
    ]);
  return [
    `${time(exposure.at)}  ${several ? `collection ${shown(collection)}: ` : ""}${orderOf(exposure)}, ${shown(learner)}, gate ${gate.toFixed(2)}`,
    table(head, rows),
    ...(others.length === 0
      ? []
      : [
          "",
          `Not shown${notShown.length > NOT_SHOWN ? ` (the first ${NOT_SHOWN} of ${count(notShown.length)})` : ""}`,
          table(["place", "without", "similarity", "shift", "score", "reason", "memory"], others),
        ]),
    style.dim(
      "without: the place without learning. score = the numbers to its left, added up (without place and without).",
    ),
  ].join("\n");
}

function ofMemory({ memory, appearances }: Extract<WhyReport, { readonly kind: "memory" }>, style: Style): string {
  const { success } = memory;
  const runs = memory.successes + memory.failures;
  return [
    style.bold(nameOf(memory, 80)),
    ...(memory.label === undefined ? [] : [`id        ${shown(memory.id, 200)}`]),
    `utility   ${signed(memory.utility)}, from evidence worth ${plural(Number(memory.evidence.toFixed(1)), "outcome")}`,
    `shown     ${plural(memory.shown, "time")} in collection ${shown(memory.collection)}, used in ${plural(memory.used, "run")}`,
    success
      ? `success   ${percent(success.share)} of ${plural(runs, "run")} (95 % interval ${percent(success.low)} … ${percent(success.high)})`
      : "success   no outcome yet",
    `votes     ${memory.helpful} helpful, ${memory.harmful} harmful`,
    ...(appearances.length === 0 ? [] : ["", style.bold("Latest retrievals"), ...appearances.map(appearanceLine)]),
  ].join("\n");
}

function appearanceLine({ at, episode, shown: item, notShown, places, lastScore, heldOut }: Appearance): string {
  const run = `${time(at)}  run ${shown(episode, 40)}:`;
  if (item) {
    const terms = TERMS.filter((term) => term === "similarity" || item[term] !== 0)
      .map((term) => `${term} ${term === "similarity" ? decimal(item[term]) : signed(item[term])}`)
      .join(" ");
    return `${run} place ${item.rank}, without learning ${item.hostRank}${heldOut ? " (held out)" : ""}; ${terms} = ${decimal(item.score)}`;
  }
  if (!notShown) return run;
  const missed =
    lastScore === undefined
      ? ""
      : `, ${Math.abs(lastScore - notShown.score).toFixed(3)} from the last of ${places} shown`;
  return `${run} not shown (${notShown.reason}), place ${notShown.rank}, without learning ${notShown.hostRank}; similarity ${decimal(notShown.similarity)} shift ${signed(notShown.shift)} = ${decimal(notShown.score)}${missed}`;
}
