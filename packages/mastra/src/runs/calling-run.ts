import type { RequestContext } from "@mastra/core/request-context";
import type { Internals } from "../internals.js";
import { memoryContextOf } from "./memory-context.js";
import type { RunEpisode } from "./run-episode.js";
import { continueRun, noted, notedRun, resumeRun } from "./run-lifecycle.js";
import type { RunInfo } from "./run-scope.js";

/** What Mastra hands to a tool as the second argument of `execute`, as far as it says which run calls. */
export interface ToolCaller {
  readonly requestContext?: RequestContext | undefined;
  readonly runId?: string | undefined;
  readonly agent?: { readonly threadId?: string | undefined; readonly resourceId?: string | undefined } | undefined;
}

/** Who asks, and for which run. */
export interface Caller extends RunInfo {
  /** Undefined where it cannot be told. */
  readonly run: RunEpisode | undefined;
  /** The runs that it may be. */
  readonly mayBe: readonly RunEpisode[];
}

/**
 * The run on whose behalf something is asked. A tool's context names it by run id and thread: that is certain, and one that is taken up
 * again from a suspension is found before its first part streams. A request context alone may be shared by several runs at a time:
 * then it is the one that is calling a tool, if there is one such.
 */
export async function callingRun(internals: Internals, from: RequestContext | ToolCaller | undefined): Promise<Caller> {
  const { requestContext, runId, agent = {} } = isRequestContext(from) ? { requestContext: from } : (from ?? {});
  const memory = memoryContextOf(requestContext);
  const { threadId = memory?.threadId, resourceId = memory?.resourceId } = agent;
  const info = { threadId, resourceId, requestContext };
  const found = (run: RunEpisode | undefined, mayBe: readonly RunEpisode[] = []): Caller => ({ ...info, run, mayBe });

  const named = agent.threadId === undefined ? undefined : { runId, threadId: agent.threadId };
  const open = named && internals.runs.ofRunId(named.runId, named.threadId);
  if (open) return found(open);
  const near = nearby(internals, info).filter(
    (run) => !named || (run.threadId === named.threadId && (run.runId === undefined || named.runId === undefined)),
  );
  const calling = near.length > 1 ? near.filter(({ openCalls }) => openCalls.size > 0) : near;
  if (near.length > 0) return found(calling.length === 1 ? calling[0] : undefined, near);

  const before = noted(requestContext)?.runId;
  const waiting = runId ?? before;
  if (waiting === undefined || threadId === undefined) return found(undefined);
  const owner = { threadId, resourceId };
  const resumed = await resumeRun(internals, owner, waiting, requestContext);
  // One that had been shown nothing before it was suspended has left nothing behind.
  const goesOn = waiting === before && !resumed;
  return found(goesOn ? continueRun(internals, owner, waiting, requestContext) : resumed);
}

/** The runs under way on a request context, or on the one that it is a copy of. */
function nearby(internals: Internals, info: RunInfo): readonly RunEpisode[] {
  const here = internals.runs.ofContext(info.requestContext);
  return here.length > 0 ? here : [...(notedRun(internals, info, info.requestContext)?.beside ?? [])];
}

function isRequestContext(from: RequestContext | ToolCaller | undefined): from is RequestContext {
  return typeof (from as Partial<RequestContext> | undefined)?.get === "function";
}
