import { markdownTable, median, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { type Batch, BUSY, type BusyResults } from "./measure.js";

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

export function reportPage(report: Report<BusyResults>): string {
  const { plan, batches } = report;
  const [fold, best] = (["in memory", "PostgreSQL"] as const).map((name) =>
    batches.filter(({ store }) => store === name).reduce((one, other) => (limitOf(other) > limitOf(one) ? other : one)),
  ) as [Batch, Batch];
  return `# One busy namespace

One transaction at a time writes to a namespace. Two ways beyond were measured and not taken: commits of more than 250 calls, and
[sub-ledgers](../decisions/2026-11-27-no-sub-ledgers.md). A namespace that needs more is split by team, product or kind of task.

## Where it loses

- Larger commits end at ${whole(limitOf(best))} outcomes per second by processor time, with ${whole(best.waiting)} waiting. The fold alone ends at ${whole(limitOf(fold))}.

## More outcomes per commit

*Waiting* outcomes of ranked runs are recorded at once, in one commit. *At most*: by the CPU of application and server, which take turns under the
lock. A busy machine measures less.

${batchTable(report)}

PostgreSQL without autovacuum on the same machine, the default learner, ${BUSY.memories} memories, requests of ${BUSY.dims} values, ${BUSY.candidates} candidates, ${BUSY.shown} shown; the
middle of ${plan.rounds} rounds of ${whole(plan.outcomes)} outcomes.

${originLine("busy", report)}
`;
}
