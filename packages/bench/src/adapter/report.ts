import { markdownTable, rounded } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { misses } from "../report/speed-tables.js";
import type { Measurement } from "../speed/measure.js";
import type { SpeedResult } from "../speed/targets.js";
import { CONTENDERS, FILTERED, RETURNED } from "./contenders.js";
import { DOCUMENTS } from "./document-index.js";
import {
  type AdapterResults,
  adapterTargets,
  costOf,
  DEARER,
  dearer,
  handlerCosts,
  type Setting,
  stretchOf,
} from "./targets.js";

/** The report as a Markdown page; what misses its aim comes first. */
export function adapterPage(report: Report<AdapterResults>): string {
  const { settings, handler } = report;
  const targets = adapterTargets(report);
  const [instant, delayed] = settings as [Setting, Setting];
  const run = (setting: Setting): string => costOf(setting, CONTENDERS.learnedSqlite, "run").value.mean.toFixed(2);
  return `# The LangChain adapter's overhead

**${targets.filter(misses).length} of ${targets.length} aims are missed**; those of whole runs are below, in bold. A tracked run of a learned memory with the default store takes ${run(instant)} times as long as with the plain
retriever, and ${run(delayed)} times with an embedding call of ${delayed.delay} ms.

## Beside the plain retriever

Each run retrieves ${RETURNED} documents and ends at once. *Run*: until \`invoke\` returns. *Recorded*: until the outcome is in the ledger, which a run
need not wait for. Multiples of the plain retriever with 95 % intervals; aims in brackets.

${contenderTable(settings)}

Runs of \`${CONTENDERS.learnedSqlite}\` ÷ those of retrievers that ask models or read all documents (aim: ≤ 1): ${othersText(settings)}.

Beside a handler that does nothing, in runs that retrieve nothing, the outcome handler costs (aim: ≤ 50): ${handlerText(handler)}.

- Every turn runs each retriever once in random order, each on its own query. Medians; intervals over rounds.
- Store: LangChain's HNSWLib, ${DOCUMENTS.count.toLocaleString("en")} documents, vectors of ${DOCUMENTS.dims} floats, ef ${DOCUMENTS.ef}. A model call is a look-up and the delay: one for a query, one
  for the ${FILTERED} documents that the filter compares, one for the chat model's three queries.
- *Learned*: every candidate has evidence, and every run teaches. *Nothing learned*: runs end without a verdict. The handler that does nothing shows
  LangChain's own cost of any handler, such as a tracer.

${originLine("adapter", report)}
`;
}

/** All retrievers in all settings, as a Markdown table with aims. */
export function contenderTable(settings: readonly Setting[]): string {
  const ms = ({ median }: Measurement): string => rounded(median / 1000);
  const head = settings.map(({ delay }) => (delay === 0 ? "run" : `run, ${delay} ms`));
  const rows = Object.values(CONTENDERS).map((name) => {
    const [{ measurements }] = settings as readonly [Setting];
    const recorded = measurements.find((one) => one.name === name) as Measurement;
    return [
      name,
      ...settings.map((setting) =>
        name === CONTENDERS.plain
          ? `${ms(stretchOf(setting, name, "run"))} ms`
          : multiple(costOf(setting, name, "run")),
      ),
      name.startsWith("qavr") ? ms(recorded) : "",
    ];
  });
  return markdownTable(["retriever", ...head, "recorded, ms"], rows);
}

/** `MultiQueryRetriever 0.867 ±0.011, with 20 ms 0.519 ±0.001` */
function othersText(settings: readonly Setting[]): string {
  const share = (setting: Setting, name: string): readonly string[] =>
    dearer(setting, name).map((one) => {
      const text = bold(one, `${one.value.mean.toFixed(3)} ±${one.value.margin.toFixed(3)}`);
      return setting.delay === 0 ? text : `with ${setting.delay} ms ${text}`;
    });
  return DEARER.map(
    (name) => `${name.replace(/,.*/, "")} ${settings.flatMap((setting) => share(setting, name)).join(", ")}`,
  ).join("; ");
}

function handlerText(handler: AdapterResults["handler"]): string {
  const parts = handlerCosts(handler).map((cost) => {
    const { mean, margin } = cost.value;
    return `${bold(cost, `${mean.toFixed(1)} ±${margin.toFixed(1)} µs`)} in ${cost.what.replace(/^.*, /, "")}`;
  });
  return parts.join(", ");
}

/** `1.31 ±0.02 (≤ 1.5)`, in bold if it misses its aim. */
function multiple(result: SpeedResult): string {
  const { value, target } = result;
  const text = `${value.mean.toFixed(2)} ±${value.margin.toFixed(2)}`;
  return target === undefined ? text : `${bold(result, text)} (≤ ${target})`;
}

function bold(result: SpeedResult, text: string): string {
  return misses(result) ? `**${text}**` : text;
}
