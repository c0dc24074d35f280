import { markdownTable, plain, rounded, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { ENSEMBLE, HYBRID, RETURNED, SCAN, WORDS } from "./contenders.js";
import { DIMS } from "./corpus.js";
import type { Probed } from "./probe.js";

/** One search on one number of texts. */
export interface SizeResult extends Omit<Probed, "ready"> {
  readonly name: string;
  readonly size: number;
  /** Time to add all texts, ms. */
  readonly fill: number;
  /** Time from opening to the first answer, ms. */
  readonly open: number;
}

export interface LocalResults {
  readonly measured: readonly SizeResult[];
}

/** Number of texts that targets are stated for. */
const STATED = 10_000;
/** Time of a call to a hosted embedding model, ms: a scan that takes longer dominates a search. */
const MODEL_CALL = 20;

/** A demand, and the value that met or missed it. */
interface Target {
  readonly what: string;
  readonly value: string;
  readonly demanded: string;
  readonly isMet: boolean;
}

function targetsOf({ measured }: LocalResults): Target[] {
  const at = (name: string): SizeResult | undefined => measured.find((one) => one.name === name && one.size === STATED);
  const [hybrid, ensemble, words] = [at(HYBRID), at(ENSEMBLE), at(WORDS)];
  const targets: Target[] = [];
  if (hybrid && ensemble) {
    const ratio = ensemble.p50 / hybrid.p50;
    targets.push({
      what: `${ENSEMBLE} ÷ ${HYBRID}, ${whole(STATED)} texts, time of a search`,
      value: rounded(ratio),
      demanded: "≥ 20",
      isMet: ratio >= 20,
    });
  }
  if (words) {
    targets.push({
      what: `adding ${whole(STATED)} texts without vectors`,
      value: `${rounded(words.fill / 1000)} s`,
      demanded: "≤ 1 s",
      isMet: words.fill <= 1000,
    });
  }
  return targets;
}

export function localSummary(results: LocalResults): string {
  const targets = targetsOf(results).map(
    ({ what, value, demanded, isMet }) => `${what}: ${value} (${isMet ? "within" : "MISSED"} ${demanded})`,
  );
  return [sizeTable(results.measured), ...targets].join("\n\n");
}

/** Each search at the stated number of texts and more; all but the time of a search at the largest. */
function sizeTable(measured: readonly SizeResult[]): string {
  const sizes = [...new Set(measured.map(({ size }) => size))].filter((size) => size >= STATED);
  return markdownTable(
    ["search", ...sizes.map((size) => `${whole(size)}: ms`), `hit@${RETURNED}`, "add all, s", "open, ms", "memory, MB"],
    [...Map.groupBy(measured, ({ name }) => name)].map(([name, own]) => {
      const { hits, fill, open, memory } = own.at(-1) as SizeResult;
      return [
        name,
        ...sizes.map((size) => rounded((own.find((one) => one.size === size) as SizeResult).p50)),
        plain(hits),
        rounded(fill / 1000),
        whole(open),
        whole(memory / 1e6),
      ];
    }),
  );
}

/** The number of texts at which a scan takes as long as a model call, from the largest size, since a scan's time grows with the number of texts. */
function whenAnIndexPays(measured: readonly SizeResult[]): string {
  const scan = measured.filter(({ name }) => name === SCAN).at(-1);
  if (!scan) return "";
  const texts = Math.round(((MODEL_CALL / scan.p50) * scan.size) / 1_000) * 1_000;
  return `A scan takes as long as a call to a hosted embedding model (${MODEL_CALL} ms) from about **${whole(texts)} texts** on. There an HNSW index begins to pay.`;
}

/** The report as a Markdown page; what misses its aim comes first. */
export function reportPage(report: Report<LocalResults>): string {
  const { measured } = report;
  const targets = targetsOf(report);
  const missed = targets.filter(({ isMet }) => !isMet);
  const rows = [...missed, ...targets.filter(({ isMet }) => isMet)];
  return `# Own memories beside other searches

${missed.length === 0 ? "Every target is met in this run." : `**Missed in this run: ${missed.map(({ what }) => what).join("; ")}.**`} The gain from learning: [learning](learning.md#own-memories).

${rows.map(({ what, value, demanded }) => `- ${what}: ${value} (${demanded})`).join("\n")}

## Searches

Processor time of a search that returns ${RETURNED} texts, by number of texts; the rest with the most. *hit@${RETURNED}*: share of requests with a text of their need among
them. *Open*: from a new process to the first answer; what keeps no file is filled again.

${sizeTable(measured)}

${whenAnIndexPays(measured)}

- Texts: 10,000 questions of banking77; beyond that, of clinc150 and hwu64 and pairs of them. Requests: 100 other questions. Embedding: LSA with ${DIMS}
  numbers, fitted on 3,000 of the texts; a request's vector is known before its clock starts.
- Each search runs in a process of its own. *Vectors alone*: requests have no word of the texts.
- \`HNSWLib\` of LangChain: m 16, efConstruction 200, ef 64. The others by default.

${originLine("local", report)}
`;
}
