import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { installedVersions, machine, parseFlags, runCommand, UsageError } from "@qavr/lab";
import { serverVersion } from "@qavr/postgres-server";
import { simulate } from "../simulation/simulate.js";
import type { CheckResult, Harness, Size } from "./check.js";
import { HARNESSES } from "./harnesses.js";
import { type HarnessReport, type Report, reportPage } from "./report-page.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

const HELP = `pnpm faults [--quick | --full] [--only <name>]… [--update] [--seed <n>] [--render]

  --quick        a subset of everything, in a few minutes; writes nothing
  --full         also what takes hours: maintenance of a ledger of 100,000 outcomes
  --only <name>  one harness: ${HARNESSES.map(({ name }) => `"${name}"`).join(", ")}; writes nothing
  --update       with --only: puts what came of it in the place of that harness's earlier results
  --seed <n>     one simulated history, and what it broke
  --render       writes the page again, from the stored results
`;

async function main(): Promise<void> {
  const {
    quick = false,
    full = false,
    update = false,
    only = [],
    seed,
    render = false,
    help = false,
  } = parseFlags("pnpm faults", process.argv.slice(2), {
    quick: { type: "boolean" },
    full: { type: "boolean" },
    update: { type: "boolean" },
    only: { type: "string", multiple: true },
    seed: { type: "string" },
    render: { type: "boolean" },
    help: { type: "boolean" },
  });
  if (help) return void process.stdout.write(HELP);
  if (render) return writePage(JSON.parse(await readFile(`${DOCS}reliability.json`, "utf8")) as Report);
  if (seed !== undefined) {
    const simulated = await simulate(Number(seed));
    process.stdout.write(`${JSON.stringify(simulated, undefined, 2)}\n`);
    process.exitCode = simulated.broken ? 1 : 0;
    return;
  }
  const unknown = only.filter((name) => !HARNESSES.some((harness) => harness.name === name));
  if (unknown.length > 0) throw new UsageError(`There is no harness ${unknown.join(", ")}. See pnpm faults --help.`);
  const size = quick ? "quick" : "full";
  const isUpdate = only.length > 0 && update;
  const reports: HarnessReport[] = [];
  for (const harness of HARNESSES) {
    if (only.length > 0 && !only.includes(harness.name)) continue;
    const report = await runHarness(harness, size, full);
    reports.push(report);
    process.stderr.write(`${harness.name}: ${report.obstacle ?? `${report.seconds} s`}\n`);
    for (const { promise, what, tried, seen, held } of report.results) {
      process.stderr.write(`  ${held ? "held  " : "BROKEN"} ${promise} ${what}: ${tried} → ${seen}\n`);
    }
    if (size === "full" && isUpdate) await write(await amongEarlier(report));
  }
  if (reports.some(({ results }) => results.some(({ held }) => !held))) process.exitCode = 1;
  if (size === "full" && only.length === 0) await write(reports);
}

async function runHarness(harness: Harness, size: Size, isLong: boolean): Promise<HarnessReport> {
  const measured = new Date();
  const obstacle = harness.obstacle?.();
  const results = obstacle ? [] : await harness.run(size, isLong).catch(failure);
  return {
    harness: harness.name,
    measured: `${measured.toISOString().slice(0, 16)}Z`,
    seconds: Math.round((Date.now() - measured.getTime()) / 1_000),
    load: machine().load,
    ...(obstacle ? { obstacle } : {}),
    results,
  };
}

/** A harness that fails has found something, too, or is broken itself; the others go on. */
function failure(error: unknown): readonly CheckResult[] {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return [{ promise: "–", what: "this harness", tried: "once", seen: `failed: ${String(error)}`, held: false }];
}

/** The last written results, with a report in the place of the one of the same harness. */
async function amongEarlier(report: HarnessReport): Promise<readonly HarnessReport[]> {
  const path = `${DOCS}reliability.json`;
  const earlier: Pick<Report, "reports"> = existsSync(path)
    ? JSON.parse(await readFile(path, "utf8"))
    : { reports: [] };
  const all = new Map([...earlier.reports, report].map((each) => [each.harness, each]));
  return HARNESSES.flatMap(({ name }) => all.get(name) ?? []);
}

async function write(reports: readonly HarnessReport[]): Promise<void> {
  const versions = { ...installedVersions(import.meta.url), PostgreSQL: await serverVersion() };
  const report: Report = { command: "pnpm faults", machine: machine(), versions, reports };
  await writeFile(`${DOCS}reliability.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  await writePage(report);
}

function writePage(report: Report): Promise<void> {
  return writeFile(`${DOCS}reliability.md`, reportPage(report));
}

await runCommand(main);
