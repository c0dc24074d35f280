import type { MemoryParts } from "../memory-parts.js";
import type { AgentRun } from "./agent-run.js";
import { continueRun, noted, notedRun, resumeRun } from "./run-lifecycle.js";
import type { AgentRunInfo, GivenContext } from "./run-scope.js";
import { threadIn } from "./thread-of-run.js";

/** The second argument of a Mastra tool's `execute`, reduced to the parts that name the calling run. */
export interface ToolCaller {
  readonly requestContext?: GivenContext | undefined;
  readonly runId?: string | undefined;
  readonly agent?: { readonly threadId?: string | undefined; readonly resourceId?: string | undefined } | undefined;
}

/** A caller and its run. */
export interface Caller extends AgentRunInfo {
  /** Undefined where it cannot be determined. */
  readonly run: AgentRun | undefined;
  /** The runs that it may be. */
  readonly mayBe: readonly AgentRun[];
}

/**
 * The run that calls. A tool's context names it by run id and thread; a run that is being resumed is found before its first part
 * streams. A request context alone may be shared by several runs at a time: then it is the only one of them with an open tool call.
 */
export async function callingRun(
  parts: Pick<MemoryParts, "kit" | "shared" | "options">,
  from: GivenContext | ToolCaller | undefined,
): Promise<Caller> {
  const { requestContext, runId, agent = {} } = isRequestContext(from) ? { requestContext: from } : (from ?? {});
  const memory = threadIn(requestContext);
  const { threadId = memory?.threadId, resourceId = memory?.resourceId } = agent;
  const info = { threadId, resourceId, requestContext };
  const found = (run: AgentRun | undefined, mayBe: readonly AgentRun[] = []): Caller => ({ ...info, run, mayBe });

  const named = agent.threadId === undefined ? undefined : { runId, threadId: agent.threadId };
  const open = named && parts.shared.runs.ofRunId(named.runId, named.threadId);
  if (open) return found(open);
  const near = nearby(parts, info).filter(
    (run) => !named || (run.threadId === named.threadId && (run.runId === undefined || named.runId === undefined)),
  );
  const calling = near.length > 1 ? near.filter(({ openCalls }) => openCalls.size > 0) : near;
  if (near.length > 0) return found(calling.length === 1 ? calling[0] : undefined, near);

  const before = noted(requestContext)?.runId;
  const waiting = runId ?? before;
  if (waiting === undefined || threadId === undefined) return found(undefined);
  const owner = { threadId, resourceId };
  const resumed = await resumeRun(parts, owner, waiting, requestContext);
  // A run without memories before its suspension has no suspended episode. The end of a run that was let go of would not close a second one.
  const continues = waiting === before && !resumed && !parts.shared.runs.wasLetGo(waiting, threadId);
  return found(continues ? continueRun(parts, owner, waiting, requestContext) : resumed);
}

/** The runs under way on a request context, or on the original that it copies. */
function nearby(parts: Pick<MemoryParts, "shared">, info: AgentRunInfo): readonly AgentRun[] {
  const here = parts.shared.runs.onRequestContext(info.requestContext);
  return here.length > 0 ? here : [...(notedRun(parts, info, info.requestContext)?.beside ?? [])];
}

function isRequestContext(from: GivenContext | ToolCaller | undefined): from is GivenContext {
  return typeof (from as Partial<GivenContext> | undefined)?.get === "function";
}
