import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { installedVersions, machine } from "@qavr/bench";
import { simulate } from "../simulation/simulate.js";
import type { CheckResult } from "./check.js";
import { HARNESSES } from "./harnesses.js";
import { reportPage } from "./report-page.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

const HELP = `pnpm faults [--quick] [--only <name>]… [--seed <n>]

  --quick        a subset of everything, in a few minutes; writes nothing
  --only <name>  one harness: ${HARNESSES.map(({ name }) => `"${name}"`).join(", ")}; writes nothing
  --seed <n>     one simulated history, and what it broke
`;

/** What one harness came to. */
export interface HarnessReport {
  readonly harness: string;
  readonly seconds: number;
  /** Why it did not run here; absent when it did. */
  readonly obstacle?: string;
  readonly results: readonly CheckResult[];
}

function values(option: string): string[] {
  return process.argv.flatMap((word, i) => (word === option ? [process.argv[i + 1] ?? ""] : []));
}

async function main(): Promise<void> {
  if (process.argv.includes("--help")) return void process.stdout.write(HELP);
  const [seed] = values("--seed");
  if (seed !== undefined) {
    const simulated = await simulate(Number(seed));
    process.stdout.write(`${JSON.stringify(simulated, undefined, 2)}\n`);
    process.exitCode = simulated.broken ? 1 : 0;
    return;
  }
  const only = values("--only");
  const size = process.argv.includes("--quick") ? "quick" : "full";
  const reports: HarnessReport[] = [];
  for (const harness of HARNESSES) {
    if (only.length > 0 && !only.includes(harness.name)) continue;
    const started = performance.now();
    const obstacle = harness.obstacle?.();
    const results = obstacle ? [] : await harness.run(size);
    const seconds = Math.round((performance.now() - started) / 1_000);
    reports.push({ harness: harness.name, seconds, ...(obstacle ? { obstacle } : {}), results });
    process.stderr.write(`${harness.name}: ${obstacle ?? `${seconds} s`}\n`);
    for (const { promise, what, tried, seen, held } of results) {
      process.stderr.write(`  ${held ? "held  " : "BROKEN"} ${promise} ${what}: ${tried} → ${seen}\n`);
    }
  }
  if (reports.some(({ results }) => results.some(({ held }) => !held))) process.exitCode = 1;
  if (size === "quick" || only.length > 0) return;
  const report = { command: "pnpm faults", machine: machine(), versions: installedVersions(), reports };
  await writeFile(`${DOCS}reliability.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(`${DOCS}reliability.md`, reportPage(report));
}

await main();
