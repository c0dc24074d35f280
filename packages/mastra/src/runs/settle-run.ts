import type { RequestContext } from "@mastra/core/request-context";
import type { OutcomeInput } from "@qavr/core";
import type { RunTexts } from "@qavr/core/adapter";
import type { FinishedAgentRun } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import { warnOfUnknownEnd } from "../wiring-warnings.js";
import { type AgentRun, type EndedRun, hasRecordedMemories } from "./agent-run.js";
import { storable, traceAlias } from "./aliases.js";
import { FINISH_OUTCOMES, type FinishReason } from "./finish-reasons.js";
import { reportAll } from "./later-verdicts.js";
import { noteEnd } from "./run-lifecycle.js";

/** Mastra's facts about the end of a run. */
export interface RunEnd {
  /** Undefined where Mastra gives no result, as for its legacy runs. */
  readonly finishReason: string | undefined;
  readonly text: string | undefined;
  /** True when the application's own completion check failed last. */
  readonly incomplete: boolean;
  readonly requestContext: RequestContext | undefined;
}

/**
 * Turns the end of a run into the outcome of its episode, once: marks the run as ended before any await. Waits for the judge; the
 * ledger is written behind the run.
 *
 * @throws only when failures of learning reach the caller
 */
export async function settleRun(parts: MemoryParts, run: AgentRun, end: RunEnd): Promise<void> {
  if (run.ended) return;
  run.ended = true;
  parts.shared.runs.remove(run);
  noteEnd(run, end.requestContext);
  noteUnshown(parts, run);
  if (!run.session) return;
  parts.shared.later.called(run);
  const reason = reasonOf(run, end);
  // A network's verdict is the outcome of its routing.
  const fallback = run.routes ? undefined : (parts.outcomes[reason] ?? undefined);
  const outcome = run.routes ? undefined : ((await judge(parts, run, reason, end)) ?? fallback);
  const { session, runId } = run;
  const ending = { outcome, fallback, texts: textsOf(run, end) };
  let ended: EndedRun | undefined;
  const recorded = parts.kit.record(() => session.end(ended?.isJudged ? { texts: ending.texts } : ending), runId);
  // Its end is also the outcome of the runs that it goes on with. Votes are about its own memories.
  const { reward, tier, source, weight, note } = outcome ?? {};
  const earlier = [...run.turn.runs];
  if (hasRecordedMemories(run)) ended = parts.shared.later.ended(run, end.requestContext, recorded);
  await reportAll(parts, earlier, reward == null ? undefined : { reward, tier, source, weight, note }, run.episode);
  await parts.kit.held(recorded);
}

/** The run's texts, by which its used memories are found. */
function textsOf({ memories, request, steps }: AgentRun, { text = "" }: RunEnd): RunTexts {
  return { memories, request, steps, answer: text };
}

/** Remembers the names of a run without recorded memories, so that a report about it is ignored and not taken for an unknown run. */
function noteUnshown({ shared: { unshown } }: MemoryParts, run: AgentRun): void {
  if (hasRecordedMemories(run)) return;
  const { episode, runId, traceId } = run;
  unshown.set(episode, true);
  if (runId !== undefined) unshown.set(storable(runId), true);
  if (traceId !== undefined) unshown.set(traceAlias(traceId), true);
}

/** Mastra's reason, refined; `other` for a reason that this package does not know. */
function reasonOf(run: AgentRun, { finishReason, text = "", incomplete }: RunEnd): FinishReason {
  if (finishReason === undefined) return "unknown";
  if (finishReason === "stop" && incomplete) return "incomplete";
  if (finishReason === "tool-calls" && run.openCalls.size > 0) return "client-tools";
  // If the last step only called the memory's own tools, judge the run by the step before it.
  const endedInMemoryTools = finishReason === "tool-calls" && run.usedMemoryTools && !run.usedTaskTools;
  if ((finishReason === "stop" || endedInMemoryTools) && run.lastTools !== "done") {
    return run.lastTools === "failed" ? "tool-error" : "tool-declined";
  }
  if (endedInMemoryTools) return text === "" ? "unknown" : "stop";
  return Object.hasOwn(FINISH_OUTCOMES, finishReason) ? (finishReason as FinishReason) : "other";
}

async function judge(
  parts: MemoryParts,
  { runId, threadId, resourceId, memories, failedCalls }: AgentRun,
  finishReason: FinishReason,
  { finishReason: given, text = "", requestContext }: RunEnd,
): Promise<OutcomeInput | undefined> {
  if (given === undefined) {
    // A judge would see an empty answer, and its verdict would count as verified.
    warnOfUnknownEnd(parts);
    return undefined;
  }
  const { evaluate } = parts.options;
  if (!evaluate || finishReason === "aborted") return undefined;
  const toolErrors = failedCalls.size;
  const run = { runId, threadId, resourceId, requestContext, finishReason, text, toolErrors, memories };
  return parts.kit.judge<FinishedAgentRun>(evaluate, run, runId);
}
