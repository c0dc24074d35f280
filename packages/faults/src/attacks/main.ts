import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { plain } from "@qavr/bench";
import { type AttackRow, attackCell, attackPage, attackTable } from "./attack-page.js";
import { ATTACKS, type AttackResult, FULL, QUICK } from "./attacks.js";
import { MANIPULATED_STREAM } from "./manipulated-stream.js";
import { LAYERS } from "./world.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));
const SEEDS = [1, 2, 3];

async function main(): Promise<void> {
  const quick = process.argv.includes("--quick");
  const size = quick ? QUICK : FULL;
  const rows: AttackRow[] = [];
  for (const attack of [...ATTACKS, MANIPULATED_STREAM]) {
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
  const report = { command: "pnpm attacks", seeds: SEEDS, size, rows };
  await writeFile(`${DOCS}attacks.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(`${DOCS}attacks.md`, attackPage(report));
}

await main();
