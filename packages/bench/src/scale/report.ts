import { markdownTable, plain, rounded, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import type { ScaleResults } from "./measure.js";
import { type Compared, cachedShare, compare, isWithin, ratioOf, TOLERANCE } from "./model.js";
import { SETTINGS } from "./plant.js";
import { TENANT } from "./tenants.js";

export function comparedTable(compared: readonly Compared[]): string {
  return markdownTable(
    ["", "predicted", "measured", "ratio"],
    compared.map((one) => {
      const ratio = plain(ratioOf(one), 2);
      return [
        one.unit === "" ? one.what : `${one.what}, ${one.unit}`,
        rounded(one.predicted),
        rounded(one.measured),
        isWithin(one) ? ratio : `**${ratio}**`,
      ];
    }),
  );
}

function constantsTable({ disk, costs, together }: ScaleResults): string {
  const { small } = disk;
  return markdownTable(
    ["per", "disk bytes", "log bytes", "server µs", "application µs", "round trips"],
    [
      ["namespace", whole(small.namespace)],
      ["memory", whole(small.memory)],
      ...(
        [
          ["outcome, warm", costs.warm],
          ["outcome, cold", costs.cold],
          ["outcome, 50 callers of one tenant", together.small],
        ] as const
      ).map(([name, cost]) => [
        name,
        whole(small.run),
        whole(cost.log),
        whole(cost.server),
        whole(cost.app),
        rounded(cost.roundTrips),
      ]),
    ],
  );
}

/** Predictions outside the tolerance, furthest first. */
export function missedLines(compared: readonly Compared[]): readonly string[] {
  const off = (one: Compared): number => Math.abs(Math.log(ratioOf(one)));
  return compared
    .filter((one) => !isWithin(one))
    .toSorted((a, b) => off(b) - off(a))
    .map((one) => `${one.what}: ${plain(ratioOf(one), 2)} of what was predicted.${reasonFor(one)}`);
}

/** A known reason why the model misses predictions of this kind. */
function reasonFor({ what }: Compared): string {
  if (what.startsWith("disk: growth")) return " Changed rows leave their old copies until a vacuum.";
  if (what.startsWith("log")) return " The first change of a page after a checkpoint logs the whole page.";
  return /^(reading|outcomes)/.test(what) ? " A time by the clock on a shared machine." : "";
}

export function reportPage(report: Report<ScaleResults>): string {
  const { hardware, plan } = report;
  const compared = compare(report);
  const missed = missedLines(compared);
  return `# Scale

One PostgreSQL server with ${whole(plan.sizes.at(-1) ?? 0)} tenants beside one with ${whole(plan.calibrated)}, which predicts it: a tenant, a memory and a run cost both the same. A whole
deployment: [scale](../explanation/scale.md).

## Where it misses

Of ${compared.length} predictions ${compared.length - missed.length} are within ${TOLERANCE * 100} %: disk, log, round trips, CPU, reads, outcomes per second from 1 to 16 clients. An outcome costs
\`c · warm + (1 − c) · cold\`, with the measured share \`c\` = ${plain(cachedShare(report), 2)} of states found in the process.

${missed.map((line) => `- ${line}`).join("\n") || "None misses."}

## Costs on the small server

*Outcome*: one run, a ranking of ${TENANT.memories} candidates with ${TENANT.shown} shown and its end in one commit; the default learner, requests of ${TENANT.dims} values. *Warm*: the process
has the tenant's states; *cold*: it has not. *Disk* includes indexes; *log* is the WAL; µs are CPU.

${constantsTable(report)}

## How

- The first eight tenants live through ${TENANT.history} runs; the others get copies, whose digests the store verifies.
- Traffic: ${whole(plan.outcomes)} outcomes from ${plan.clients} clients of a new process, after a checkpoint, tenants by Zipf's law with exponent 1. Rates: the middle of ${plan.rounds} rounds of
  ${plan.duration / 1_000} s.
- Both servers are measured in turn and share ${hardware.cores} cores with the clients.
- Settings: ${Object.entries(SETTINGS)
    .map(([name, value]) => `\`${name} = ${value}\``)
    .join(", ")}; defaults otherwise.

${originLine("scale", report)}
`;
}
