import { type Machine, machine, machineText } from "../report/machine.js";
import { measurementTable, missedLine, resultTable } from "../report/speed-tables.js";
import type { Measurement } from "./measure.js";
import type { SpeedResult } from "./targets.js";
import { INDEX } from "./vector-index.js";
import { FETCHED, SHOWN, TAUGHT } from "./warm-engine.js";

/** Everything that a reader needs to repeat or doubt the numbers. */
export interface SpeedReport {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly results: readonly SpeedResult[];
  readonly measurements: readonly Measurement[];
}

export function speedReport(
  measurements: readonly Measurement[],
  results: readonly SpeedResult[],
  versions: Readonly<Record<string, string>>,
  command = "pnpm bench:speed",
): SpeedReport {
  return {
    command,
    date: new Date().toISOString().slice(0, 10),
    hardware: machine(),
    versions,
    results,
    measurements,
  };
}

/** The report as a Markdown page; what misses its target comes first. */
export function reportPage(report: SpeedReport): string {
  const { hardware, results, measurements, versions } = report;
  return `# Speed

${missedLine(results)}
Ratios compare medians measured side by side in one process: every turn runs all parts of one engine and the host in random order, each on a query of its
own. Absolute times belong to the machine; trust the ratios.

${resultTable(results)}

${measurementTable(measurements)}

## How

- Command: \`${report.command}\`. Raw results: [speed.json](speed.json).
- Host: hnswlib-node, ${INDEX.count.toLocaleString("en")} vectors of ${INDEX.dims} floats (48 latent directions, 31 clusters, noise; seed ${INDEX.seed}), cosine,
  M ${INDEX.m}, efConstruction ${INDEX.efConstruction}, ef ${INDEX.ef}, ${INDEX.queries} queries that are not in the index. The host's part is the native search alone, without document look-up.
- Ranking: the whole of \`engine.rank\`: ${FETCHED} candidates, ${SHOWN} shown, learner \`oar@1\`, every candidate with evidence (checked), the host's vector of ${INDEX.dims} floats
  quantised per request, states that others' outcomes have changed since read again, an episode recorded per ranking unless it says otherwise.
  Look-up and scores alone are what no reranker can do without: states found by id in a \`Map\`, \`learner.score\` on them.
- Outcome: \`engine.report\` on an episode with one exposure of ${FETCHED} recorded candidates and ${TAUGHT} shown: look-up, encoding, idempotency,
  reduction and state, in memory. With the exposure: \`engine.end\` of an episode that is not recorded yet, and what
  that changed read ahead for the next ranking, which happens once after a ranking and is no part of the first row.
- Machine: ${machineText(hardware, versions)}; ${report.date}.
`;
}
