import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { installedVersions, loadCorpus, type Progress } from "@qavr/bench";
import { FETCHED } from "./arms.js";
import { explanation } from "./explanation.js";
import type { DemoOptions } from "./options.js";
import { successPlot } from "./plot.js";
import { runSeed, type SeedResult, tableRows } from "./run-seed.js";
import { createStyle, type Style } from "./style.js";
import { gainRatio, type SummaryRow, summarize } from "./summary.js";
import { LEGEND, summaryHead, summaryRow, tableHead, tableRow } from "./table.js";

/** Output of the demo. */
export interface DemoPlace {
  /** Emptied at the start; holds the ledgers and the plot afterwards. */
  readonly folder: string;
  /** Receives the result. */
  readonly print: (text: string) => void;
  /** Shows how far a longer piece of work is. */
  readonly progress: (label: string) => Progress;
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
  { folder, print, progress: startProgress }: DemoPlace,
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

  if (seeds === 1) say(tableHead(style));
  const results: SeedResult[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const progress = startProgress(seeds === 1 ? "running" : `seed ${seed} of ${seeds}`);
    results.push(
      await runSeed({
        corpus,
        seed,
        runs,
        folder,
        onProgress: (share) => progress.update(share),
        onRow: (row) => {
          if (seeds > 1) return;
          progress.clear();
          say(tableRow(row, style));
        },
      }),
    );
    progress.clear();
  }
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
  const plot = join(folder, "success.svg");
  for (const path of [plot, ...(options.plot === undefined ? [] : [options.plot])]) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, successPlot(summary, seeds));
  }
  const result: DemoResult = { version: 1, seeds, runs, summary, gainRatio: gainRatio(last), results, plot };
  if (json) print(JSON.stringify(result, undefined, 2));
  else say(closing(result, last, style, options.plot));
  return result;
}

/** Installed versions of the parts of this run. */
function versions(): string {
  const { node, SQLite, ...packages } = installedVersions("@langchain/core", "@langchain/classic");
  const named = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  return [`Node ${node}`, `SQLite ${SQLite}`, ...named].join(", ");
}

function introduction({ seeds, runs }: DemoOptions, style: Style): string {
  return `${style.bold("qavr demo")}: does an agent pick better memories, learning from nothing but how its runs end?

A LangChain chain answers ${runs.toLocaleString("en")} real bank questions (banking77). Each prompt carries 5 of 308 lessons from a
vector store. Half of them help, a fifth does nothing, three in ten mislead; their texts do not say which.
The same chain on the same questions, three ways:

  similarity  the store's own retriever
  QAVR        one learned value per memory, 0.7 · similarity + 0.3 · q, with the stronger of its reward schemes
  qavr        this project's default learner, choosing from ${FETCHED} candidates

${style.dim("Texts are real, outcomes are simulated: a fake chat model reads the prompt and is right with a probability")}
${style.dim("that depends on the lessons in it. A checker that knows the right label, but not the lessons, says right or wrong.")}
${style.dim(`Parts: ${versions()}.`)}

${LEGEND}${seeds === 1 ? "" : `\n\nMeans of ${seeds} seeds ±95 % interval; below similarity, the gain over it, paired by seed.`}
`;
}

function closing(result: DemoResult, last: SummaryRow, style: Style, copy: string | undefined): string {
  const [first] = result.results as readonly [SeedResult, ...SeedResult[]];
  const gain = (name: string): string => {
    const interval = last.arms.find((arm) => arm.name === name)?.gains?.success;
    if (!interval) return "";
    const { mean, margin } = interval;
    return `${mean >= 0 ? "+" : ""}${mean.toFixed(3)}${margin > 0 ? ` ±${margin.toFixed(3)}` : ""}`;
  };
  const ratio = result.gainRatio === undefined ? "" : `: ${result.gainRatio.toFixed(1)} times the formula's gain`;
  const ledger = first.ledgers.at(-1) as string;
  const plots = copy === undefined ? result.plot : `${result.plot} and ${copy}`;
  return `
Held-out success over similarity after ${last.runs.toLocaleString("en")} runs: qavr ${style.strong(gain("qavr"))}, QAVR ${gain("QAVR")}${ratio}

${explanation(first.example, style)}

Ledger  ${ledger} (SQLite): every retrieval and outcome
Plot    ${plots}

Next: pnpm demo --seeds 8 for means with intervals; packages/langchain/README.md to put this around your own store.`;
}
