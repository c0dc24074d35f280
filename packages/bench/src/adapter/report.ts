import { machineText, markdownTable, rounded } from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
import { measurementTable, missedLine, misses, resultTable } from "../report/speed-tables.js";
import type { Measurement } from "../speed/measure.js";
import type { SpeedResult } from "../speed/targets.js";
import { CONTENDERS, FILTERED, RETURNED } from "./contenders.js";
import { DOCUMENTS } from "./document-index.js";
import { type AdapterResults, adapterTargets, costOf, type Setting, stretchOf } from "./targets.js";

/** The report as a Markdown page; what misses its aim comes first. */
export function adapterPage(report: Report<AdapterResults>): string {
  const { command, settings, handler, hardware, versions, date } = report;
  const targets = adapterTargets(report);
  const [instant, delayed] = settings as [Setting, Setting];
  const others = targets.filter(({ what }) => !what.includes("÷ plain"));
  return `# The LangChain adapter's overhead

${missedLine(targets)}

Each run retrieves ${RETURNED} documents and ends at once. *To the documents* is the time until the retriever answers; *whole run* the time
until \`invoke\` returns. Multiples of the plain retriever with 95 % intervals; the aim in brackets.

## Model calls that answer at once

${contenderTable(instant)}

## Model calls of ${delayed.delay} ms

${contenderTable(delayed)}

## Beside others

${resultTable(others)}

${measurementTable(handler)}

## How

- Command: \`${command}\`. Raw results: [adapter.json](adapter.json).
- All retrievers run side by side in one process: every turn runs each once in random order, each on its own query. Medians; intervals
  over rounds.
- Store: LangChain's HNSWLib, ${DOCUMENTS.count.toLocaleString("en")} documents, vectors of ${DOCUMENTS.dims} floats, ef ${DOCUMENTS.ef}. A model call is a look-up and the
  delay: one for a query, one for the ${FILTERED} documents that the filter compares, one for the three queries that the chat model writes.
  Without delay the filter's embeddings cost nothing, so no aim compares with it there.
- qavr: \`memory.retriever(store, { k: ${RETURNED} })\` in a tracked run, all else by default but \`evaluate\`. *Learned*: every candidate has evidence
  (checked), and every run teaches. *Nothing learned*: runs end without a verdict. *Recorded* is the time until the outcome is in
  the ledger, which with the default store is on the disk: a run need not wait for it.
- A silent handler receives the same calls as the outcome handler and does nothing: the cost that LangChain itself has for any handler, such
  as a tracer.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}

/** All retrievers in one setting, as a Markdown table with aims. */
export function contenderTable(setting: Setting): string {
  const ms = ({ median }: Measurement): string => rounded(median / 1000);
  const rows = Object.values(CONTENDERS).map((name) => {
    const recorded = setting.measurements.find((one) => one.name === name) as Measurement;
    return [
      name,
      ms(stretchOf(setting, name, "documents")),
      multiple(costOf(setting, name, "documents")),
      ms(stretchOf(setting, name, "run")),
      multiple(costOf(setting, name, "run")),
      name.startsWith("qavr") ? ms(recorded) : "",
    ];
  });
  return markdownTable(
    ["retriever", "to the documents, ms", "÷ plain", "whole run, ms", "÷ plain", "recorded, ms"],
    rows,
  );
}

/** `1.31 ±0.02 (≤ 1.5)`, in bold if it misses its aim. */
function multiple(result: SpeedResult): string {
  const { value, target } = result;
  const text = `${value.mean.toFixed(2)} ±${value.margin.toFixed(2)}`;
  if (target === undefined) return text;
  return misses(result) ? `**${text}** (≤ ${target})` : `${text} (≤ ${target})`;
}
