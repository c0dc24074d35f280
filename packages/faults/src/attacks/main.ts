import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { markdownTable, plain } from "@qavr/bench";
import { ATTACKS, type AttackResult, FULL, QUICK } from "./attacks.js";
import { MANIPULATED_STREAM } from "./manipulated-stream.js";
import { LAYERS } from "./world.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));
const SEEDS = [1, 2, 3];

interface Row {
  readonly attack: string;
  readonly title: string;
  readonly promise: string;
  readonly layer: string;
  readonly seeds: readonly AttackResult[];
}

/** The worst of the seeds, as a cell: bold where the promise does not hold. */
function cell({ seeds }: Row): string {
  const worst = seeds.reduce((a, b) => (b.worst > a.worst ? b : a));
  const text = `${plain(worst.worst, 2)} ${worst.unit}`;
  return seeds.every(({ held }) => held) ? text : `**${text}**`;
}

async function main(): Promise<void> {
  const quick = process.argv.includes("--quick");
  const size = quick ? QUICK : FULL;
  const rows: Row[] = [];
  for (const attack of [...ATTACKS, MANIPULATED_STREAM]) {
    for (const layer of LAYERS) {
      const started = performance.now();
      const seeds: AttackResult[] = [];
      for (const seed of quick ? SEEDS.slice(0, 1) : SEEDS) seeds.push(await attack.run(layer, size, seed));
      const { id, title, promise } = attack;
      rows.push({ attack: id, title, promise, layer: layer.name, seeds });
      process.stderr.write(
        `${id} ${layer.name}: ${cell(rows.at(-1) as Row)} (${plain((performance.now() - started) / 1000, 1)} s)\n`,
      );
    }
  }
  const table = markdownTable(
    ["attack", ...LAYERS.map(({ name }) => name)],
    [...new Set(rows.map(({ attack }) => attack))]
      .sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
      .map((attack) => {
        const own = rows.filter((row) => row.attack === attack);
        return [`${attack} ${own[0]?.title}`, ...own.map(cell)];
      }),
  );
  process.stdout.write(`${table}\n`);
  if (quick) return;
  await writeFile(
    `${DOCS}attacks.json`,
    `${JSON.stringify({ command: "pnpm attacks", seeds: SEEDS, size, rows }, undefined, 2)}\n`,
  );
  await writeFile(`${DOCS}attacks.md`, page(table, rows));
}

function page(table: string, rows: readonly Row[]): string {
  const promises = [...new Map(rows.map(({ attack, promise }) => [attack, promise]))]
    .sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)))
    .map(([attack, promise]) => `- ${attack}: ${promise}`);
  return `# Attacks

What attackers reach in a simulated application, by what is switched on against them: nothing, [caps](../reference/engine.md#caps) of
weight 3 a day, audited [trust](../reference/engine.md#trust) with 7 % of the runs verified (S6: 5 %), [marks](../reference/engine.md#unverified-memories)
on memories that nobody verified, all three. The worst of seeds ${SEEDS.join(", ")}; bold where the promise does not hold. Default
learner, memory store. ${FULL.fakes.toLocaleString("en")} outcomes of one source, ${FULL.sybils} made-up sources with ten each, ${FULL.stream.toLocaleString("en")} runs in the stream.

${table}

The promises:

${promises.join("\n")}

Command: \`pnpm attacks\`. Raw results: [attacks.json](attacks.json). What this means: [threat model](../explanation/threat-model.md).
`;
}

await main();
