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

const worstOf = ({ seeds }: AttackRow): AttackResult => seeds.reduce((a, b) => (b.worst > a.worst ? b : a));

/** The worst of the seeds, as a cell: bold where the promise does not hold. */
export function attackCell(row: AttackRow): string {
  const text = plain(worstOf(row).worst, 2);
  return row.seeds.every(({ held }) => held) ? text : `**${text}**`;
}

const byNumber = (a: string, b: string): number => Number(a.slice(1)) - Number(b.slice(1));

export function attackTable(rows: readonly AttackRow[]): string {
  // A threat may have several promises, each under a title of its own.
  const titles = [...Map.groupBy(rows, ({ title }) => title)].sort(([, [a]], [, [b]]) =>
    byNumber((a as AttackRow).attack, (b as AttackRow).attack),
  );
  return markdownTable(
    ["attack", ...LAYERS.map(({ name }) => name)],
    titles.map(([title, own]) => {
      const [first] = own as [AttackRow];
      return [`${first.attack} ${title} (${worstOf(first).unit})`, ...own.map(attackCell)];
    }),
  );
}

export function attackPage({ command, seeds, size, rows }: AttackReport): string {
  return `# Attacks

The reach of attackers in a simulated application, by defence: none, [caps](../reference/engine.md#caps) of weight 3 a day, audited
[trust](../reference/engine.md#trust) with 7 % of the runs verified (S6: 5 %), [marks](../reference/engine.md#unverified-memories) on unverified
memories, all three. The worst of seeds ${seeds.join(", ")}; bold where the promise is broken. Default learner, memory store.
${size.fakes.toLocaleString("en")} outcomes of one source, ${size.sybils} made-up sources with ten each, ${size.stream.toLocaleString("en")} runs in the stream.

${attackTable(rows)}

\`${command}\`. Raw results: [attacks.json](attacks.json). The promises: [threat model](../explanation/threat-model.md#what-is-promised-about-lies).
`;
}
