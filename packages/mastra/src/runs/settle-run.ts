import type { RequestContext } from "@mastra/core/request-context";
import { type OutcomeInput, QavrError } from "@qavr/core";
import { awaitBriefly, endJudged, fromVerdict } from "@qavr/core/adapter";
import { failOpen, type Internals } from "../internals.js";
import type { FinishedRun } from "../memory-options.js";
import { warnOfUntold } from "../wiring-warnings.js";
import { FINISH_OUTCOMES, type FinishReason } from "./finish-reasons.js";
import { hasLeft, type RunEpisode } from "./run-episode.js";
import { traceAlias } from "./run-lifecycle.js";
import { storable } from "./storable.js";

/** What Mastra says about the end of a run. */
export interface RunEnd {
  /** Undefined where Mastra says nothing of how it went, as of its legacy runs. */
  readonly finishReason: string | undefined;
  readonly text: string | undefined;
  /** Whether the application's own completion check had said last that the task is not done. */
  readonly incomplete: boolean;
  readonly requestContext: RequestContext | undefined;
}

/**
 * Turns the end of a run into the outcome of its episode, once: marks the run as ended before anything is awaited. Waits for the
 * judge; for the ledger in full only where failures of learning are to be thrown, since a store that does not answer must not hold the
 * run up.
 *
 * @throws the engine's and the store's codes
 */
export async function settleRun(internals: Internals, run: RunEpisode, end: RunEnd): Promise<void> {
  if (run.ended) return;
  run.ended = true;
  internals.runs.remove(run);
  noteUnshown(internals, run);
  if (!run.recorded) return;
  const reason = reasonOf(run, end);
  const verdict = await judge(internals, run, reason, end);
  const recording = record(internals, run, verdict, internals.outcomes[reason] ?? undefined);
  await (internals.throws ? recording : awaitBriefly(internals.engine, recording.catch(notRecorded)));

  function notRecorded(error: unknown): void {
    failOpen(internals, "OUTCOME_NOT_RECORDED", "The end of a run could not be recorded.", { error }, "error");
  }
}

/** @throws the engine's and the store's codes */
async function record(
  { engine }: Internals,
  { episode, namespace, parkedAs }: RunEpisode,
  verdict: OutcomeInput | undefined,
  otherwise: OutcomeInput | undefined,
): Promise<void> {
  // What waits as suspended is taken up again, so that it ends as ended.
  if (parkedAs !== undefined) await engine.resume(parkedAs, { namespace });
  // One run has one automatic outcome, however often its end is announced: also by two processes that ran it.
  const keyed = (said: OutcomeInput | undefined) => said && { idempotencyKey: `run:${episode}`, ...said };
  const fallback = keyed(otherwise);
  const said = keyed(verdict) ?? fallback;
  try {
    await endJudged(engine, episode, { verdict: said, fallback }, { namespace });
  } catch (error) {
    if (!said && QavrError.isInstance(error, "UNKNOWN_EPISODE")) return;
    throw error;
  }
}

/** A report about a run that has left nothing is answered, and not taken for one about the run before it or one that nobody knows. */
function noteUnshown({ unshown }: Internals, run: RunEpisode): void {
  if (hasLeft(run)) return;
  const { episode, runId, traceId } = run;
  unshown.set(episode, true);
  if (runId !== undefined) unshown.set(storable(runId), true);
  if (traceId !== undefined) unshown.set(traceAlias(traceId), true);
}

/** Mastra's reason, refined; one that this package does not know is `other`. */
function reasonOf(run: RunEpisode, { finishReason, text = "", incomplete }: RunEnd): FinishReason {
  if (finishReason === undefined) return "unknown";
  if (finishReason === "stop" && incomplete) return "incomplete";
  if (finishReason === "tool-calls" && run.openCalls.size > 0) return "client-tools";
  // A run whose last step did the memory's books had nothing else left to do: what it said before is its end.
  const didBooks = finishReason === "tool-calls" && run.keptBooks && !run.worked;
  if ((finishReason === "stop" || didBooks) && run.lastToolsFailed) return "tool-error";
  if (didBooks) return text === "" ? "unknown" : "stop";
  return Object.hasOwn(FINISH_OUTCOMES, finishReason) ? (finishReason as FinishReason) : "other";
}

async function judge(
  internals: Internals,
  run: RunEpisode,
  finishReason: FinishReason,
  { finishReason: told, text = "", requestContext }: RunEnd,
): Promise<OutcomeInput | undefined> {
  if (told === undefined) {
    // Neither the end nor the answer is known: a judge would see an empty answer, and what it says of that would count as verified.
    warnOfUntold(internals);
    return undefined;
  }
  const { options, log, throws } = internals;
  const { evaluate } = options;
  if (!evaluate || finishReason === "aborted") return undefined;
  const { runId, threadId, resourceId, memories, failedCalls } = run;
  const finished: FinishedRun = {
    runId,
    threadId,
    resourceId,
    requestContext,
    finishReason,
    text,
    toolErrors: failedCalls.size,
    memories,
  };
  try {
    return fromVerdict(await evaluate(finished), storable);
  } catch (error) {
    if (throws) throw error;
    log("warn", "EVALUATE_FAILED", "evaluate threw or returned something that is no verdict.", {
      ...(runId === undefined ? {} : { runId }),
      error,
    });
    return undefined;
  }
}
