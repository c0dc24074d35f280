import type { RequestContext } from "@mastra/core/request-context";
import { failOpen, type Internals } from "./internals.js";
import type { MemoryContext } from "./memory-context.js";
import { newRun, type RunEpisode } from "./run-episode.js";
import { type RunScope, scopeOf } from "./run-scope.js";
import { storable } from "./storable.js";

/** The request context's key under which a run's episode is found: `{ episode }`. It travels into tools, snapshots and score rows. */
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

/** Opens a run's episode and notes it in the request context. */
export function openRun(
  internals: Internals,
  scope: RunScope,
  known: { readonly threadId: string; readonly resourceId: string | undefined; readonly traceId: string | undefined },
  requestContext: RequestContext | undefined,
): RunEpisode {
  const { engine, runs } = internals;
  const { threadId, resourceId, traceId } = known;
  const aliases = [threadAlias(threadId), ...(traceId === undefined ? [] : [traceAlias(traceId)])];
  const episode = engine.open({ namespace: scope.namespace, aliases });
  const run = newRun({ ...scope, episode, threadId, resourceId, runId: undefined });
  const other = runs.ofEpisode(noted(requestContext));
  if (other) {
    other.sharesContext = true;
    run.sharesContext = true;
  }
  runs.add(run, aliases);
  requestContext?.set(CONTEXT_KEY, { episode: run.episode });
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
export function identify({ engine, runs, log }: Internals, run: RunEpisode, runId: string): void {
  if (run.runId !== undefined) return;
  runs.identify(run, runId);
  try {
    engine.alias(run.episode, [storable(runId)]);
  } catch (error) {
    log("warn", "OUTCOME_NOT_RECORDED", "A run's id could not be noted; it is found by its thread.", { runId, error });
  }
}

/** The run that a request context names, if that is a run of the same thread and resource and nobody else's. */
export function runOfContext(
  { runs }: Internals,
  memory: MemoryContext | undefined,
  requestContext: unknown,
): RunEpisode | undefined {
  const run = runs.ofEpisode(noted(requestContext));
  // HTTP clients may fill a request context.
  const isOwn = run?.threadId === memory?.threadId && run?.resourceId === memory?.resourceId;
  return run && isOwn && !run.sharesContext ? run : undefined;
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
  memory: MemoryContext,
  runId: string,
  requestContext: RequestContext | undefined,
): Promise<RunEpisode | undefined> {
  const { engine, options, runs, log } = internals;
  const { threadId, resourceId } = memory;
  try {
    const scope = scopeOf(options, { threadId, resourceId, requestContext });
    const episode = await engine.resume(parkingAlias(threadId, runId), { namespace: scope.namespace });
    if (episode === undefined) return undefined;
    const run = newRun({ ...scope, episode, threadId, resourceId, runId, resumed: true });
    runs.add(run, [runId]);
    return run;
  } catch (error) {
    if (internals.throws) throw error;
    log("warn", "EPISODE_NOT_RESUMED", "A suspended run's episode could not be reopened.", { runId, error });
    return undefined;
  }
}

function noted(requestContext: unknown): string | undefined {
  const value = (requestContext as RequestContext | undefined)?.get(CONTEXT_KEY) as { episode?: unknown } | undefined;
  return typeof value?.episode === "string" ? value.episode : undefined;
}
