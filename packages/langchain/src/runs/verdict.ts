import type { DocumentInterface } from "@langchain/core/documents";
import type { OutcomeInput } from "@qavr/core";
import type { EpisodeOfRun, Evaluate, RunKit } from "@qavr/core/adapter";
import { outcomeOfEnd } from "./agent-end.js";
import { judging } from "./judging.js";
import type { RunEnd } from "./run-end.js";
import { isAbort } from "./run-errors.js";
import type { RunInfo } from "./run-scope.js";
import type { RootRun } from "./run-tree.js";

/** A memory that a run was shown. */
export interface RecalledMemory {
  readonly id: string;
  readonly handle: string;
  readonly document: DocumentInterface;
}

/** A finished run, as the `evaluate` option sees it. */
export interface FinishedRun extends RunInfo {
  readonly runId: string;
  /** Output of the root run; undefined when it threw. For `{ output: x }` alone it is `x`. */
  readonly output: unknown;
  /** Error of the root run; undefined when it ended. */
  readonly error: unknown;
  /** Number of tools that failed inside the run, also when the agent continued. */
  readonly toolErrors: number;
  /** Memories that this run was shown. A resumed run also has those from before its interrupt, which are not among them. */
  readonly memories: readonly RecalledMemory[];
}

/** A finished run whose outcome is recorded, or will be when the store answers. */
export interface SettledRun extends FinishedRun {
  /** Its result: in [0, 1], or true and false; null or undefined when it is unknown, as for a run that merely ended. */
  readonly reward: OutcomeInput["reward"];
  /** The episodes of its memories; empty for a run that retrieved nothing. */
  readonly episodes: readonly EpisodeOfRun[];
}

/** Follows root runs that ended, were not aborted and are not interrupted. */
export interface AfterRun {
  /** Called when the outcome is recorded. Never rejects. */
  follow(run: SettledRun): Promise<void>;
  /** True when the caller of the run waits for it. */
  readonly waits: boolean;
}

/**
 * The outcome of a finished run, undefined for an unknown result.
 * - aborted or timed out: unknown
 * - judged by `evaluate`: its verdict, tier `verified`
 * - thrown, and `evaluate` is absent, cannot tell or throws itself: reward 0, tier `observed`
 * - ended, and there is no `evaluate`: see {@link outcomeOfEnd}
 */
export async function judge(
  kit: RunKit,
  evaluate: Evaluate<FinishedRun> | undefined,
  root: RootRun,
  end: RunEnd,
): Promise<OutcomeInput | undefined> {
  const thrown = "error" in end;
  if (thrown && isAbort(end.error, root.signals)) return undefined;
  if (!evaluate) return thrown ? unjudged(end) : outcomeOfEnd(root, end.output);
  return (await judging(kit, () => kit.judge(evaluate, finishedRun(root, end), root.id))) ?? unjudged(end);
}

/** The outcome of an end without a verdict, aborts excepted: an error is a failure, all else is unknown. */
export function unjudged(end: RunEnd): OutcomeInput | undefined {
  return "error" in end ? { reward: 0, tier: "observed" } : undefined;
}

/** A root run and its end as applications see them. */
export function finishedRun(root: RootRun, end: RunEnd): FinishedRun {
  const { id: runId, metadata, tags, input, toolErrors } = root;
  const memories = root.exposures.flatMap(({ items }) => items);
  const { output, error } = { output: undefined, error: undefined, ...end };
  return { runId, metadata, tags, input, toolErrors, memories, output, error };
}
