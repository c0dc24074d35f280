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

Deliberate faults, by the number of the [promise](../explanation/threat-model.md#what-is-promised-about-faults), how often each was tried, and times and sizes after the arrow.
${broken.length === 0 ? "No promise was broken." : `**${broken.length} broken**, first and in bold.`}

${[...broken.map(brokenLine), ...heldLines(results.filter(({ held, mutant }) => held && !mutant))].join("\n")}

Mutants that the harnesses must find: ${mutants.length}, found: ${mutants.filter(({ held }) => held).length}.
${skipped.length === 0 ? "" : `\nNot run on this machine:\n\n${skipped.join("\n")}\n`}
\`${command}\`, ${minutes} minutes, ${days[0]} to ${days.at(-1)}; ${machine.cores} cores of ${machine.cpu}; ${installed.join(", ")}. Raw results: [reliability.json](reliability.json).
`;
}

function brokenLine({ promise, what, tried, seen }: CheckResult): string {
  return `- ${promise} ${what}: ${tried} → **${seen}**`;
}

/** A line for each fault, with all stores and sizes that it was tried on. */
function heldLines(results: readonly CheckResult[]): readonly string[] {
  const faults = Map.groupBy(
    results,
    ({ promise, what }) => `- ${promise} ${what.replace(STORE, "").split("; ", 1)[0]}`,
  );
  return [...faults].map(([fault, tries]) => `${fault}: ${tries.map(tryText).join("; ")}`);
}

/** The store in which a fault was tried: `(SQLite)` at the end. */
const STORE = / \([^()]*\)$/;

/** `1000 kills (SQLite) → longest wait 30 ms` */
function tryText({ what, tried, seen }: CheckResult): string {
  const [times] = tried.split(/[,;] /, 1);
  const sizes = measured(seen);
  return `${times}${STORE.exec(what)?.[0] ?? ""}${sizes === "" ? "" : ` → ${sizes}`}`;
}

/** Times and sizes. Counts are as promised where a promise held; ratios stay in the raw results. */
function measured(seen: string): string {
  const parts = seen.split(/[,;] /).filter((part) => /^[^×]*\d (?:ms|MiB|times as long)[^×]*$/.test(part));
  return parts.join(", ");
}
