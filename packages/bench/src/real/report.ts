import { gainText, type Interval, markdownTable, mean, pairedInterval, plain } from "@qavr/lab";
import { BASELINE_ROW, DEFAULT_ROW } from "../learning/rows.js";
import { originLine, type Report } from "../report/benchmark.js";
import { COLUMNS, type Column, TOLD_COLUMNS, toldName } from "./columns.js";
import { REAL_SETS } from "./real-sets.js";
import type { Success } from "./trial.js";
import type { RealResult } from "./worker.js";

/** Successes of one row (or reference) on one column, one per seed. */
export interface ColumnResult {
  readonly column: string;
  readonly name: string;
  readonly reference: boolean;
  readonly online: readonly number[];
  readonly heldOut: readonly number[];
}

export interface RealResults {
  readonly seeds: readonly number[];
  readonly results: readonly ColumnResult[];
  /** Those of {@link TOLD_COLUMNS}. */
  readonly told: readonly ColumnResult[];
}

/** Gathers the seeds of each row and column. Numbers are rounded, so the page can be made again from the raw results. */
export function resultsOf(all: readonly RealResult[]): RealResults {
  const found = new Map<string, ColumnResult & { readonly online: number[]; readonly heldOut: number[] }>();
  for (const { column, row, success } of all) {
    for (const [name, { online, heldOut }] of Object.entries(success)) {
      const key = `${column}\n${name}`;
      const one = found.get(key) ?? { column, name, reference: row === undefined, online: [], heldOut: [] };
      if (online !== undefined) one.online.push(Number(online.toFixed(5)));
      if (heldOut !== undefined) one.heldOut.push(Number(heldOut.toFixed(5)));
      found.set(key, one);
    }
  }
  const isTold = ({ column }: ColumnResult): boolean => TOLD_COLUMNS.some(({ name }) => name === column);
  const each = [...found.values()];
  return {
    seeds: [...new Set(all.map(({ seed }) => seed))],
    results: each.filter((one) => !isTold(one)),
    told: each.filter(isTold),
  };
}

const rowsOf = ({ results }: RealResults, reference: boolean): readonly string[] => [
  ...new Set(results.filter((one) => one.reference === reference).map(({ name }) => name)),
];

const values = (all: RealResults, column: string, name: string, measure: keyof Success): readonly number[] =>
  [...all.results, ...all.told].find((one) => one.column === column && one.name === name)?.[measure] ?? [];

/** Per seed, the mean of online and held-out success. */
const both = (all: RealResults, column: string, name: string): readonly number[] => {
  const heldOut = values(all, column, name, "heldOut");
  return values(all, column, name, "online").map((value, place) => (value + (heldOut[place] as number)) / 2);
};

/** `treated − control` in the mean of online and held-out success, paired by seed. */
function lead(all: RealResults, column: string, control: string): Interval {
  return pairedInterval(both(all, column, DEFAULT_ROW), both(all, column, control));
}

const average = (of: readonly number[]): string => (of.length > 0 ? plain(mean(of)) : "");

/** Rows with their means over the columns, and the number of columns in which the default is behind. */
function learnerTable(all: RealResults): string {
  const overall = (row: string, measure: keyof Success): string =>
    plain(mean(COLUMNS.map(({ name }) => mean(values(all, name, row, measure)))));
  const compared = new Map(leads(all).map((one) => [one.row, one]));
  return markdownTable(
    ["", "online", "held out", `behind in, of ${COLUMNS.length}`],
    rowsOf(all, false).map((row) => {
      const one = compared.get(row);
      return [
        row === DEFAULT_ROW ? `**${row}**` : row,
        overall(row, "online"),
        overall(row, "heldOut"),
        one ? String(COLUMNS.length - one.ahead) : "",
      ];
    }),
  );
}

/** Columns by the rows that matter most, with the best of the others. */
function columnTable(all: RealResults): string {
  return markdownTable(
    ["", BASELINE_ROW, "best other", `**${DEFAULT_ROW}**`],
    COLUMNS.map(({ name }) => [
      name,
      average(both(all, name, BASELINE_ROW)),
      bestOther(all, name),
      average(both(all, name, DEFAULT_ROW)),
    ]),
  );
}

/** The best row beside the default and the baseline in a column. */
function bestRow(all: RealResults, column: string): string {
  return rowsOf(all, false)
    .filter((row) => row !== BASELINE_ROW && row !== DEFAULT_ROW)
    .reduce((a, b) => (mean(both(all, column, a)) >= mean(both(all, column, b)) ? a : b));
}

const bestOther = (all: RealResults, column: string): string => {
  const row = bestRow(all, column);
  return `${average(both(all, column, row))} \`${row}\``;
};

/** The columns in which the default is behind the best other row, the largest loss first. */
function losses(all: RealResults): readonly { readonly column: string; readonly row: string; readonly loss: number }[] {
  return COLUMNS.map(({ name: column }) => {
    const row = bestRow(all, column);
    return { column, row, loss: -lead(all, column, row).mean };
  })
    .filter(({ loss }) => loss > 0)
    .sort((a, b) => b.loss - a.loss);
}

/** The default without and with the category told, and its share of the best per category while it learns. */
function toldTable(all: RealResults): string {
  const share = (column: string, untold: string): string => {
    const best = values(all, untold, "best per category", "online");
    return best.length > 0 ? plain(mean(values(all, column, DEFAULT_ROW, "online")) / mean(best)) : "";
  };
  return markdownTable(
    ["", "not told", "told", "told, best other", "share, not told", "share, told"],
    COLUMNS.map(({ name }) => ({ name, told: toldName(name) }))
      .filter(({ told }) => TOLD_COLUMNS.some((one) => one.name === told))
      .map(({ name, told }) => [
        name,
        average(both(all, name, DEFAULT_ROW)),
        `**${average(both(all, told, DEFAULT_ROW))}**`,
        bestOther(all, told),
        share(name, name),
        share(told, name),
      ]),
  );
}

/** References on held-out requests, once for columns that differ in their host alone: it changes hardly any of them. */
function referenceTable(all: RealResults): string {
  const rows = rowsOf(all, true).filter((row) => row !== "uniform");
  const sets = new Map(
    COLUMNS.filter(({ k }) => k === 1)
      .toReversed()
      .map((column) => [withoutHost(column), column.name]),
  );
  return markdownTable(
    ["", ...rows],
    [...sets]
      .toReversed()
      .map(([name, column]) => [name, ...rows.map((row) => average(values(all, column, row, "heldOut")))]),
  );
}

/** `bfcl-mid, noise, k = 3` → `bfcl-mid, k = 3` */
function withoutHost({ name, host }: Column): string {
  return name.replace(`, ${host}`, "");
}

/** In how many columns the default is ahead of each other row, and the mean difference. */
function leads(all: RealResults): readonly { readonly row: string; readonly ahead: number; readonly mean: number }[] {
  return rowsOf(all, false)
    .filter((row) => row !== DEFAULT_ROW)
    .map((row) => {
      const each = COLUMNS.map(({ name }) => lead(all, name, row).mean);
      return { row, ahead: each.filter((one) => one > 0).length, mean: mean(each) };
    });
}

export function realSummary(all: RealResults): string {
  return [learnerTable(all), columnTable(all), toldTable(all), referenceTable(all)].join("\n\n");
}

/** Columns that the page names as losses; its table has all. */
const MOST_LOSSES = 5;

export function realPage(all: Report<RealResults>): string {
  const behind = leads(all).filter((one) => one.mean < 0);
  const lost = losses(all);
  const harmed = COLUMNS.filter(({ name }) => lead(all, name, BASELINE_ROW).mean < 0);
  return `# Real outcomes

A model, a person or a checker has judged each request with each candidate. The engine ranks, and learns the outcome of what it showed. \`${DEFAULT_ROW}\` is the default, \`qavr\` the published formula.

## Where it loses

${behind.length > 0 ? `- Behind in the mean of all columns: ${behind.map((one) => `\`${one.row}\` by ${plain(-one.mean)}`).join(", ")}.` : "- Behind in the mean of all columns: nowhere."}
${
  lost.length > 0
    ? `- Behind the best other learner of a column in ${lost.length} of ${COLUMNS.length}. The largest losses: ${lost
        .slice(0, MOST_LOSSES)
        .map(({ column, row, loss }) => `${column} (\`${row}\`, ${plain(loss)})`)
        .join("; ")}.`
    : "- Behind the best other learner of a column: nowhere."
}
${harmed.length > 0 ? `- Worse than similarity: ${harmed.map(({ name }) => `${name} ${gainText(lead(all, name, BASELINE_ROW))}`).join("; ")}.` : "- Worse than similarity: nowhere."}

${learnerTable(all)}

*Online*: the mean outcome of what was shown, over 70 % of the requests, once each. *Held out*: over the other 30 %, afterwards. *Behind*: the default, in the mean of both.

## By column

The mean of online and held-out success.

${columnTable(all)}

## With the kind of task told

The host names the category of each request as its [context](../explanation/learning.md#contexts). *Share*: success of \`${DEFAULT_ROW}\` while learning, of the best per category.

${toldTable(all)}

## References

Held-out success of those who know more. *best single*, *best per category*: the candidate with the best mean over the same requests. *nearest
neighbours*: outcomes of all candidates of the stream are known. *oracle*: the best candidate of each request, by luck where answers were sampled.

${referenceTable(all)}

## How

- Requests in one random order for each seed, ${all.seeds[0]} to ${all.seeds.at(-1)}; request vectors are LSA-256. With k = 3 the run uses one of the three shown, drawn evenly: its
  outcome is the reward, the mean of the three is the success.
- Similarities of the host. *given*: the set's own; *noise*: N(0.5, 0.1) per request and candidate; *fixed*: one wrong order; *constant*: 0.5.
- *bfcl-mid*: candidates of bfcl with a mean of 0.5 to 0.8. *bfcl-rare*: its hardest 40 % of the requests, ten weakest candidates. mawps and gsm8k share
  their prompts.

${originLine("real", all)}

## Data

${Object.entries(REAL_SETS)
  .map(([name, { about }]) => `- [${name}](../../packages/bench/data/real/${name}/README.md): ${about}`)
  .join("\n")}
`;
}
