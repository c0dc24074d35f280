import { randomUUID } from "node:crypto";
import type { RequestContext } from "@mastra/core/request-context";
import { failOpen, type Internals } from "../internals.js";
import type { MemoryContext } from "./memory-context.js";
import { newRun, type RunEpisode } from "./run-episode.js";
import { type RunInfo, type RunScope, scopeOf } from "./run-scope.js";
import { storable } from "./storable.js";

/** The request context's key under which a run is noted: `{ episode, runId }`. It travels into tools, snapshots and score rows. */
export const CONTEXT_KEY = "qavr";

/** The alias of a thread's latest run. */
export function threadAlias(threadId: string): string {
  return storable(`thread:${threadId}`);
}

/** The alias of a trace. */
export function traceAlias(traceId: string): string {
  return storable(`trace:${traceId}`);
}

/** The alias under which a suspended run's episode waits. Only the same run on the same thread finds it. */
function parkingAlias(threadId: string, runId: string): string {
  return storable(`suspended:${runId}:${threadId}`);
}

/** Where a run that begins belongs. */
type Owner = MemoryContext & Pick<RunEpisode, "traceId">;

/** Opens a run's episode and notes it in the request context. */
export function openRun(
  internals: Internals,
  scope: RunScope,
  owner: Owner,
  requestContext: RequestContext | undefined,
): RunEpisode {
  const { threadId, traceId } = owner;
  const aliases = [threadAlias(threadId), ...(traceId === undefined ? [] : [traceAlias(traceId)])];
  const run = begin(internals, { ...scope, ...owner }, aliases, requestContext);
  requestContext?.set(CONTEXT_KEY, { episode: run.episode });
  return run;
}

function begin(
  { engine, runs }: Internals,
  known: RunScope & MemoryContext & Partial<Pick<RunEpisode, "expectedAs" | "traceId">>,
  aliases: readonly string[],
  requestContext: RequestContext | undefined,
): RunEpisode {
  const episode = engine.open({ namespace: known.namespace, aliases });
  const run = newRun({ ...known, episode, runId: undefined });
  runs.add(run, aliases, requestContext);
  return run;
}

/** A run that is not to be learned from: it is only known to be under way. */
export function openUnrecorded(
  { runs }: Internals,
  scope: RunScope,
  owner: Owner,
  requestContext: RequestContext | undefined,
): RunEpisode {
  const run = newRun({ ...scope, ...owner, episode: randomUUID(), runId: undefined, recorded: false });
  runs.add(run, [], requestContext);
  // What an earlier run left there is nobody's word about this one.
  requestContext?.delete(CONTEXT_KEY);
  return run;
}

/** A new episode for a run whose first one the engine has given up. */
export function reopen({ engine, runs }: Internals, run: RunEpisode): string {
  runs.remove(run);
  const aliases = [threadAlias(run.threadId), ...(run.runId === undefined ? [] : [storable(run.runId)])];
  run.episode = engine.open({ namespace: run.namespace, aliases });
  runs.add(run, aliases);
  return run.episode;
}

/** From now on the run can be found by Mastra's run id. */
export function identify(
  { engine, runs, log }: Internals,
  run: RunEpisode,
  runId: string,
  requestContext: RequestContext | undefined,
): void {
  if (run.runId !== undefined) return;
  runs.identify(run, runId);
  if (!run.recorded) return;
  if (noted(requestContext)?.episode === run.episode) requestContext?.set(CONTEXT_KEY, { episode: run.episode, runId });
  try {
    engine.alias(run.episode, [storable(runId)]);
  } catch (error) {
    log("warn", "OUTCOME_NOT_RECORDED", "A run's id could not be noted; it is found by its thread.", { runId, error });
  }
}

/** The run under way that a request context names, if it is this owner's: HTTP clients may fill a request context. */
export function notedRun(
  { runs }: Internals,
  { threadId, resourceId }: Pick<RunInfo, keyof MemoryContext>,
  requestContext: unknown,
): RunEpisode | undefined {
  const run = runs.ofEpisode(noted(requestContext)?.episode);
  return run?.threadId === threadId && run?.resourceId === resourceId ? run : undefined;
}

/** Makes the episode of a suspended run durable, so that whoever resumes it finds it. Never rejects unless failures are thrown. */
export async function parkRun(internals: Internals, run: RunEpisode, runId: string): Promise<void> {
  const { engine, runs } = internals;
  const alias = parkingAlias(run.threadId, runId);
  try {
    await engine.park(run.episode, { alias });
    run.parkedAs = alias;
    runs.remove(run);
  } catch (error) {
    failOpen(internals, "EPISODE_NOT_PARKED", "The episode of a suspended run could not be recorded.", {
      runId,
      error,
    });
  }
}

/** The run whose suspended episode waits under this run id and thread; undefined when there is none. */
export async function resumeRun(
  internals: Internals,
  { threadId, resourceId }: MemoryContext,
  runId: string,
  requestContext: RequestContext | undefined,
): Promise<RunEpisode | undefined> {
  const { engine, options, runs, log } = internals;
  try {
    const scope = scopeOf(options, { threadId, resourceId, requestContext });
    const episode = await engine.resume(parkingAlias(threadId, runId), { namespace: scope.namespace });
    if (episode === undefined) return undefined;
    // A tool and the run's own stream may ask at the same time.
    const already = runs.ofRunId(runId, threadId);
    if (already) return already;
    const run = newRun({ ...scope, episode, threadId, resourceId, runId, resumed: true });
    runs.add(run, [runId], requestContext);
    return run;
  } catch (error) {
    if (internals.throws) throw error;
    log("warn", "EPISODE_NOT_RESUMED", "A suspended run's episode could not be reopened.", { runId, error });
    return undefined;
  }
}

/** A new episode for a run that goes on in this process; it is found when Mastra gives it this id. @throws what scopeOf throws */
export function continueRun(
  internals: Internals,
  { threadId, resourceId }: MemoryContext,
  expectedAs: string,
  requestContext: RequestContext | undefined,
): RunEpisode {
  const already = internals.runs.ofRunId(expectedAs, threadId);
  if (already) return already;
  const scope = scopeOf(internals.options, { threadId, resourceId, requestContext });
  return begin(internals, { ...scope, threadId, resourceId, expectedAs }, [threadAlias(threadId)], requestContext);
}

/** What a request context says of the run that it was last used by, if it says anything. */
export function noted(
  requestContext: unknown,
): { readonly episode: string; readonly runId: string | undefined } | undefined {
  const value = (requestContext as RequestContext | undefined)?.get(CONTEXT_KEY) as
    | { episode?: unknown; runId?: unknown }
    | undefined;
  if (typeof value?.episode !== "string") return undefined;
  return { episode: value.episode, runId: typeof value.runId === "string" ? value.runId : undefined };
}
