import { machineText } from "../report/machine.js";
import { measurementTable, missedLine, resultTable } from "../report/speed-tables.js";
import type { SpeedReport } from "../speed/report.js";
import { INDEX } from "../speed/vector-index.js";
import { FETCHED, RETURNED } from "./warm-memory.js";

/** The report as a Markdown page; what misses its target comes first. */
export function adapterPage({ command, results, measurements, hardware, versions, date }: SpeedReport): string {
  return `# The LangChain adapter's overhead

${missedLine(results)}
Ratios and differences compare medians measured side by side in one process: every turn runs all parts in random order, each on a query of its own.
Absolute times belong to the machine; trust the ratios.

${resultTable(results)}

${measurementTable(measurements)}

## How

- Command: \`${command}\`. Raw results: [adapter.json](adapter.json).
- Store: LangChain's HNSWLib, ${INDEX.count.toLocaleString("en")} documents, vectors of ${INDEX.dims} floats, ef ${INDEX.ef}; the query's vector is looked up, so that
  no embedding hides the overhead. With a model's embedding of some milliseconds the ratios are close to 1.
- QavrRetriever: ${RETURNED} of ${FETCHED} candidates, learner \`oar@1\`, every candidate with evidence (checked), in the memory store.
- A silent handler hears what the outcome handler hears and does nothing: the difference is the outcome handler's own work, the rest is what LangChain
  asks for any handler.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}
