import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseFlags, runCommand } from "../terminal/command-line.js";
import { startProgress } from "../terminal/progress.js";
import { measureLearning } from "./learning.js";
import { measureOverhead } from "./overhead.js";
import { comparisons } from "./plans.js";
import { type MastraReport, mastraReport, reportLines, reportPage } from "./report.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

const HELP = `pnpm bench:mastra [--quick | --cost]

Whole agent runs with Mastra's memory and with QavrMemory: how often they succeed, and how long they take.
Writes docs/benchmarks/mastra.md and mastra.json; --quick takes a few seconds and writes nothing,
--cost times runs again and keeps what is written about success.
`;

async function main(): Promise<void> {
  const {
    quick = false,
    cost = false,
    help = false,
  } = parseFlags("pnpm bench:mastra", process.argv.slice(2), {
    quick: { type: "boolean" },
    cost: { type: "boolean" },
    help: { type: "boolean" },
  });
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  const learning = cost ? await written() : await measured(quick);
  const timing = startProgress("overhead", process.stderr);
  const rounds = quick ? { rounds: 3, turns: 4, warmup: 1 } : { rounds: 12, turns: 10, warmup: 2 };
  const report = mastraReport(learning, await measureOverhead({ ...rounds, onProgress: timing.update }));
  timing.clear();
  process.stdout.write(`${reportLines(report).join("\n")}\n`);
  if (quick) return;
  await mkdir(DOCS, { recursive: true });
  await writeFile(join(DOCS, "mastra.md"), reportPage(report));
  await writeFile(join(DOCS, "mastra.json"), `${JSON.stringify(report, undefined, 2)}\n`);
}

/** Lets the agents work. */
async function measured(quick: boolean): Promise<MastraReport["learning"]> {
  const learning = [];
  for (const comparison of comparisons(quick)) {
    const progress = startProgress(comparison.name, process.stderr);
    learning.push({ ...comparison, result: await measureLearning(comparison.plan, progress.update) });
    progress.clear();
  }
  return learning;
}

/** What an earlier run found out about success. */
async function written(): Promise<MastraReport["learning"]> {
  return (JSON.parse(await readFile(join(DOCS, "mastra.json"), "utf8")) as MastraReport).learning;
}

await runCommand(main);
