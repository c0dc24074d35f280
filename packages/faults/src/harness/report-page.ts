import type { Machine } from "@qavr/lab";
import type { CheckResult } from "./check.js";

/** Results of one harness. */
export interface HarnessReport {
  readonly harness: string;
  /** When it began, UTC to the minute. */
  readonly measured: string;
  readonly seconds: number;
  /** Of the machine at its end. */
  readonly load: number;
  /** Why it did not run here; absent when it did. */
  readonly obstacle?: string;
  readonly results: readonly CheckResult[];
}

export interface Report {
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly reports: readonly HarnessReport[];
}

/** The results as a page: what was broken comes first. */
export function reportPage({ command, machine, versions, reports }: Report): string {
  const results = reports.flatMap((report) => report.results);
  const broken = results.filter(({ held }) => !held);
  const mutants = results.filter(({ mutant }) => mutant);
  const skipped = reports.flatMap(({ harness, obstacle }) => (obstacle ? [`- ${harness}: ${obstacle}`] : []));
  const minutes = Math.round(reports.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const days = reports.map(({ measured }) => measured.slice(0, 10)).sort();
  const installed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `# Reliability

Deliberate faults and their results. ${broken.length === 0 ? "No promise was broken." : `**${broken.length} broken**, first and in bold.`}
A line has the number of its [promise](../explanation/threat-model.md#what-is-promised-about-faults), the fault, how often it was tried, and after the arrow
what was measured. Counts of what must not happen are left out where they are 0: none lost, none counted twice.

${[...broken, ...results.filter(({ held, mutant }) => held && !mutant)].map(resultLine).join("\n")}

Mutants that the harnesses must find: ${mutants.length}, found: ${mutants.filter(({ held }) => held).length}.
${skipped.length === 0 ? "" : `\nNot run on this machine:\n\n${skipped.join("\n")}\n`}
\`${command}\`, ${minutes} minutes; \`${command} --only <harness> --update\` measures one anew, \`${command} --seed <n>\` repeats one simulated
history. ${days[0]} to ${days.at(-1)}; ${machine.cores} cores of ${machine.cpu}; ${installed.join(", ")}. Raw results: [reliability.json](reliability.json).
`;
}

function resultLine({ promise, what, tried, seen, held }: CheckResult): string {
  const line = `- ${promise} ${what}: ${tried}`;
  if (!held) return `${line} → **${seen}**`;
  const measured = withoutZeros(seen);
  return /[1-9]/.test(measured) ? `${line} → ${measured}` : line;
}

/** A result that held without its zeros: "0 lost" repeats the promise. */
function withoutZeros(seen: string): string {
  const parts = seen.split(/(?<=[,;]) /).filter((part) => !part.startsWith("0 "));
  return parts.join(" ").replace(/[,;]$/, "");
}
