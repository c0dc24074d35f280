import { readFileSync } from "node:fs";
import { markdownTable, plain, rounded, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { isWithin, TOLERANCE } from "../scale/model.js";
import { missedLines } from "../scale/report.js";
import { SHARDS, WAYS } from "./fleet.js";
import { type ClusterResults, MANY } from "./measure.js";
import { carriedBy, compare, DEPLOYMENT, type Published, WAY_NAMES } from "./model.js";

/** CPU per outcome and messages per commit, beside a plain server. */
export function waysTable({ small, messages }: ClusterResults): string {
  const cpu = (way: (typeof WAYS)[number], of: "warm" | "cold" | "together"): string => {
    const { servers } = small[way][of];
    return `${whole(servers)} (${plain(servers / small.plain[of].servers, 2)})`;
  };
  return markdownTable(
    ["calls go to", "warm µs", "cold µs", `${MANY} callers µs`, "messages", "with the lock"],
    WAYS.map((way) => {
      const { alone, locked } = way === "plain" || way === "routed" ? { alone: 0, locked: 0 } : messages[way];
      return [
        WAY_NAMES[way],
        cpu(way, "warm"),
        cpu(way, "cold"),
        cpu(way, "together"),
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

/** Sizes of deployments to calculate, in servers. */
const SIZES = [8, 30] as const;

/** Outcomes per second by each limit; disk and log are those of plain servers on every way. */
function deploymentTable(results: ClusterResults): string {
  const costs = published();
  const row = (name: string, way: (typeof WAYS)[number], limit: "disk" | "cpu" | "log"): string[] => [
    name,
    ...SIZES.map((servers) => {
      const carried = carriedBy(results, costs, way, servers)[limit];
      return carried < DEPLOYMENT.outcomes ? `**${whole(carried)}**` : whole(carried);
    }),
  ];
  return markdownTable(
    ["limit", ...SIZES.map((servers) => `${servers} servers`)],
    [
      row("disk", "routed", "disk"),
      row("log", "routed", "log"),
      ...(["routed", "own", "turn", "coordinator"] as const).map((way) =>
        row(`processor, ${way === "routed" ? "plain servers" : WAY_NAMES[way]}`, way, "cpu"),
      ),
    ],
  );
}

export function reportPage(report: Report<ClusterResults>): string {
  const { hardware, plan, small, keyBytes } = report;
  const compared = compare(report);
  const missed = missedLines(compared);
  const more = (way: "own" | "coordinator"): string => plain(small[way].warm.servers / small.plain.warm.servers, 1);
  return `# Cluster

One plain PostgreSQL server, two behind a [routed store](../how-to/tenants.md#spread-them-over-several-stores), and [Citus clusters](../how-to/citus.md) of ${plan.fewWorkers} and
${plan.workers} workers.

## Where it loses

- A cluster costs ${more("own")} to ${more("coordinator")} times the CPU per outcome of a plain server: it buys size, not speed. Several plain servers cost ${plain(small.routed.warm.servers / small.plain.warm.servers, 2)} times.
${[
  `- Of ${compared.length} predictions from ${whole(plan.calibrated)} tenants and ${plan.fewWorkers} workers for ${whole(plan.tenants)} and ${plan.workers}, ${compared.filter(isWithin).length} are within ${TOLERANCE * 100} %.`,
  ...missed.map((line) => `  - ${line}`),
].join("\n")}

## CPU and messages

CPU of all servers per [outcome](scale.md#costs-on-the-small-server), in brackets ÷ one plain server; messages between nodes per commit. ${MANY} callers of one
tenant share commits. *With the lock*: a process's first commit to a namespace, and all where several write. A URL of all nodes leads to the worker that
has the namespace.

${waysTable(report)}

## A large deployment

Calculated, never run: outcomes per second, from [costs of a plain server](scale.md#costs-on-the-small-server) times the ratios above, nothing cached. ${whole(DEPLOYMENT.tenants)} tenants,
a billion memories, runs kept whole for ${DEPLOYMENT.wholeDays} days and as keys of ${whole(keyBytes)} bytes for the rest of a year. A server has 16 cores, 16 TB and 200 MB/s of log,
of which 50, 70 and 100 % may be in use. Bold: less than ${whole(DEPLOYMENT.outcomes)}.

${deploymentTable(report)}

## How

- Tenants and traffic of [scale](scale.md#how), on ${report.servers} with ${SHARDS} shards or 16 partitions, turned over from plain tables.
- ${plan.parts} parts, each with all ways in turn in a new process; ${plan.clients} clients, ${whole(plan.outcomes)} outcomes. All nodes share ${hardware.cores} cores: more workers cannot show as speed.

${originLine("cluster", report)}
`;
}
