import type { DocumentInterface } from "@langchain/core/documents";
import type { OutcomeInput } from "@qavr/core";
import { fromVerdict, type Verdict } from "@qavr/core/adapter";
import { storableId } from "../document-ids.js";
import type { Log } from "../log-codes.js";
import { isAbort } from "./run-errors.js";
import type { RunInfo } from "./run-scope.js";
import type { RootRun } from "./run-tree.js";

/** A memory that a run was shown. */
export interface RecalledMemory {
  readonly id: string;
  readonly handle: string;
  readonly document: DocumentInterface;
}

/** A finished run, as an {@link Evaluate} function sees it. */
export interface FinishedRun extends RunInfo {
  readonly runId: string;
  /** What the root run returned; undefined when it threw. */
  readonly output: unknown;
  /** What the root run threw; undefined when it ended. */
  readonly error: unknown;
  /** Tools that failed inside the run, also when the agent went on. */
  readonly toolErrors: number;
  /** What was retrieved in this process; a resumed run also has memories from before its interrupt. */
  readonly memories: readonly RecalledMemory[];
}

/**
 * Judges a finished run. Its verdict is evidence of the tier `verified`. It runs before the caller gets the result, so a slow
 * judge belongs into a later `memory.report(runId, …)` instead. Not asked about runs that were aborted or timed out.
 */
export type Evaluate = (run: FinishedRun) => Verdict | Promise<Verdict>;

/** How a root run ended. */
export type RunEnd = { readonly output: unknown } | { readonly error: unknown };

/**
 * The outcome of a finished run, undefined when nobody knows.
 * - aborted or timed out: unknown
 * - judged by `evaluate`: its verdict, tier `verified`
 * - thrown, and `evaluate` is absent, cannot tell or throws itself: reward 0, tier `observed`
 * - ended, and there is no `evaluate`: reward 1, tier `completed`, which counts little
 */
export async function judge(
  root: RootRun,
  end: RunEnd,
  { evaluate, log }: { readonly evaluate: Evaluate | undefined; readonly log: Log },
): Promise<OutcomeInput | undefined> {
  const thrown = "error" in end;
  if (thrown && isAbort(end.error, root.signals)) return undefined;
  if (!evaluate) return thrown ? unjudged(end) : { reward: 1, tier: "completed" };
  try {
    return fromVerdict(await evaluate(finishedRun(root, end)), storableId) ?? unjudged(end);
  } catch (error) {
    log("warn", "EVALUATE_FAILED", "evaluate threw or returned something that is no verdict.", {
      runId: root.id,
      error,
    });
    return unjudged(end);
  }
}

/** What an end, an abort excepted, says where a judge was asked and said nothing: a failure was seen, or nobody knows. */
export function unjudged(end: RunEnd): OutcomeInput | undefined {
  return "error" in end ? { reward: 0, tier: "observed" } : undefined;
}

/** A root run and its end as applications see them. */
export function finishedRun(root: RootRun, end: RunEnd): FinishedRun {
  const { id: runId, metadata, tags, input, toolErrors, unread } = root;
  const memories = root.exposures.flatMap((shown) => (unread.has(shown) ? [] : shown.items));
  const { output, error } = { output: undefined, error: undefined, ...end };
  return { runId, metadata, tags, input, toolErrors, memories, output, error };
}
