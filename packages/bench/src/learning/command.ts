import { UsageError } from "../terminal/command-line.js";
import { startProgress } from "../terminal/progress.js";
import { compare } from "./comparison.js";
import { HELP, type LearningOptions, parseOptions } from "./options.js";
import { select } from "./plan.js";
import type { Job, JobResult } from "./results.js";
import { ROWS } from "./rows.js";
import { runJobs } from "./run-jobs.js";
import { measureTable } from "./tables.js";

/** Standard output and error of the command. */
export interface CommandStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WriteStream;
}

/**
 * The learning benchmark as a command: results on stdout, everything else on stderr.
 *
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export async function runCommand(args: readonly string[], streams: CommandStreams): Promise<number> {
  const { stdout, stderr } = streams;
  try {
    const options = parseOptions(args);
    if (options.help) {
      stdout.write(HELP);
      return 0;
    }
    await part(options, streams);
    return 0;
  } catch (error) {
    stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function part(options: LearningOptions, streams: CommandStreams): Promise<void> {
  const {
    rows = ROWS.map((row) => row.name),
    sets = ["banking77"],
    scenarios = ["main"],
    seeds = [1, 2, 3, 4],
  } = options;
  const comparisons = compare(await run(select({ rows, sets, scenarios, seeds }), options, streams));
  for (const set of sets) {
    for (const scenario of scenarios) {
      streams.stdout.write(`${set}, ${scenario}\n\n${measureTable(comparisons, { set, scenario })}\n\n`);
    }
  }
}

async function run(
  jobs: readonly Job[],
  { threads }: LearningOptions,
  { stderr }: CommandStreams,
): Promise<readonly JobResult[]> {
  const progress = startProgress(`${jobs.length} trials`, stderr);
  const results = await runJobs(jobs, { threads, onProgress: progress.update });
  progress.clear();
  return results;
}
