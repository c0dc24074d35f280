import { markdownTable, plain } from "@qavr/lab";
import type { AttackResult, AttackSize } from "./attacks.js";
import { LAYERS } from "./world.js";

/** One attack against one layer. */
export interface AttackRow {
  readonly attack: string;
  readonly title: string;
  readonly promise: string;
  readonly layer: string;
  /** One result per seed. */
  readonly seeds: readonly AttackResult[];
}

/** All of it: what `attacks.json` holds. */
export interface AttackReport {
  readonly command: string;
  readonly seeds: readonly number[];
  readonly size: AttackSize;
  readonly rows: readonly AttackRow[];
}

/** The worst of the seeds, as a cell: bold where the promise does not hold. */
export function attackCell({ seeds }: AttackRow): string {
  const worst = seeds.reduce((a, b) => (b.worst > a.worst ? b : a));
  const text = `${plain(worst.worst, 2)} ${worst.unit}`;
  return seeds.every(({ held }) => held) ? text : `**${text}**`;
}

const byNumber = (a: string, b: string): number => Number(a.slice(1)) - Number(b.slice(1));

export function attackTable(rows: readonly AttackRow[]): string {
  // A threat may have several promises, each under a title of its own.
  const titles = [...new Map(rows.map(({ title, attack }) => [title, attack]))].sort(([, a], [, b]) => byNumber(a, b));
  return markdownTable(
    ["attack", ...LAYERS.map(({ name }) => name)],
    titles.map(([title, attack]) => [
      `${attack} ${title}`,
      ...rows.filter((row) => row.title === title).map(attackCell),
    ]),
  );
}

export function attackPage({ command, seeds, size, rows }: AttackReport): string {
  return `# Attacks

The reach of attackers in a simulated application, by defence: none, [caps](../reference/engine.md#caps) of weight 3 a day, audited
[trust](../reference/engine.md#trust) with 7 % of the runs verified (S6: 5 %), [marks](../reference/engine.md#unverified-memories) on unverified
memories, all three. The worst of seeds ${seeds.join(", ")}; bold where the promise is broken. Default learner, memory store.
${size.fakes.toLocaleString("en")} outcomes of one source, ${size.sybils} made-up sources with ten each, ${size.stream.toLocaleString("en")} runs in the stream.

${attackTable(rows)}

Command: \`${command}\`. Raw results: [attacks.json](attacks.json). The promises: [threat model](../explanation/threat-model.md#what-is-promised-about-lies).
`;
}
