import type { Report } from "../report/benchmark.js";
import { machineText } from "../report/machine.js";
import { measurementTable, missedLine, resultTable } from "../report/speed-tables.js";
import type { SpeedResults } from "../speed/report.js";
import { INDEX } from "../speed/vector-index.js";
import { FETCHED, RETURNED } from "./warm-memory.js";

/** The report as a Markdown page; what misses its target comes first. */
export function adapterPage({
  command,
  results,
  measurements,
  hardware,
  versions,
  date,
}: Report<SpeedResults>): string {
  return `# The LangChain adapter's overhead

${missedLine(results)}
Ratios and differences of medians, measured side by side in one process: every turn runs all parts in random order, each on its own query.

${resultTable(results)}

${measurementTable(measurements)}

## How

- Command: \`${command}\`. Raw results: [adapter.json](adapter.json).
- Store: LangChain's HNSWLib, ${INDEX.count.toLocaleString("en")} documents, vectors of ${INDEX.dims} floats, ef ${INDEX.ef}; the query's vector is looked up.
  With a model's embedding of some milliseconds the ratios are close to 1.
- QavrRetriever: ${RETURNED} of ${FETCHED} candidates, learner \`oar@1\`, every candidate with evidence (checked), in the memory store.
- A silent handler receives the same calls and does nothing: the difference to it is the outcome handler's own work.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}
