import type { DatasetName, Judgement } from "@qavr/lab";
import type { OwnMemoriesResult } from "./own-memories.js";
import type { ScenarioName } from "./scenarios.js";

/** One run of the protocol: a row in one world. */
export interface Job {
  readonly row: string;
  readonly set: DatasetName;
  readonly scenario: ScenarioName;
  /** ≥ 1 */
  readonly seed: number;
}

/** How good the lists for held-out requests are after some runs. */
export interface Checkpoint extends Judgement {
  /** Runs learned from so far. */
  readonly runs: number;
}

export interface JobResult extends Job {
  /** Mean true probability of success over the stream's own runs. */
  readonly online: number;
  readonly checkpoints: readonly Checkpoint[];
  /** nDCG@k after the last run on requests with a need that the stream never had; undefined where there are none. */
  readonly unseen: number | undefined;
  /** True probability of success on the same requests; undefined in results of rows that were measured without it. */
  readonly unseenSuccess?: number | undefined;
}

/** Everything that the page is made of. */
export interface Results {
  readonly trials: readonly JobResult[];
  /** One for each seed; empty unless everything was run. */
  readonly ownMemories: readonly OwnMemoriesResult[];
}

/** A line of the raw results: short names and columns, since there are thousands. */
interface Line {
  readonly row: string;
  readonly set: DatasetName;
  readonly scenario: ScenarioName;
  readonly seed: number;
  readonly online: number;
  readonly unseen: number | null;
  readonly unseenSuccess?: number;
  /** Runs, success, nDCG, recall, misleading of each checkpoint. */
  readonly at: readonly (readonly [number, number, number, number, number])[];
}

/** Decimals of the raw results; finer than any interval here, coarse enough for a small file. */
const DECIMALS = 4;

/** The results as JSON, one line for each trial. */
export function encodeResults({ trials, ownMemories }: Results): string {
  const own = ownMemories.map(({ seed, host, learned }) => ({ seed, host: rounded(host), learned: rounded(learned) }));
  const lines = trials.map((trial) => JSON.stringify(toLine(trial)));
  return `{"ownMemories":${JSON.stringify(own)},"trials":[\n${lines.join(",\n")}\n]}\n`;
}

/** The inverse of {@link encodeResults}, up to rounding. */
export function decodeResults(text: string): Results {
  const { ownMemories, trials } = JSON.parse(text) as { ownMemories: OwnMemoriesResult[]; trials: Line[] };
  return {
    ownMemories,
    trials: trials.map(({ at, unseen, ...line }) => ({
      ...line,
      unseen: unseen ?? undefined,
      checkpoints: at.map(([runs, success, ndcg, recall, misleading]) => ({ runs, success, ndcg, recall, misleading })),
    })),
  };
}

function toLine({ row, set, scenario, seed, online, unseen, unseenSuccess, checkpoints }: JobResult): Line {
  return {
    row,
    set,
    scenario,
    seed,
    online: rounded(online),
    unseen: unseen === undefined ? null : rounded(unseen),
    ...(unseenSuccess === undefined ? {} : { unseenSuccess: rounded(unseenSuccess) }),
    at: checkpoints.map(({ runs, success, ndcg, recall, misleading }) => [
      runs,
      rounded(success),
      rounded(ndcg),
      rounded(recall),
      rounded(misleading),
    ]),
  };
}

function rounded(value: number): number {
  return Number(value.toFixed(DECIMALS));
}
