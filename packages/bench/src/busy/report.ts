import { gainText, markdownTable, median, plain, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { type Batch, BUSY, type BusyResults, type MergedRead } from "./measure.js";
import { MERGES, type Merge } from "./sub-ledgers.js";

export function batchTable({ batches }: BusyResults): string {
  return markdownTable(
    ["waiting outcomes", "in memory: at most/s", "PostgreSQL: at most/s", "measured/s"],
    [...Map.groupBy(batches, ({ waiting }) => waiting)].map(([waiting, own]) => [
      whole(waiting),
      ...own.flatMap((batch) => [
        whole(limitOf(batch)),
        ...(batch.store === "PostgreSQL" ? [whole(median(batch.rates))] : []),
      ]),
    ]),
  );
}

/** Outcomes per second of one namespace by processor time: fold and write take turns under its lock. `10⁶ / (application + server)` */
function limitOf({ store, app, server }: Batch): number {
  return 1e6 / (app + (store === "PostgreSQL" ? server : 0));
}

/** Cost of a ranking, and success, by number of sub-ledgers. */
export function ledgersTable({ one, learned, reads }: BusyResults): string {
  return markdownTable(
    ["sub-ledgers", "ranking, µs", "server µs", ...MERGES.map((merge) => MERGE_NAMES[merge])],
    reads.map(({ count, app, server }) => [
      String(count),
      whole(app),
      whole(server),
      ...MERGES.map((merge) => {
        if (count === 1) return plain(one.final);
        return gainText(learned.find((other) => other.count === count && other.merge === merge)?.final);
      }),
    ]),
  );
}

const MERGE_NAMES: Readonly<Record<Merge, string>> = {
  alone: "each alone",
  mean: "mean of all",
  sum: "sum of all",
};

export function reportPage(report: Report<BusyResults>): string {
  const { plan, batches, reads, learned } = report;
  const [fold, best] = (["in memory", "PostgreSQL"] as const).map((name) =>
    batches.filter(({ store }) => store === name).reduce((one, other) => (limitOf(other) > limitOf(one) ? other : one)),
  ) as [Batch, Batch];
  const most = Math.max(...plan.counts);
  const loss = (merge: Merge): string =>
    plain(-(learned.find((one) => one.merge === merge && one.count === most)?.final.mean ?? 0));
  const [read, widest] = [reads[0], reads.at(-1)] as [MergedRead, MergedRead];
  return `# One busy namespace

One transaction at a time writes to a namespace. Two ways beyond were measured and not taken: more outcomes per commit than 250 calls, and sub-ledgers that
are merged for each ranking, without total order and exact replay. A namespace that needs more is split by team, product or kind of task.

## Where it loses

- Larger commits end at ${whole(limitOf(best))} outcomes per second by processor time, with ${whole(best.waiting)} waiting. The fold alone ends at ${whole(limitOf(fold))}.
- ${most} sub-ledgers lose ${loss("mean")} of held-out success where a ranking takes the mean of all, ${loss("sum")} with the sum, and ${loss("alone")} where each ranks by its own.
- A ranking from ${most} sub-ledgers costs the server ${plain(widest.server / read.server, 1)} times the CPU.

## More outcomes per commit

*Waiting* outcomes of ranked runs are recorded at once, in one commit. *At most*: by the CPU of application and server, which take turns under the
lock. A busy machine measures less.

${batchTable(report)}

## Sub-ledgers

CPU of a ranking that reads ${BUSY.read} states from every sub-ledger, none cached; and held-out success where runs teach the sub-ledgers in turn, less that of one
ledger, over ${plan.sets.length} sets × ${plan.seeds.length} seeds of ${whole(plan.runs)} simulated runs. *Mean*: of Gaussians, weighted by precision. *Sum*: of what each has added to the prior.

${ledgersTable(report)}

- PostgreSQL without autovacuum on the same machine, the default learner, ${BUSY.memories} memories, requests of ${BUSY.dims} values, ${BUSY.candidates} candidates, ${BUSY.shown} shown; the
  middle of ${plan.rounds} rounds of ${whole(plan.outcomes)} outcomes.
- Worlds: ${plan.sets.join(", ")} of [learning](learning.md#how), seeds ${plan.seeds[0]} to ${plan.seeds.at(-1)}.

${originLine("busy", report)}
`;
}
