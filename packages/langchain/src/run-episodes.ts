import type { Internals } from "./internals.js";
import { scopeOf } from "./run-scope.js";
import type { RootRun } from "./run-tree.js";

/** The alias under which an interrupted run's episode waits for the run that continues its thread. */
export function threadAlias(thread: string): string {
  return `thread:${thread}`;
}

/**
 * The run's episode in a namespace: the one that an interrupted run on the same thread left, else a new one, opened by the
 * run's first retrieval. Its alias is the root run's id, which is also its trace id.
 */
export function episodeOf(internals: Internals, root: RootRun, namespace: string): Promise<string> {
  const known = root.episodes.get(namespace);
  if (known) return known;
  const opened = resumeEpisode(internals, root, namespace).then(
    (resumed) => resumed ?? internals.engine.open({ namespace, aliases: [root.id] }),
  );
  root.episodes.set(namespace, opened);
  return opened;
}

/** Reopens the episode that an interrupted run on this thread left behind, if there is one. Never rejects. */
export async function resumeEpisode(
  { engine, log }: Internals,
  root: RootRun,
  namespace: string,
): Promise<string | undefined> {
  if (root.thread === undefined) return undefined;
  try {
    const episode = await engine.resume(threadAlias(root.thread), { namespace });
    if (episode !== undefined) engine.alias(episode, [root.id]);
    return episode;
  } catch (error) {
    log("warn", "EPISODE_NOT_RESUMED", "An interrupted run's episode could not be reopened.", {
      runId: root.id,
      namespace,
      error: String(error),
    });
    return undefined;
  }
}

/**
 * Lets a run that continues an interrupted thread have the episode from before the interrupt, also if it retrieves nothing
 * itself.
 *
 * @throws INVALID_ARGUMENT when the run's scope cannot be told
 */
export async function joinParked(internals: Internals, root: RootRun): Promise<void> {
  if (root.thread === undefined) return;
  const { id: runId, metadata, tags, input } = root;
  const { namespace } = scopeOf(internals, { runId, metadata, tags, input });
  if (root.episodes.has(namespace)) return;
  const episode = await resumeEpisode(internals, root, namespace);
  if (episode !== undefined) root.episodes.set(namespace, Promise.resolve(episode));
}
