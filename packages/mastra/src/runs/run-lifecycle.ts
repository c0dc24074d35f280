import { randomUUID } from "node:crypto";
import type { MastraDBMessage } from "@mastra/core/memory";
import type { ProcessOutputStreamArgs } from "@mastra/core/processors";
import type { RequestContext } from "@mastra/core/request-context";
import { createRunSession, type RunScope, shortInput } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { AgentRun, hasRecordedMemories, type KnownRun } from "./agent-run.js";
import { storable, suspensionAlias, threadAlias, traceAlias } from "./aliases.js";
import { type AgentRunInfo, scopeOfRun } from "./run-scope.js";
import type { ThreadOfRun } from "./thread-of-run.js";

/** The request context's key under which a run is noted: `{ episode, runId }`. It travels into tools, snapshots and score rows. */
export const REQUEST_CONTEXT_KEY = "qavr";

/** The parts of a memory that open and find runs. */
type RunParts = Pick<MemoryParts, "kit" | "shared" | "options">;

/** Thread, resource and trace of a run that begins. */
type Owner = ThreadOfRun & Pick<KnownRun, "traceId" | "routes" | "mayContinue" | "turn">;

/** Opens a run's episode and notes it in the request context. */
export function openRun(
  parts: RunParts,
  scope: RunScope,
  owner: Owner,
  requestContext: RequestContext | undefined,
): AgentRun {
  const run = begin(parts, { ...scope, ...owner }, requestContext);
  requestContext?.set(REQUEST_CONTEXT_KEY, { episode: run.episode });
  return run;
}

function begin(
  parts: RunParts,
  known: RunScope & ThreadOfRun & Pick<KnownRun, "expectedAs" | "traceId" | "routes" | "mayContinue" | "turn">,
  requestContext: RequestContext | undefined,
): AgentRun {
  const aliases = aliasesOf(known);
  const episode = parts.kit.engine.open({ namespace: known.namespace, aliases });
  const run = recordedRun(parts, { ...known, episode });
  parts.shared.runs.add(run, aliases, requestContext);
  return run;
}

/** A run in an open episode. Its session opens another one when the engine gives this one up. */
function recordedRun(parts: RunParts, known: Omit<KnownRun, "session">): AgentRun {
  const session = createRunSession({ engine: parts.kit.engine, open: () => reopen(parts, run) });
  session.add(known.namespace, known.episode);
  const run = new AgentRun({ ...known, session });
  return run;
}

function reopen({ kit, shared: { runs } }: RunParts, run: AgentRun): string {
  runs.remove(run);
  const aliases = aliasesOf(run);
  run.episode = kit.engine.open({ namespace: run.namespace, aliases });
  runs.add(run, aliases);
  return run.episode;
}

/** The names of a run's episode. */
function aliasesOf({ threadId, traceId, runId }: ThreadOfRun & Partial<Pick<AgentRun, "traceId" | "runId">>): string[] {
  return [
    threadAlias(threadId),
    ...(traceId === undefined ? [] : [traceAlias(traceId)]),
    ...(runId === undefined ? [] : [storable(runId)]),
  ];
}

/** A run that is not to be learned from. It has no episode. */
export function openUnrecorded(
  { shared }: RunParts,
  scope: RunScope,
  owner: Owner,
  requestContext: RequestContext | undefined,
): AgentRun {
  const run = new AgentRun({ ...scope, ...owner, session: undefined, episode: randomUUID() });
  shared.runs.add(run, [], requestContext);
  // An earlier run's note does not belong to this one.
  requestContext?.delete(REQUEST_CONTEXT_KEY);
  return run;
}

/** Gives a run its Mastra run id, by which it can be found from then on. */
export function identify(
  { kit, shared: { runs } }: RunParts,
  run: AgentRun,
  runId: string,
  requestContext: RequestContext | undefined,
): void {
  if (run.runId !== undefined) return;
  runs.identify(run, runId);
  if (!run.session) return;
  if (noted(requestContext)?.episode === run.episode)
    requestContext?.set(REQUEST_CONTEXT_KEY, { episode: run.episode, runId });
  try {
    kit.engine.alias(run.episode, [storable(runId)]);
  } catch (error) {
    const message = "A run's id could not be noted; the run is found by its thread.";
    kit.log("warn", "OUTCOME_NOT_RECORDED", message, { runId, error });
  }
}

/** The run under way that a request context names, if it is this owner's: HTTP clients may fill a request context. */
export function notedRun(
  { shared }: Pick<MemoryParts, "shared">,
  { threadId, resourceId }: Pick<AgentRunInfo, keyof ThreadOfRun>,
  requestContext: unknown,
): AgentRun | undefined {
  const run = shared.runs.ofEpisode(noted(requestContext)?.episode);
  return run?.threadId === threadId && run?.resourceId === resourceId ? run : undefined;
}

/** Keys of an answer's metadata under which Mastra notes the tool calls that wait. */
const WAITING = ["suspendedTools", "pendingToolApprovals"] as const;

/**
 * Makes the episodes of runs that are being suspended durable. No processor hook sees a suspension. But Mastra first saves the answer
 * with a note of the tool calls that wait, which has the id of the run to resume.
 */
export async function suspendRuns(parts: RunParts, messages: readonly MastraDBMessage[]): Promise<void> {
  for (const { threadId, content } of messages) {
    for (const runId of waitingRuns(content?.metadata)) {
      const run = parts.shared.runs.ofRunId(runId, threadId);
      if (run) await suspend(parts, run, runId);
    }
  }
}

function waitingRuns(metadata: unknown): Set<string> {
  return new Set(waitingCalls(metadata).map(({ runId }) => runId));
}

/** The tool calls that wait, by id, and their runs. */
function waitingCalls(metadata: unknown): { readonly callId: string; readonly runId: string }[] {
  const notes = (metadata ?? {}) as Record<string, Record<string, { readonly runId?: unknown }> | undefined>;
  const entries = WAITING.flatMap((key) => Object.entries(notes[key] ?? {}));
  return entries.flatMap(([callId, entry]) => (typeof entry?.runId === "string" ? { callId, runId: entry.runId } : []));
}

async function suspend({ kit, shared }: RunParts, run: AgentRun, runId: string): Promise<void> {
  if (!run.session) return;
  try {
    const alias = suspensionAlias(run.threadId, runId);
    await run.session.suspend(alias);
    // A call that waits is noted when its result comes: a person may decline it.
    const calls = run.steps.flatMap((step) =>
      "tool" in step && !run.openCalls.has(step.callId) ? [{ ...step, input: shortInput(step.input) }] : [],
    );
    shared.calls.set(alias, calls);
    shared.runs.remove(run);
  } catch (error) {
    const message = "The episode of a suspended run could not be recorded.";
    kit.failOpen("EPISODE_NOT_SUSPENDED", message, { runId, error });
  }
}

/** Gives a resumed run the calls from before its suspension. */
function takeCalls({ calls }: RunParts["shared"], run: AgentRun, alias: string): void {
  run.steps.push(...(calls.get(alias) ?? []));
  calls.delete(alias);
}

/** The run whose suspended episode waits under this run id and thread; undefined when there is none. */
export async function resumeRun(
  parts: RunParts,
  { threadId, resourceId }: ThreadOfRun,
  runId: string,
  requestContext: RequestContext | undefined,
): Promise<AgentRun | undefined> {
  const { kit, shared, options } = parts;
  let scope: RunScope;
  try {
    scope = scopeOfRun(options, { threadId, resourceId, requestContext });
  } catch (error) {
    kit.failOpen("EPISODE_NOT_RESUMED", "A suspended run's episode could not be reopened.", { runId, error });
    return undefined;
  }
  const alias = suspensionAlias(threadId, runId);
  const episode = await kit.resume([alias], { namespace: scope.namespace, runId });
  if (episode === undefined) return undefined;
  // A tool and the run's own stream may ask at the same time.
  const already = shared.runs.ofRunId(runId, threadId);
  if (already) return already;
  const run = recordedRun(parts, { ...scope, episode, threadId, resourceId, runId, resumed: true });
  takeCalls(shared, run, alias);
  shared.runs.add(run, [runId], requestContext);
  return run;
}

/**
 * Adds the episode of a suspended run that this one goes on with: the same run, which has recalled again since, or one whose tool a call
 * answers, as models do in later runs with `autoResumeSuspendedTools`.
 */
export async function joinWaiting(
  parts: RunParts,
  run: AgentRun,
  { part, messageList }: Pick<ProcessOutputStreamArgs, "part" | "messageList">,
): Promise<void> {
  const isSame = run.mayContinue && run.runId === undefined;
  const runId = isSame ? part.runId : answeredRun(part, messageList);
  if (runId !== undefined) await joinSuspended(parts, run, runId);
}

/** The run that waits for the answer in a call's arguments. Early versions of Mastra 1 name it, later ones its call. */
function answeredRun(
  part: ProcessOutputStreamArgs["part"],
  messageList: ProcessOutputStreamArgs["messageList"],
): string | undefined {
  if (part.type !== "tool-call") return undefined;
  const { resumeData, suspendedToolCallId, suspendedToolRunId } = (part.payload.args ?? {}) as Record<string, unknown>;
  if (resumeData == null) return undefined;
  return messageList?.get.all
    .db()
    .flatMap(({ content }) => waitingCalls(content?.metadata))
    .find(({ callId, runId }) => callId === suspendedToolCallId || runId === suspendedToolRunId)?.runId;
}

async function joinSuspended({ kit, shared }: RunParts, run: AgentRun, runId: string): Promise<void> {
  const { threadId, namespace, session } = run;
  const alias = suspensionAlias(threadId, runId);
  const episode = session && (await kit.resume([alias], { namespace, runId }));
  if (episode === undefined) return;
  // A run without memories has no record of its own that reports could find.
  if (!hasRecordedMemories(run)) kit.engine.alias(episode, aliasesOf(run));
  session?.add(namespace, episode);
  takeCalls(shared, run, alias);
  run.resumed = true;
}

/** A new episode for a run that continues in this process; the run is found when Mastra gives it this id. @throws as scopeOfRun */
export function continueRun(
  parts: RunParts,
  { threadId, resourceId }: ThreadOfRun,
  expectedAs: string,
  requestContext: RequestContext | undefined,
): AgentRun {
  const already = parts.shared.runs.ofRunId(expectedAs, threadId);
  if (already) return already;
  const scope = scopeOfRun(parts.options, { threadId, resourceId, requestContext });
  return begin(parts, { ...scope, threadId, resourceId, expectedAs }, requestContext);
}

/** Notes that a run has ended: later steps of a workflow have the same request context, and their queries are not that run's. */
export function noteEnd({ episode }: AgentRun, requestContext: RequestContext | undefined): void {
  const note = noted(requestContext);
  if (note?.episode === episode) requestContext?.set(REQUEST_CONTEXT_KEY, { ...note, ended: true });
}

/** The run that a request context notes; undefined for none, and for one that has ended. */
export function noted(
  requestContext: unknown,
): { readonly episode: string; readonly runId: string | undefined } | undefined {
  const value = (requestContext as RequestContext | undefined)?.get(REQUEST_CONTEXT_KEY) as
    | { episode?: unknown; runId?: unknown; ended?: unknown }
    | undefined;
  if (typeof value?.episode !== "string" || value.ended === true) return undefined;
  return { episode: value.episode, runId: typeof value.runId === "string" ? value.runId : undefined };
}
