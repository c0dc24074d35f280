import { machineText } from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
import { measurementTable, missedLine, resultTable } from "../report/speed-tables.js";
import type { Measurement } from "./measure.js";
import type { SpeedResult } from "./targets.js";
import { INDEX } from "./vector-index.js";
import { FETCHED, SHOWN, TAUGHT } from "./warm-engine.js";

export interface SpeedResults {
  readonly results: readonly SpeedResult[];
  readonly measurements: readonly Measurement[];
}

/** The report as a Markdown page; what misses its target comes first. */
export function reportPage(report: Report<SpeedResults>): string {
  const { hardware, results, measurements, versions } = report;
  return `# Speed

${missedLine(results)}
Ratios of medians, measured side by side in one process: every turn runs all parts in random order, each on its own query. Trust the
ratios; times belong to the machine.

${resultTable(results)}

${measurementTable(measurements)}

## How

- Command: \`${report.command}\`. Raw results: [speed.json](speed.json).
- Host: hnswlib-node, ${INDEX.count.toLocaleString("en")} vectors of ${INDEX.dims} floats (48 latent directions, 31 clusters, noise; seed ${INDEX.seed}), cosine, M ${INDEX.m},
  efConstruction ${INDEX.efConstruction}, ef ${INDEX.ef}, ${INDEX.queries} queries outside the index; the native search alone.
- Ranking: the whole of \`engine.rank\` with \`oar@2\`: ${FETCHED} candidates, each with evidence, ${SHOWN} shown, the vector quantised, changed states read again, an
  episode recorded.
- Outcome: \`engine.report\` on a recorded episode of ${FETCHED} candidates, ${TAUGHT} shown, in memory. With the exposure: \`engine.end\` of an unrecorded
  episode, and the read-ahead for the next ranking.
- Machine: ${machineText(hardware, versions)}; ${report.date}.
`;
}
