import type { Comparisons } from "../learning/comparison.js";
import { type Machine, machine, machineText } from "../report/machine.js";
import { gainText, markdownTable, plain } from "../report/markdown-table.js";
import type { Measurement } from "../speed/measure.js";
import type { Interval } from "../statistics/interval.js";
import type { Cost, Timed } from "./costs.js";
import type { HistoryShape } from "./history.js";
import { lossLines } from "./losses.js";
import { DIMS, REFERENCE, REFERENCE_DIMS } from "./subjects.js";

/** How the gains beside the costs were measured; the raw results of this command are `cost-gains.json`. */
export const GAINS_COMMAND =
  "pnpm bench:learning --rows cav,jar-0,jar-5,jar-8,jar,oar,oar-guard --sets hwu64,clinc150 --seeds 101-104 --out <folder>";

/** Files in docs/benchmarks: the page, its raw results, and the gains that it reads. */
export const FILES = { page: "cost.md", raw: "cost.json", gains: "cost-gains.json" } as const;

/** Everything that a reader needs to repeat or doubt the numbers. */
export interface CostReport {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly history: HistoryShape;
  /** States and bytes are the same in every run of the command, times are not. */
  readonly costs: readonly Cost[];
  readonly measurements: readonly Measurement[];
}

export function costReport(results: Pick<CostReport, "costs" | "history" | "measurements" | "versions">): CostReport {
  return {
    command: "pnpm bench:cost",
    date: new Date().toISOString().slice(0, 10),
    hardware: machine(),
    ...results,
  };
}

/** All costs as a table. */
export function costTable(costs: readonly Cost[]): string {
  const reference = referenceOf(costs);
  return markdownTable(
    [
      "learner",
      "revisits",
      "dims",
      "states",
      "bytes",
      "÷ oar",
      "memory state",
      "µs in memory",
      "÷ oar",
      "µs on SQLite",
      "÷ oar",
      "µs on PostgreSQL",
      "÷ oar",
      "bytes logged",
    ],
    costs.map((cost) => [
      cost.learner,
      String(cost.revisits),
      String(cost.dims),
      plain(cost.states, 1),
      whole(cost.bytes),
      plain(cost.bytes / reference.bytes, 2),
      whole(cost.memoryBytes),
      ...timed(cost.inMemory),
      ...timed(cost.onDisk),
      ...timed(cost.onServer),
      whole(cost.logged),
    ]),
  );
}

/** Gain beside cost, at the length of request vectors that the gains were measured with. */
export function gainTable(costs: readonly Cost[], gains: Comparisons): string {
  const reference = referenceOf(costs);
  const sets = [...new Set(gains.all.map(({ set }) => set))];
  return markdownTable(
    [
      "learner",
      "states",
      "bytes ÷ oar",
      "CPU ÷ oar",
      "SQLite ÷ oar",
      "PostgreSQL ÷ oar",
      ...sets.flatMap((set) => [`${set}: success`, "nDCG@5"]),
    ],
    costs
      .filter(({ dims }) => dims === REFERENCE_DIMS)
      .map((cost) => [
        cost.learner,
        plain(cost.states, 1),
        plain(cost.bytes / reference.bytes, 2),
        plain(cost.inMemory.ratio.mean, 2),
        plain(cost.onDisk.ratio.mean, 2),
        plain(cost.onServer.ratio.mean, 2),
        ...sets.flatMap((set) => {
          const gain = gains.find(cost.learner, set, "main");
          return [gainText(gain?.gain("success")), gainText(gain?.gain("ndcg"))];
        }),
      ]),
  );
}

/** The report as a Markdown page; where the default loses comes first. */
export function reportPage(
  { command, date, hardware, versions, history, costs }: CostReport,
  gains: Comparisons,
): string {
  return `# What an outcome costs

Learners differ in what one outcome makes the store write. \`oar\`, the default, writes the same states as \`cav\`: the memories that the run
was shown, its episode, the collection's state and the counts. \`jar\` fits old runs again after each new one, and each of them brings its
episode and some five memories more. The page is written by \`${command}\`; raw results: [${FILES.raw}](${FILES.raw}). What follows from it:
[oar is the default](../decisions/2026-11-20-oar-is-the-default.md).

## Where it loses

Bytes and gains by their means, whatever the intervals below; times where the whole interval is clear of the default's.

${lossLines(costs, gains)
  .map((line) => `- ${line}`)
  .join("\n")}

## Cost

Per outcome of a run that was shown ${history.shown} memories. States and bytes are means; times are medians with the ratio of medians to \`oar\` at
${REFERENCE_DIMS} dims and its 95 % interval over rounds.

${costTable(costs)}

- **states, bytes**: what the outcome's reduction writes, in memory, on SQLite and on PostgreSQL alike. Values only: addresses, the
  ledger's entry (the same for all) and the pages that a store writes around them come on top.
- **memory state**: mean bytes of one memory's state, 16 of which belong to the ledger and not to the learner.
- **µs in memory**: \`engine.report\` on \`memoryStore()\`: encoding, reduction and state, no disk.
- **µs on SQLite**: the same on a file, durable commit included (\`synchronous\` full, the default). Every commit waits once for the disk,
  whatever the learner, and that wait differs from run to run: where it takes milliseconds, it hides what a learner writes; where it
  takes a fraction of one, the ratios come near those in memory. Take the bytes for what is steady.

- **µs on PostgreSQL**: the same on a server of the same machine, over the loopback, everything as it comes; the process is alone in its
  namespace, so an outcome takes three round trips and one wait for the disk. A network adds its own round trip three times.
- **bytes logged**: what PostgreSQL writes to its log for one outcome, which is what its disk and its replicas get: the entry, the states,
  index entries. Without the whole pages that follow a checkpoint.

Of them are memories, episodes and others (the collection, counts, places of the ring):

${kindTable(costs)}

## Gain beside cost

Differences from plain similarity after 3,000 runs on the sets that the learners were tuned on, with tuning seeds; 95 % t intervals, paired by
seed. They say which way a number of revisits is worth its writes; what the default gains on sets that nothing was tuned on
is in [learning.md](learning.md). Costs as above, at ${REFERENCE_DIMS} dims.

${gainTable(costs, gains)}

Raw results: [${FILES.gains}](${FILES.gains}), the \`learning.json\` of

\`\`\`sh
${GAINS_COMMAND.replace("pnpm", "npx -y pnpm@12")}
\`\`\`

## How

- A collection of ${history.memories} memories, ${history.queries} requests that come again and again, ${history.fetched} candidates per run from an HNSW index of clustered
  vectors, ${history.shown} of them shown as the learner ranks them; outcomes by a fair coin. ${history.runs} runs before anything is counted, the next
  ${history.counted} counted, the rest timed. Request vectors of ${DIMS.join(" and of ")} floats, which are stored as they are: neither is projected.
- Joint replay remembers up to 1,000 runs. How many of the memories of revisited runs coincide depends on the collection: the larger it
  is, the nearer the states come to \`(revisits + 1) · (shown + 1)\` and four more.
- Times are taken side by side in one process: every turn runs all parts of a store in random order. So many engines leave each other
  cold caches: compare these µs with each other, not with those of [speed.md](speed.md). The exposure is recorded before, off the
  clock. What a changed state costs the next ranking that reads it is not counted.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}

function kindTable(costs: readonly Cost[]): string {
  return markdownTable(
    ["learner", "dims", "memories", "bytes", "episodes", "bytes", "others", "bytes"],
    costs.map(({ learner, dims, kinds: { memory, episode, other } }) => [
      learner,
      String(dims),
      ...[memory, episode, other].flatMap(({ states, bytes }) => [plain(states, 1), whole(bytes)]),
    ]),
  );
}

function referenceOf(costs: readonly Cost[]): Cost {
  return costs.find(({ learner, dims }) => learner === REFERENCE && dims === REFERENCE_DIMS) as Cost;
}

function timed({ median, ratio }: Timed): readonly [string, string] {
  return [whole(median), ratioText(ratio)];
}

function ratioText({ mean, margin }: Interval): string {
  return `${plain(mean, 2)} ±${plain(margin, 2)}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
