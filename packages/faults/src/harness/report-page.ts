import { type Machine, markdownTable } from "@qavr/lab";
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
  const row = ({ promise, what, tried, seen, held }: CheckResult): string[] => [
    promise,
    what,
    tried,
    held ? seen : `**${seen}**`,
  ];
  const mutants = results.filter(({ mutant }) => mutant);
  const head = ["promise", "fault", "how much", "result"];
  const skipped = reports.flatMap(({ harness, obstacle }) => (obstacle ? [`- ${harness}: ${obstacle}`] : []));
  const minutes = Math.round(reports.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const days = reports.map(({ measured }) => measured.slice(0, 10)).sort();
  return `# Reliability

Deliberate faults and their results. ${broken.length === 0 ? "No promise was broken." : `**${broken.length} broken**, in bold.`}
The promises by number: [threat model](../explanation/threat-model.md#what-is-promised-about-faults).

${markdownTable(head, results.filter(({ mutant }) => !mutant).map(row))}

Mutants that the harnesses must find: ${mutants.length}, found: ${mutants.filter(({ held }) => held).length}. The raw results name each.
${skipped.length === 0 ? "" : `\nNot run on this machine:\n\n${skipped.join("\n")}\n`}
Command: \`${command}\`, ${minutes} minutes; \`${command} --only <harness> --update\` measures one anew, \`${command} --seed <n>\` repeats one
simulated history. Measured ${days[0]} to ${days.at(-1)}; ${machine.cores} cores of ${machine.cpu}; ${Object.entries(
    versions,
  )
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}. Raw results: [reliability.json](reliability.json).
`;
}
