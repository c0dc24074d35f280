import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { installedVersions, loadCorpus, type Progress } from "@qavr/lab";
import { ARM_NAMES, FETCHED } from "./arms.js";
import { createCurve } from "./curve.js";
import { explanation } from "./explanation.js";
import type { Frame } from "./frame.js";
import type { DemoOptions } from "./options.js";
import { successPlot } from "./plot.js";
import { type RealOutcomes, realOutcomes } from "./real-outcomes.js";
import { runSeed, type SeedResult, tableRows } from "./run-seed.js";
import { createStyle, type Style } from "./style.js";
import { gainRatio, type SummaryRow, summarize } from "./summary.js";
import { LEGEND, summaryHead, summaryRow, tableHead, tableRow } from "./table.js";

/** Share of the runs of one seed that are held out. */
const HELD_OUT = 0.1;

/** Output of the demo. */
export interface DemoPlace {
  /** Emptied at the start; holds the ledgers and the plot afterwards. */
  readonly folder: string;
  /** Receives the result. */
  readonly print: (text: string) => void;
  /** Shows how far a longer piece of work is. */
  readonly progress: (label: string) => Progress;
  /** Draws the curve while it grows; undefined without a terminal. */
  readonly frame?: Frame | undefined;
}

/** What `--json` prints. */
export interface DemoResult {
  readonly version: 1;
  readonly seeds: number;
  readonly runs: number;
  /** Means over the seeds at each checkpoint; an arm's gains are over similarity, paired by seed. */
  readonly summary: readonly SummaryRow[];
  /** Gain in held-out success of qavr over that of the QAVR formula, after the last run. */
  readonly gainRatio: number | undefined;
  readonly results: readonly SeedResult[];
  readonly plot: string;
}

/** Runs the whole demo. */
export async function runDemo(
  options: DemoOptions,
  { folder, print, progress: startProgress, frame }: DemoPlace,
): Promise<DemoResult> {
  const { seeds, runs, json } = options;
  const say = json ? () => {} : print;
  const style = createStyle(options.colour);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  say(introduction(options, style));

  const fitting = startProgress("fitting the offline embedding (kept for the next time)");
  const corpus = await loadCorpus("banking77", { onProgress: (share) => fitting.update(share) });
  fitting.clear();

  const results: SeedResult[] = [];
  const curve = createCurve(ARM_NAMES, runs);
  const live = seeds === 1 && !json ? frame : undefined;
  for (let seed = 1; seed <= seeds; seed++) {
    const progress = startProgress(seeds === 1 ? "running" : `seed ${seed} of ${seeds}`);
    results.push(
      await runSeed({
        corpus,
        seed,
        runs,
        folder,
        // Several seeds measure; one seed shows, and its ledger says for itself what learning is worth.
        holdout: seeds === 1 ? HELD_OUT : undefined,
        onProgress: (share) => {
          if (!live) progress.update(share);
        },
        onAnswers: (right) => {
          if (seeds === 1) curve.add(right);
          live?.draw(() => curve.draw(style));
        },
      }),
    );
    progress.clear();
  }
  live?.clear();
  if (seeds === 1) say(curve.draw(style));
  const summary = summarize(results);
  const last = summary.at(-1) as SummaryRow;
  if (seeds > 1) {
    const rows = new Set(tableRows(runs));
    say(
      [summaryHead(style), ...summary.filter((row) => rows.has(row.runs)).map((row) => summaryRow(row, style))].join(
        "\n",
      ),
    );
  }
  if (seeds === 1) {
    const rows = (results[0] as SeedResult).checkpoints.filter((row) => tableRows(runs).includes(row.runs));
    say(["", LEGEND, "", tableHead(style), ...rows.map((row) => tableRow(row, style))].join("\n"));
  }
  const plot = join(folder, "success.svg");
  for (const path of [plot, ...(options.plot === undefined ? [] : [options.plot])]) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, successPlot(summary, seeds));
  }
  const result: DemoResult = { version: 1, seeds, runs, summary, gainRatio: gainRatio(last), results, plot };
  if (json) print(JSON.stringify(result, undefined, 2));
  else say(closing(result, last, style, { copy: options.plot, real: await realOutcomes() }));
  return result;
}

/** Installed versions of the parts of this run. */
function versions(): string {
  const { node, SQLite, ...packages } = installedVersions(import.meta.url, "@langchain/core", "@langchain/classic");
  const named = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  return [`Node ${node}`, `SQLite ${SQLite}`, ...named].join(", ");
}

function introduction({ seeds, runs }: DemoOptions, style: Style): string {
  return `${style.bold("qavr demo")}: does an agent pick better memories, learning from nothing but how its runs end?

A LangChain chain answers ${runs.toLocaleString("en")} real bank questions (banking77), each with 5 of 308 lessons from a vector store.
Half of them help, three in ten mislead; their texts do not say which. The chain runs three times on the same questions:

  similarity  ranked by the store's own retriever
  QAVR        by one learned value per memory: 0.7 · similarity + 0.3 · q
  qavr        by this project, choosing from ${FETCHED} candidates

${style.dim("Texts are real, outcomes are simulated: a fake chat model is right with a probability that the lessons in its")}
${style.dim("prompt decide. A checker that knows the right label, but not the lessons, says right or wrong.")}
${style.dim(`Parts: ${versions()}.`)}
${seeds === 1 ? "" : `\n${LEGEND}\n\nMeans of ${seeds} seeds ±95 % interval; below similarity, the gain over it, paired by seed.\n`}`;
}

function closing(
  result: DemoResult,
  last: SummaryRow,
  style: Style,
  { copy, real }: { readonly copy: string | undefined; readonly real: RealOutcomes | undefined },
): string {
  const [first] = result.results as readonly [SeedResult, ...SeedResult[]];
  const gain = (name: string): string => {
    const interval = last.arms.find((arm) => arm.name === name)?.gains?.success;
    if (!interval) return "";
    const { mean, margin } = interval;
    return `${mean >= 0 ? "+" : ""}${mean.toFixed(3)}${margin > 0 ? ` ±${margin.toFixed(3)}` : ""}`;
  };
  const ratio = result.gainRatio === undefined ? "" : `: ${result.gainRatio.toFixed(1)} times the formula's gain`;
  const ledger = first.ledgers.at(-1) as string;
  const happened = real
    ? `On outcomes that really happened (five public sets and one of skills, ${real.columns} columns, measured before): held-out
success ${real.similarity.toFixed(3)} with similarity, ${style.strong(real.qavr.toFixed(3))} with qavr. In single columns other learners are ahead: docs/benchmarks/real.md

`
    : "";
  const plots = copy === undefined ? result.plot : `${result.plot} and ${copy}`;
  return `
Held-out success over similarity after ${last.runs.toLocaleString("en")} runs: qavr ${style.strong(gain("qavr"))}, QAVR ${gain("QAVR")}${ratio}

${explanation(first.example, style)}

${happened}Ledger  ${ledger} (SQLite): every retrieval and outcome
Plot    ${plots}

${style.bold("Look at what it learned, in a browser:")}

  ${style.strong(`npx -y pnpm@12 qavr dashboard --store ${ledger}`)}

In the terminal: npx -y pnpm@12 qavr status --store ${ledger}
Around your own store: packages/langchain/README.md. Means with intervals: npx -y pnpm@12 demo --seeds 8`;
}
