import { type Machine, machine, machineText } from "../report/machine.js";
import { markdownTable, plain } from "../report/markdown-table.js";
import type { Measurement } from "../speed/measure.js";
import type { EngineOutcome } from "./engine-outcome.js";
import { OUTCOME, OUTCOME_BYTES } from "./outcome-workload.js";
import { READ_MEMORIES, READ_STATES } from "./reading.js";
import { RECORDED_MEMORIES } from "./recording.js";
import type { StoreSize } from "./size.js";
import type { Throughput } from "./throughput.js";

/** Files in docs/benchmarks. */
export const FILES = { page: "stores.md", raw: "stores.json" } as const;

/** Everything that a reader needs to repeat or doubt the numbers. */
export interface StoresReport {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** ms */
  readonly duration: number;
  readonly throughput: readonly Throughput[];
  readonly reads: readonly Measurement[];
  readonly engine: readonly EngineOutcome[];
  readonly sizes: readonly StoreSize[];
}

export function storesReport(results: Omit<StoresReport, "date" | "hardware">): StoresReport {
  return { date: new Date().toISOString().slice(0, 10), hardware: machine(), ...results };
}

export function throughputTable(throughput: readonly Throughput[]): string {
  return markdownTable(
    ["recorded", "outcomes/s", "ms per commit", "÷ its floor"],
    throughput.map(({ name, rate, latency, ratio }) => [
      name,
      whole(rate),
      plain(latency, 2),
      ratio ? `${plain(ratio.mean, 2)} ±${plain(ratio.margin, 2)}` : "floor",
    ]),
  );
}

export function readTable(reads: readonly Measurement[]): string {
  return markdownTable(
    [`${READ_STATES} states`, "median µs", "p95 µs", "calls"],
    reads.map(({ name, median, p95, calls }) => [name, whole(median), whole(p95), whole(calls)]),
  );
}

export function engineTable(engine: readonly EngineOutcome[]): string {
  return markdownTable(
    ["one outcome of the engine", "states", "bytes", "median µs", "p95 µs"],
    engine.map(({ states, bytes, measurement: { name, median, p95 } }) => [
      name,
      plain(states, 1),
      whole(bytes),
      whole(median),
      whole(p95),
    ]),
  );
}

export function sizeTable(sizes: readonly StoreSize[]): string {
  return markdownTable(
    ["store", "memories", "filled in s", "MB on disk", "bytes per memory", "opened in ms", "MB in memory"],
    sizes.map(({ store, memories, filled, disk, opened }) => [
      store,
      whole(memories),
      plain(filled, 1),
      whole(disk / 1e6),
      whole(disk / memories),
      plain(opened.open, 1),
      plain(opened.memory / 1e6, 1),
    ]),
  );
}

/** Where a store is slower than the least that could be done, and PostgreSQL than the file. */
export function lossLines({ throughput, reads }: Pick<StoresReport, "throughput" | "reads">): readonly string[] {
  const below = throughput.filter(({ ratio }) => ratio && ratio.mean + ratio.margin < 1);
  const slower = reads.flatMap(({ name, median }) => {
    const file = reads.find((other) => other.name === name.replace("PostgreSQL", "SQLite"))?.median ?? median;
    return median > file
      ? [`Reading ${READ_STATES} states, ${name}: ${plain(median / file, 1)} times as long as SQLite.`]
      : [];
  });
  return [
    ...below.map(
      ({ name, ratio }) => `${name}: ${plain(ratio?.mean ?? 0, 2)} of the rate of a bare insert of the same bytes.`,
    ),
    ...slower,
  ];
}

export function reportPage(report: StoresReport): string {
  const { command, date, hardware, versions, rounds, duration, throughput, reads, engine, sizes } = report;
  return `# Stores

SQLite and PostgreSQL side by side, in one run. A file on one machine is the faster store; the server is there so that many machines can
share what they learn. Raw results: [${FILES.raw}](${FILES.raw}), written by \`${command}\`.

## Where it loses

${lossLines(report)
  .map((line) => `- ${line}`)
  .join("\n")}

## Recording outcomes

An outcome is ${whole(OUTCOME_BYTES)} bytes, durable when it is acknowledged. \`8 × 10\`: 8 clients, 10 outcomes per commit. The floor is one
statement that inserts as many bytes and asks nothing: no key, no order, no state.

${throughputTable(throughput)}

The engine itself, with the default learner, 300 memories and one caller that reports the outcomes of recorded runs, one after the other; what
is written is the same on every store:

${engineTable(engine)}

## Reading states

What one ranking reads, from a namespace of ${whole(READ_MEMORIES)} memories. *Cached* and exact means that the server is asked whether the namespace
has changed; within a staleness nothing is asked.

${readTable(reads)}

## Many memories

${sizeTable(sizes)}

State is never loaded whole: opening reads fifty states, and memory grows with what is read, up to \`cacheBytes\`. Memory is the growth of a
process's resident set by opening and a hundred reads of fifty states; that of the database server is not in it.

## How

- Outcome: an entry of ${OUTCOME.payload} bytes, the states of ${OUTCOME.shown} of ${whole(RECORDED_MEMORIES)} memories (${whole(OUTCOME.memory)} bytes each), the episode, the collection and the
  counts; sizes of the default learner, from [cost.md](cost.md). States are read, and written again. Bytes are noise.
- Throughput: ${rounds} rounds, in each of which every case runs for ${plain(duration / 1_000, 1)} s; the middle round, and ratios per round with
  their 95 % interval. All clients are in one process, with a handle and connections each where it says so; on two cores they share one
  with nobody but wait for each other's JavaScript. One process cannot show what a larger server could do.
- Reads: side by side, every turn runs all parts in random order.
- Servers: PostgreSQL on the same machine, over the loopback, as it comes (\`fsync\` and \`synchronous_commit\` on, 128 MB of shared
  buffers); SQLite with \`synchronous\` full. A network adds its round trip: two or three per commit where one process writes a namespace, four to
  six where several do; one per retrieval without staleness.
- A load average above the number of cores means that other work took part of them: rates are then lower than they could be, and what was
  measured side by side is still comparable.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
