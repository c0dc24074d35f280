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

**${targets.filter(misses).length} of ${targets.length} aims are missed**, in bold. A tracked run of a learned memory with the default store takes ${run(instant)} times as long as with the plain
retriever, and ${run(delayed)} times with a model call of ${delayed.delay} ms.

## Beside the plain retriever

Each run retrieves ${RETURNED} documents and ends at once. *Documents*: until the retriever answers; *run*: until \`invoke\` returns; *recorded*: until the
outcome is in the ledger, which a run need not wait for. Multiples of the plain retriever with 95 % intervals; aims in brackets.

${contenderTable(settings)}

## Beside others

Whole runs of \`${CONTENDERS.learnedSqlite}\` as a share of retrievers that ask models or read all documents (aim: ≤ 1).

${othersTable(settings)}

The outcome handler beside one that does nothing, in runs that retrieve nothing:

${handlerTable(handler)}

- Every turn runs each retriever once in random order, each on its own query. Medians; intervals over rounds.
- Store: LangChain's HNSWLib, ${DOCUMENTS.count.toLocaleString("en")} documents, vectors of ${DOCUMENTS.dims} floats, ef ${DOCUMENTS.ef}. A model call is a look-up and the delay: one for a query, one
  for the ${FILTERED} documents that the filter compares, one for the chat model's three queries.
- *Learned*: every candidate has evidence, and every run teaches. *Nothing learned*: runs end without a verdict.
- The handler that does nothing shows LangChain's own cost of any handler, such as a tracer.

${originLine("adapter", report)}
`;
}

/** All retrievers in all settings, as a Markdown table with aims. */
export function contenderTable(settings: readonly Setting[]): string {
  const ms = ({ median }: Measurement): string => rounded(median / 1000);
  const head = settings.flatMap(({ delay }) =>
    delay === 0 ? ["documents", "run"] : [`documents, ${delay} ms`, "run"],
  );
  const rows = Object.values(CONTENDERS).map((name) => {
    const [{ measurements }] = settings as readonly [Setting];
    const recorded = measurements.find((one) => one.name === name) as Measurement;
    return [
      name,
      ...settings.flatMap((setting) =>
        (["documents", "run"] as const).map((stretch) =>
          name === CONTENDERS.plain
            ? `${ms(stretchOf(setting, name, stretch))} ms`
            : multiple(costOf(setting, name, stretch)),
        ),
      ),
      name.startsWith("qavr") ? ms(recorded) : "",
    ];
  });
  return markdownTable(["retriever", ...head, "recorded, ms"], rows);
}

function othersTable(settings: readonly Setting[]): string {
  return markdownTable(
    ["", ...settings.map(({ delay }) => (delay === 0 ? "no delay" : `${delay} ms per model call`))],
    DEARER.map((name) => [
      name,
      ...settings.map((setting) =>
        dearer(setting, name)
          .map((share) => bold(share, `${share.value.mean.toFixed(3)} ±${share.value.margin.toFixed(3)}`))
          .join(""),
      ),
    ]),
  );
}

function handlerTable(handler: AdapterResults["handler"]): string {
  return markdownTable(
    ["", "nothing, µs", "outcome handler, µs", "difference (≤ 50)"],
    handlerCosts(handler).map(({ silent, tracked, beyond }) => [
      beyond.what.replace(/^.*, /, ""),
      silent.median.toFixed(1),
      tracked.median.toFixed(1),
      bold(beyond, `${beyond.value.mean.toFixed(1)} ±${beyond.value.margin.toFixed(1)}`),
    ]),
  );
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
