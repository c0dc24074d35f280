import type { DatasetName } from "../datasets/catalogue.js";
import type { Judgement } from "../world/judgement.js";
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
}

/** A line of the raw results: short names and columns, since there are thousands. */
interface Line {
  readonly row: string;
  readonly set: DatasetName;
  readonly scenario: ScenarioName;
  readonly seed: number;
  readonly online: number;
  readonly unseen: number | null;
  /** Runs, success, nDCG, recall, misleading of each checkpoint. */
  readonly at: readonly (readonly [number, number, number, number, number])[];
}

/** Decimals of the raw results; finer than any interval here, coarse enough for a small file. */
const DECIMALS = 4;

/** The results as a JSON array, one line each. */
export function encodeResults(results: readonly JobResult[]): string {
  return `[\n${results.map((result) => JSON.stringify(toLine(result))).join(",\n")}\n]\n`;
}

/** The inverse of {@link encodeResults}, up to rounding. */
export function decodeResults(text: string): readonly JobResult[] {
  return (JSON.parse(text) as readonly Line[]).map(({ at, unseen, ...line }) => ({
    ...line,
    unseen: unseen ?? undefined,
    checkpoints: at.map(([runs, success, ndcg, recall, misleading]) => ({ runs, success, ndcg, recall, misleading })),
  }));
}

function toLine({ row, set, scenario, seed, online, unseen, checkpoints }: JobResult): Line {
  return {
    row,
    set,
    scenario,
    seed,
    online: rounded(online),
    unseen: unseen === undefined ? null : rounded(unseen),
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
