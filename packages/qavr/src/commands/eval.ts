import { comparePolicies, type PolicyReport } from "@qavr/core/maintenance";
import { CommandError } from "../exit-codes.js";
import { learnerTable, learnerWithId } from "../learner-table.js";
import type { Style } from "../terminal/terminal.js";
import { count, percent, points } from "../terminal/text.js";
import type { Input, Output } from "./command.js";

export async function run({ open, options, progress }: Input): Promise<Output> {
  const name = options.learner as string;
  // Learners' ids and the benchmarks write kernel-prototypes, functions kernelPrototypes.
  const key = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const learners = await learnerTable();
  const learner = Object.hasOwn(learners, key) ? learners[key] : await learnerWithId(name);
  if (!learner) {
    throw new CommandError("NOT_FOUND", `There is no learner ${name}. There are: ${Object.keys(learners).join(", ")}.`);
  }
  const { engine, namespace } = await open();
  const report = await comparePolicies(engine, { learner, namespace, progress: progress("comparing entries") });
  return { data: report, text: (style) => textOf(report, style) };
}

function textOf({ learner, exposures, episodes, agreement, estimate }: PolicyReport, style: Style): string {
  if (!agreement) return "No run with a retrieval is left in the ledger to compare with.";
  const lines = [
    `${style.bold(learner)}, asked again about ${count(exposures)} retrievals of ${count(episodes)} runs`,
    `agreement  ${percent(agreement.sameSet)} the same memories, ${percent(agreement.overlap)} of memories in common`,
  ];
  if ("refused" in estimate) return [...lines, `estimate   none: ${estimate.refused}`].join("\n");
  const { success, served, difference, low, high, coverage, effectiveSampleSize } = estimate;
  return [
    ...lines,
    `success    ${percent(success)} against ${percent(served)} as served: ${points(difference)} points (95 % interval ${points(low)} … ${points(high)})`,
    style.dim(
      `based on   ${percent(coverage)} of the runs, worth ${count(Math.round(effectiveSampleSize))} independent ones`,
    ),
  ].join("\n");
}
