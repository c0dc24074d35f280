import { type Machine, markdownTable } from "@qavr/bench";
import type { CheckResult } from "./check.js";

/** What one harness came to. */
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
  const row = ({ promise, what, tried, seen, held }: CheckResult): string[] => [
    promise,
    what,
    tried,
    held ? seen : `**${seen}**`,
  ];
  const head = ["promise", "what was done", "how much", "what was seen"];
  const skipped = reports.flatMap(({ harness, obstacle }) => (obstacle ? [`- ${harness}: ${obstacle}`] : []));
  const minutes = Math.round(reports.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  return `# Reliability

Faults, made on purpose, and what was left afterwards. ${broken.length === 0 ? "No promise was broken." : `**${broken.length} broken**, in bold.`}
How the promises are numbered and what they mean: [threat model](../explanation/threat-model.md#what-is-promised-about-faults).

${markdownTable(head, results.filter(({ mutant }) => !mutant).map(row))}

Deliberate faults, which the harnesses must find:

${markdownTable(head, results.filter(({ mutant }) => mutant).map(row))}
${skipped.length === 0 ? "" : `\nNot run on this machine:\n\n${skipped.join("\n")}\n`}
When, and for how long:

${markdownTable(
  ["harness", "measured", "seconds", "load afterwards"],
  reports.map(({ harness, measured, seconds, load }) => [harness, measured, String(seconds), String(load)]),
)}

Command: \`${command}\`, ${minutes} minutes; \`${command} --only <harness> --update\` measures one anew, \`${command} --seed <n>\` repeats one
simulated history. ${machine.cores} cores of ${machine.cpu}; ${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}. Raw results: [reliability.json](reliability.json).
`;
}
