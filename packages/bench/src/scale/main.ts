import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { installedVersions } from "../report/machine.js";
import { parseFlags, runCommand } from "../terminal/command-line.js";
import { type Progress, startProgress } from "../terminal/progress.js";
import { explanationTables } from "./explanation.js";
import { measureScale, SETTINGS } from "./measure-scale.js";
import { FULL, LOOK, type ScalePlan } from "./plans.js";
import {
  comparedTable,
  constantsTable,
  FILES,
  reportPage,
  type ScaleReport,
  scalePlot,
  scaleReport,
} from "./report.js";
import { withTables } from "./with-tables.js";

const DOCS = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const EXPLANATION = `${DOCS}explanation/scale.md`;
const COMMAND = "pnpm bench:scale";

const HELP = `${COMMAND}            a look: 5,000 tenants, two minutes; tables on stdout, written nowhere
${COMMAND} --full     100,000 tenants; writes docs/benchmarks/scale.* and the tables of docs/explanation/scale.md
                            (a quarter of an hour, 5 GB of disk)
${COMMAND} --render   writes the pages again, from docs/benchmarks/scale.json
${COMMAND} --help     this page

It starts two PostgreSQL servers of its own and removes them. Linux only.
`;

async function measured(scale: ScalePlan, command: string): Promise<ScaleReport> {
  let [shown, progress]: [string, Progress | undefined] = ["", undefined];
  const onProgress = (what: string, share: number): void => {
    if (what !== shown) {
      progress?.clear();
      [shown, progress] = [what, startProgress(what, process.stderr)];
    }
    progress?.update(share);
  };
  const results = await measureScale(scale, { onProgress });
  const { schema: _, calibrated, ...plan } = scale;
  const { version } = createRequire(import.meta.url)("pg/package.json") as { version: string };
  const { node = "" } = installedVersions();
  return scaleReport({ command, versions: { node, pg: version }, settings: SETTINGS, calibrated, plan, ...results });
}

async function write(report: ScaleReport): Promise<void> {
  const benchmarks = `${DOCS}benchmarks/`;
  await writeFile(`${benchmarks}${FILES.page}`, reportPage(report));
  await writeFile(`${benchmarks}${FILES.plot}`, scalePlot(report));
  await writeFile(EXPLANATION, withTables(await readFile(EXPLANATION, "utf8"), explanationTables(report)));
  process.stderr.write(
    `written: docs/benchmarks/${FILES.page}, ${FILES.plot} and the tables of docs/explanation/scale.md\n`,
  );
}

async function main(): Promise<void> {
  const flags = parseFlags(COMMAND, process.argv.slice(2), {
    full: { type: "boolean" },
    render: { type: "boolean" },
    help: { type: "boolean" },
  });
  if (flags.help) {
    process.stdout.write(HELP);
    return;
  }
  const raw = `${DOCS}benchmarks/${FILES.raw}`;
  if (flags.render) {
    await write(JSON.parse(await readFile(raw, "utf8")) as ScaleReport);
    return;
  }
  const report = await measured(flags.full ? FULL : LOOK, flags.full ? `${COMMAND} --full` : COMMAND);
  process.stdout.write(`${comparedTable(report.compared)}\n\n${constantsTable(report.constants)}\n`);
  if (!flags.full) return;
  await writeFile(raw, `${JSON.stringify(report, undefined, 2)}\n`);
  await write(report);
}

await runCommand(main);
