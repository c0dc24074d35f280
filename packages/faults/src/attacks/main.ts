import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseFlags, plain, runCommand, UsageError } from "@qavr/lab";
import { type AttackReport, type AttackRow, attackCell, attackPage, attackTable } from "./attack-page.js";
import { ATTACKS, type AttackResult, FULL, QUICK } from "./attacks.js";
import { MANIPULATED_STREAM, RECOVERY_AFTER_MANIPULATION } from "./manipulated-stream.js";
import { LAYERS } from "./world.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));
const COMMAND = "pnpm faults attacks";
const SEEDS = [1, 2, 3];

const ALL = [...ATTACKS, MANIPULATED_STREAM, RECOVERY_AFTER_MANIPULATION];

const HELP = `${COMMAND}              every attack against every layer; writes docs/benchmarks/attacks.* (a few minutes)
${COMMAND} --only S6    only that threat's; the other rows stay as they were written before
${COMMAND} --quick      small worlds, one seed; nothing is written
${COMMAND} --render     writes the page again, from the stored results
${COMMAND} --help       this page
`;

async function main(): Promise<void> {
  const { quick, only, render, help } = parseFlags(COMMAND, process.argv.slice(2), {
    quick: { type: "boolean" },
    only: { type: "string" },
    render: { type: "boolean" },
    help: { type: "boolean" },
  });
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  if (render) return writePage(await read());
  const attacks = ALL.filter(({ id }) => only === undefined || id === only);
  if (attacks.length === 0) throw new UsageError(`There is no attack ${only}. See ${COMMAND} --help.`);
  const size = quick ? QUICK : FULL;
  const rows: AttackRow[] = [];
  for (const attack of attacks) {
    for (const layer of LAYERS) {
      const started = performance.now();
      const seeds: AttackResult[] = [];
      for (const seed of quick ? SEEDS.slice(0, 1) : SEEDS) seeds.push(await attack.run(layer, size, seed));
      const { id, title, promise } = attack;
      const row = { attack: id, title, promise, layer: layer.name, seeds };
      rows.push(row);
      const seconds = plain((performance.now() - started) / 1000, 1);
      process.stderr.write(`${id} ${layer.name}: ${attackCell(row)} (${seconds} s)\n`);
    }
  }
  process.stdout.write(`${attackTable(rows)}\n`);
  if (quick) return;
  const earlier = only === undefined ? [] : await rowsBefore(only);
  const report = { command: COMMAND, seeds: SEEDS, size, rows: [...earlier, ...rows] };
  await writeFile(`${DOCS}attacks.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  await writePage(report);
}

/** Earlier results of all other threats. */
async function rowsBefore(only: string): Promise<readonly AttackRow[]> {
  const { rows } = await read();
  return rows.filter(({ attack }) => attack !== only);
}

async function read(): Promise<AttackReport> {
  return JSON.parse(await readFile(`${DOCS}attacks.json`, "utf8")) as AttackReport;
}

function writePage(report: AttackReport): Promise<void> {
  return writeFile(`${DOCS}attacks.md`, attackPage(report));
}

await runCommand(main);
