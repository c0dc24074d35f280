import { gainText, machineText, markdownTable, median, plain, whole } from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
import { type Batch, BUSY, type BusyResults, type MergedRead } from "./measure.js";
import type { Merge } from "./sub-ledgers.js";

export function batchTable({ batches }: BusyResults): string {
  return markdownTable(
    ["store", "waiting outcomes", "application µs", "server µs", "at most/s", "measured/s"],
    batches.map((batch) => [
      batch.store,
      whole(batch.waiting),
      whole(batch.app),
      batch.store === "PostgreSQL" ? whole(batch.server) : "",
      whole(limitOf(batch)),
      whole(median(batch.rates)),
    ]),
  );
}

/** Outcomes per second of one namespace by processor time: fold and write take turns under its lock. `10⁶ / (application + server)` */
function limitOf({ store, app, server }: Batch): number {
  return 1e6 / (app + (store === "PostgreSQL" ? server : 0));
}

export function readTable({ reads }: BusyResults): string {
  return markdownTable(
    ["sub-ledgers", "application µs", "server µs"],
    reads.map(({ count, app, server }) => [String(count), whole(app), whole(server)]),
  );
}

export function learnedTable({ one, learned }: BusyResults): string {
  return markdownTable(
    ["sub-ledgers", "ranked by", "success while learning", "held-out success at the end"],
    [
      ["1", "one ledger", plain(one.online), plain(one.final)],
      ...learned.map(({ count, merge, online, final }) => [
        String(count),
        merge === "alone" ? "its own statistics" : `the ${merge} of all`,
        gainText(online),
        gainText(final),
      ]),
    ],
  );
}

export function reportPage(report: Report<BusyResults>): string {
  const { command, date, hardware, versions, plan, batches, reads, learned } = report;
  const [fold, best] = (["in memory", "PostgreSQL"] as const).map((name) =>
    batches.filter(({ store }) => store === name).reduce((one, other) => (limitOf(other) > limitOf(one) ? other : one)),
  ) as [Batch, Batch];
  const most = Math.max(...plan.counts);
  const loss = (merge: Merge): string =>
    plain(-(learned.find((one) => one.merge === merge && one.count === most)?.final.mean ?? 0));
  const [read, widest] = [reads[0], reads.at(-1)] as [MergedRead, MergedRead];
  return `# One busy namespace

One transaction at a time writes to a namespace. Two ways beyond: more outcomes per commit, and sub-ledgers whose statistics are merged for each ranking.
Raw results: [busy.json](busy.json), by \`${command}\`. What follows from it: [decision](../decisions/2026-11-25-one-busy-namespace.md).

## Where it loses

- Larger commits end at ${whole(limitOf(best))} outcomes per second by processor time, with ${whole(best.waiting)} waiting. The fold alone ends at ${whole(limitOf(fold))}.
- ${most} sub-ledgers lose ${loss("mean")} of held-out success where a ranking takes the mean of all, ${loss("sum")} with the sum, and ${loss("alone")} where each ranks by its own.
- A ranking from ${most} sub-ledgers costs the server ${plain(widest.server / read.server, 1)} times the CPU.

## More outcomes per commit

Runs are ranked first; then so many outcomes are recorded at once, with their exposures, in one commit. CPU per outcome; the fold and the write take
turns under the lock of the namespace, so that their sum gives the most there can be. A busy machine measures less. In memory there is only the fold.

${batchTable(report)}

## Sub-ledgers

**Reads**: CPU per ranking that reads the states of ${BUSY.read} memories from every sub-ledger, none cached.

${readTable(report)}

**Learning**: runs teach the sub-ledgers in turn, each by the default learner and without the others. *Mean*: of Gaussians, weighted by precision.
*Sum*: of what each has added to the prior. Differences from one ledger, with 95 % t intervals over ${plan.sets.length} sets × ${plan.seeds.length} seeds of ${whole(plan.runs)} simulated runs.

${learnedTable(report)}

## How

- PostgreSQL without autovacuum on the same machine, the real engine and store, the default learner, ${BUSY.memories} memories, requests of ${BUSY.dims}
  values, ${BUSY.candidates} candidates, ${BUSY.shown} shown; ${plan.rounds} rounds of ${whole(plan.outcomes)} outcomes, the middle rate.
- Worlds: ${plan.sets.join(", ")} of [learning](learning.md#how), seeds ${plan.seeds[0]} to ${plan.seeds.at(-1)}. One sub-ledger ranks exactly as the default
  learner.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}
