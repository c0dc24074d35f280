import { originLine, type Report } from "../report/benchmark.js";
import { missedLine, resultTable } from "../report/speed-tables.js";
import type { Measurement } from "./measure.js";
import { PARTS, type SpeedResult } from "./targets.js";
import { INDEX } from "./vector-index.js";
import { FETCHED, SHOWN, TAUGHT } from "./warm-engine.js";

export interface SpeedResults {
  readonly results: readonly SpeedResult[];
  readonly measurements: readonly Measurement[];
}

/** The report as a Markdown page; what misses its target comes first. */
export function reportPage(report: Report<SpeedResults>): string {
  const { results, measurements } = report;
  const median = (name: string): string =>
    (measurements.find((one) => one.name === name) as Measurement).median.toFixed(1);
  const { scoring, memory, sqlite } = PARTS;
  return `# Speed

${missedLine(results)}
Ratios of medians: every turn runs all parts in random order, each on its own query. Times belong to the machine.

${resultTable(results)}

Medians in µs: query with k = 10 ${median(memory.plain)}, scoring ${median(scoring.score)}, fetch 50 + rank ${median(memory.rank)}, on SQLite ${median(sqlite.rank)}, outcome on SQLite, flushed to disk, ${median(sqlite.outcome)}.

- Host: hnswlib-node, ${INDEX.count.toLocaleString("en")} vectors of ${INDEX.dims} floats (48 latent directions, 31 clusters, noise; seed ${INDEX.seed}), cosine, M ${INDEX.m},
  efConstruction ${INDEX.efConstruction}, ef ${INDEX.ef}, ${INDEX.queries} queries outside the index; the native search alone.
- Ranking: \`engine.rank\` with \`oar@2\`: ${FETCHED} candidates with evidence, ${SHOWN} shown, changed states read again, an episode recorded.
- Outcome: \`engine.report\` on a recorded episode of ${FETCHED} candidates, ${TAUGHT} shown, in memory. With the exposure: \`engine.end\` of an unrecorded
  one, and the read-ahead for the next ranking.

${originLine("speed", report)}
`;
}
