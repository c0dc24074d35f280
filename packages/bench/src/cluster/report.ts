import { readFileSync } from "node:fs";
import { machineText, markdownTable, plain, rounded, whole } from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
import { isWithin, TOLERANCE } from "../scale/model.js";
import { comparedTable, missedLines } from "../scale/report.js";
import { TENANT } from "../scale/tenants.js";
import { SHARDS, WAYS } from "./fleet.js";
import { type ClusterResults, FEW, MANY } from "./measure.js";
import { cachedShare, carriedBy, compare, DEPLOYMENT, type Published, WAY_NAMES } from "./model.js";

/** CPU per outcome and messages per commit, beside a plain server. */
export function waysTable({ small, messages }: ClusterResults): string {
  const cpu = (way: (typeof WAYS)[number], of: "warm" | "cold" | "together"): string => {
    const { servers } = small[way][of];
    return `${whole(servers)} (${plain(servers / small.plain[of].servers, 2)})`;
  };
  return markdownTable(
    ["calls go to", "warm µs", "cold µs", `${MANY} callers µs`, "application µs", "messages", "with the lock"],
    WAYS.map((way) => {
      const { alone, locked } = way === "plain" || way === "routed" ? { alone: 0, locked: 0 } : messages[way];
      return [
        WAY_NAMES[way],
        cpu(way, "warm"),
        cpu(way, "cold"),
        cpu(way, "together"),
        whole(small[way].warm.app),
        rounded(alone),
        rounded(locked),
      ];
    }),
  );
}

/** The costs that `bench scale` has published. */
function published(): Published {
  return JSON.parse(
    readFileSync(new URL("../../../../docs/benchmarks/scale.json", import.meta.url), "utf8"),
  ) as Published;
}

function deploymentTable(results: ClusterResults): string {
  const costs = published();
  const ways = ["routed", "own", "turn", "coordinator"] as const;
  return markdownTable(
    ["calls go to", "servers", "by disk", "by processor", "by log", "outcomes/s", "10,000/s"],
    ways.flatMap((way) =>
      [4, 8, 30].map((servers) => {
        const { disk, cpu, log } = carriedBy(results, costs, way, servers);
        const least = Math.min(disk, cpu, log);
        return [
          way === "routed" ? "plain servers" : WAY_NAMES[way],
          String(servers),
          whole(disk),
          whole(cpu),
          whole(log),
          whole(least),
          least >= DEPLOYMENT.outcomes ? "yes" : "no",
        ];
      }),
    ),
  );
}

export function reportPage(report: Report<ClusterResults>): string {
  const { command, date, hardware, versions, plan, small, keyBytes } = report;
  const compared = compare(report);
  const missed = missedLines(compared);
  const more = (way: "own" | "turn" | "coordinator"): string =>
    plain(small[way].warm.servers / small.plain.warm.servers, 1);
  return `# Cluster

One plain PostgreSQL server, two of them behind a [routed store](../how-to/tenants.md#spread-them-over-several-stores), and [Citus clusters](../how-to/citus.md) of ${plan.fewWorkers} and
${plan.workers} workers, by the real engine and store, in one run. Raw results: [cluster.json](cluster.json), by \`${command}\`.

## Where it loses

- A cluster costs more CPU per outcome than a plain server: ${more("own")} times at the worker that has the namespace, ${more("turn")} times at all workers in turn,
  ${more("coordinator")} times by the coordinator. It buys size, not speed. Several plain servers behind a routed store cost ${plain(small.routed.warm.servers / small.plain.warm.servers, 2)} times.
${[
  `- Of ${compared.length} predictions ${compared.filter(isWithin).length} are within ${TOLERANCE * 100} %: neither number is more than ${1 + TOLERANCE} times the other.`,
  ...missed.map((line) => `  - ${line}`),
].join("\n")}

## CPU and messages

CPU of all servers per outcome, and its ratio to one plain server in brackets; messages between nodes per commit.

${waysTable(report)}

- **Outcome**: one run, from a ranking of ${TENANT.memories} candidates with ${TENANT.shown} shown to its end in one commit of two entries; the default learner,
  requests of ${TENANT.dims} values. **Warm**: the process has the tenant's states. **Cold**: it has never met the tenant.
- **${MANY} callers** of one tenant share commits.
- **Messages** of a commit with its read of states that the process does not have. **With the lock**: the first commit of a process to a
  namespace, and each one where several processes write.
- A URL of all nodes leads to the worker that has the namespace.

## Predicted and measured

The small servers have ${whole(plan.calibrated)} tenants and ${plan.fewWorkers} workers, the large ones ${whole(plan.tenants)} tenants and ${plan.workers} workers; CPU is that of all servers per outcome.

${comparedTable(compared)}

An outcome of the traffic costs \`c · warm + (1 − c) · cold\`, with the share \`c\` of states found in the process: ${plain(cachedShare(report), 2)}, measured on the plain server.
In turn, one of the workers has the namespace and the others have not: their cost follows from the small cluster. An outcome of a commit of k costs
\`a + b / k\`, from one and ${MANY} callers; k is measured: ${plain(small.plain.together.perCommit, 1)} and ${plain(small.own.together.perCommit, 1)} with ${MANY} callers of the plain server and of the worker,
${plain(report.large.plain.few.perCommit, 1)} and ${plain(report.large.own.few.perCommit, 1)} with ${FEW}. Log and disk of a cluster are predicted to be those of the plain server.

## A large deployment

Calculated, never run: the [costs of a plain server](scale.md#costs-on-the-small-server) times the ratios above, nothing cached. ${whole(DEPLOYMENT.tenants)} tenants,
a billion memories, runs kept whole for ${DEPLOYMENT.wholeDays} days and then as keys, of ${whole(keyBytes)} bytes each, for the rest of a year. A server has 16 cores, 16 TB and 200 MB/s of
log, of which 50, 70 and 100 % may be in use.

${deploymentTable(report)}

The coordinator itself is the limit where all calls go through it, however many workers there are.

## How

- Tenants are those of [scale](scale.md#how), on ${report.servers} with ${SHARDS} shards or 16 partitions. The tables of a cluster are plain ones that were turned over.
- ${plan.parts} parts, all ways in turn in each, and a new process for each; connections are warm. ${plan.clients} clients. Traffic: ${whole(plan.outcomes)} outcomes by Zipf's law with
  exponent 1, after a checkpoint.
- All nodes share ${hardware.cores} cores, so that more workers cannot show as speed: CPU per outcome is what carries over.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}
