import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProgress, UsageError } from "@qavr/lab";
import { PUBLISHED_SEEDS } from "../report/published-seeds.js";
import { runJobs } from "../threads/run-jobs.js";
import { type Comparisons, compare } from "./comparison.js";
import { guard } from "./guard.js";
import { HELP, type LearningOptions, parseOptions } from "./options.js";
import { learnOwnMemories, type OwnMemoriesResult } from "./own-memories.js";
import { fullPlan, quickPlan, select, updated } from "./plan.js";
import { learningCurves, scenarioHeatMap } from "./plots.js";
import { prepareSets } from "./prepare-sets.js";
import { FILES, reportPage } from "./report.js";
import { decodeResults, encodeResults, type Job, type JobResult, type Results } from "./results.js";
import { ROWS } from "./rows.js";
import { measureTable } from "./tables.js";

/** Standard output and error of the command. */
export interface CommandStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WriteStream;
}

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

/**
 * The learning benchmark as a command: results on stdout, everything else on stderr.
 *
 * @returns the exit code: 0 done, 1 failed or the guard fell, 2 wrong usage
 */
export async function runCommand(args: readonly string[], streams: CommandStreams): Promise<number> {
  const { stdout, stderr } = streams;
  try {
    const options = parseOptions(args);
    if (options.help) {
      stdout.write(HELP);
      return 0;
    }
    return await MODES[options.mode](options, streams);
  } catch (error) {
    stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

type Mode = (options: LearningOptions, streams: CommandStreams) => Promise<number>;

const MODES: Readonly<Record<LearningOptions["mode"], Mode>> = {
  async full(options, streams) {
    const trials = await run(fullPlan(), streams);
    await write({ trials, ownMemories: await runOwnMemories(streams) }, options.out ?? DOCS, streams);
    return 0;
  },

  async quick(_, streams) {
    const verdicts = guard(compare(await run(quickPlan(), streams)));
    for (const { line } of verdicts) streams.stdout.write(`${line}\n`);
    return verdicts.every(({ good }) => good) ? 0 : 1;
  },

  async part(options, streams) {
    const results = { trials: await run(select(selection(options)), streams), ownMemories: [] };
    streams.stdout.write(`${measureTables(published(encodeResults(results)))}\n`);
    const folder = options.out ?? DOCS;
    if (options.update) await write(updated(await read(folder), results.trials), folder, streams);
    else if (options.out !== undefined) await write(results, folder, streams);
    return 0;
  },

  async render(options, streams) {
    const folder = options.out ?? DOCS;
    await write(await read(folder), folder, streams);
    return 0;
  },
};

function selection(options: LearningOptions): Parameters<typeof select>[0] {
  return {
    rows: options.rows ?? ROWS.map((row) => row.name),
    sets: options.sets ?? ["banking77"],
    scenarios: options.scenarios ?? ["main"],
    seeds: options.seeds ?? [1, 2, 3, 4],
  };
}

function measureTables(comparisons: Comparisons): string {
  const worlds = new Map(comparisons.all.map((one) => [`${one.set}, ${one.scenario}`, one]));
  return [...worlds].map(([name, world]) => `${name}\n\n${measureTable(comparisons, world)}\n`).join("\n");
}

async function run(jobs: readonly Job[], { stderr }: CommandStreams): Promise<readonly JobResult[]> {
  const preparing = startProgress("embeddings and candidates (kept for the next time)", stderr);
  await prepareSets(jobs, preparing.update);
  preparing.clear();
  const progress = startProgress(`${jobs.length.toLocaleString("en")} trials`, stderr);
  const results = await runJobs<Job, JobResult>(new URL("./worker.mjs", import.meta.url), jobs, progress.update);
  progress.clear();
  return results;
}

async function runOwnMemories({ stderr }: CommandStreams): Promise<readonly OwnMemoriesResult[]> {
  const progress = startProgress("own memories", stderr);
  const results: OwnMemoriesResult[] = [];
  for (const seed of PUBLISHED_SEEDS) {
    results.push(await learnOwnMemories(seed));
    progress.update(results.length / PUBLISHED_SEEDS.length);
  }
  progress.clear();
  return results;
}

async function read(folder: string): Promise<Results> {
  return decodeResults(await readFile(join(folder, FILES.raw), "utf8"));
}

/** Comparisons of the rounded numbers, so that anybody can make the same tables from the raw results. */
function published(raw: string): Comparisons {
  const { trials, ownMemories } = decodeResults(raw);
  return compare(trials, ownMemories);
}

async function write(results: Results, folder: string, { stderr }: CommandStreams): Promise<void> {
  const raw = encodeResults(results);
  const comparisons = published(raw);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, FILES.raw), raw);
  await writeFile(join(folder, FILES.page), reportPage(comparisons));
  await writeFile(join(folder, FILES.curves), learningCurves(comparisons));
  await writeFile(join(folder, FILES.heatMap), scenarioHeatMap(comparisons));
  stderr.write(`written: ${Object.values(FILES).join(", ")}\n`);
}
