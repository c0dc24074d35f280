import { markdownTable, plain, ratioText, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { type Measurement, ratio } from "../speed/measure.js";
import type { EngineOutcome } from "./engine-outcome.js";
import { KNOWN, type KnownReads } from "./known.js";
import { OUTCOME, OUTCOME_BYTES } from "./outcome-workload.js";
import { READ_MEMORIES, READ_STATES } from "./reading.js";
import { RECORDED_MEMORIES } from "./recording.js";
import type { StoreSize } from "./size.js";
import type { Throughput } from "./throughput.js";

export interface StoresResults {
  readonly rounds: number;
  /** ms */
  readonly duration: number;
  readonly throughput: readonly Throughput[];
  readonly reads: readonly Measurement[];
  readonly engine: readonly EngineOutcome[];
  readonly known: readonly KnownReads[];
  readonly sizes: readonly StoreSize[];
}

export function throughputTable(throughput: readonly Throughput[]): string {
  return markdownTable(
    ["recorded", "outcomes/s", "ms per commit", "÷ bare insert"],
    throughput.flatMap(({ name, rate, latency, ratio }) =>
      ratio ? [[name, whole(rate), plain(latency, 2), ratioText(ratio, 2)]] : [],
    ),
  );
}

export function readTable(reads: readonly Measurement[]): string {
  return markdownTable(
    [`${READ_STATES} states`, "median µs"],
    reads.map(({ name, median }) => [name, whole(median)]),
  );
}

export function knownTable(known: readonly KnownReads[]): string {
  return markdownTable(
    ["store", "ranking, µs", "`memories()` ÷ ranking", "`history()` ÷ ranking"],
    known.map(({ store, ranking, memories, history }) => [
      store,
      whole(ranking.median),
      ratioText(ratio(memories, ranking), 1),
      ratioText(ratio(history, ranking), 0),
    ]),
  );
}

/** `SQLite 693 µs (p95 1,162)` */
export function engineText(engine: readonly EngineOutcome[]): string {
  return engine
    .map(({ measurement: { name, median, p95 } }) => `${name} ${whole(median)} µs (p95 ${whole(p95)})`)
    .join(", ");
}

export function sizeTable(sizes: readonly StoreSize[]): string {
  return markdownTable(
    ["store", "memories", "filled in s", "bytes per memory", "opened in ms", "MB in memory"],
    sizes.map(({ store, memories, filled, disk, opened }) => [
      store,
      whole(memories),
      plain(filled, 1),
      whole(disk / memories),
      plain(opened.open, 1),
      plain(opened.memory / 1e6, 1),
    ]),
  );
}

/** Range of the rates of a store against a bare insert, and reads of PostgreSQL that are slower than the file. */
export function lossLines({ throughput, reads }: Pick<StoresResults, "throughput" | "reads">): readonly string[] {
  const shares = (store: string): readonly string[] => {
    const means = throughput.flatMap(({ name, ratio }) => (ratio && name.startsWith(store) ? [ratio.mean] : []));
    return means.length === 0
      ? []
      : [`${store}: ${plain(Math.min(...means), 2)} to ${plain(Math.max(...means), 2)} of a bare insert's rate.`];
  };
  const slower = reads.flatMap(({ name, median }) => {
    const file = reads.find((other) => other.name === name.replace("PostgreSQL", "SQLite"))?.median ?? median;
    return median > file
      ? [`Reading ${READ_STATES} states, ${name}: ${plain(median / file, 1)} times as long as SQLite.`]
      : [];
  });
  return [...shares("SQLite"), ...shares("PostgreSQL"), ...slower];
}

export function reportPage(report: Report<StoresResults>): string {
  const { rounds, duration, throughput, reads, engine, known, sizes } = report;
  const { memories: ids, candidates, events, page } = KNOWN;
  const states = [
    ...new Set(engine.map(({ states, bytes }) => `${plain(states, 1)} states and ${whole(bytes)} bytes`)),
  ].join(" or ");
  return `# Stores

## Where it loses

${lossLines(report)
  .map((line) => `- ${line}`)
  .join("\n")}

## Recording outcomes

An outcome is ${whole(OUTCOME_BYTES)} bytes, durable when acknowledged. \`8 × 10\`: 8 clients, 10 outcomes per commit. A bare insert writes as many bytes.

${throughputTable(throughput)}

An outcome of the engine, with the default learner, 300 memories and one caller, of ${states}: ${engineText(engine)}.

## Reading states

Of ${whole(READ_MEMORIES)} memories. *Cached*: the server is asked only whether the namespace has changed; within a staleness it is not.

${readTable(reads)}

\`memories()\` of ${ids} ids and \`history()\` of ${page} of ${whole(events)} events, beside an unrecorded, cached ranking of ${candidates}:

${knownTable(known)}

## Many memories

${sizeTable(sizes)}

Memory: growth of the client process by opening and a hundred reads of fifty states.

## How

- Outcome, as of the default learner: an entry of ${OUTCOME.payload} bytes, the states of ${OUTCOME.shown} of ${whole(RECORDED_MEMORIES)} memories (${whole(OUTCOME.memory)} bytes each), the episode, the collection and
  the counts.
- ${rounds} rounds of ${plain(duration / 1_000, 1)} s per case; the middle one, and ratios per round. All clients share one process on two cores, so the limits of a larger server
  do not show.
- PostgreSQL on the same machine, with its own defaults; SQLite with \`synchronous\` full. A network adds two or three round trips per commit of a sole
  writer, four to six among several, one per retrieval.

${originLine("stores", report)}
`;
}
