import { type Machine, markdownTable } from "@qavr/bench";
import type { CheckResult } from "./check.js";

interface Report {
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly reports: readonly {
    readonly harness: string;
    readonly seconds: number;
    readonly obstacle?: string;
    readonly results: readonly CheckResult[];
  }[];
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
Command: \`${command}\`, ${minutes} minutes; \`${command} --seed <n>\` repeats one simulated history. ${machine.cores} cores of ${machine.cpu}, load
${machine.load}; ${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}. Raw results: [reliability.json](reliability.json).
`;
}
