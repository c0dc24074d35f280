import type { EpisodeOfRun } from "@qavr/core/adapter";
import { storableId } from "../document-ids.js";
import type { Internals } from "../internals.js";
import { scopeOf } from "./run-scope.js";
import type { RootRun } from "./run-tree.js";

/**
 * How a run that has stopped waits. A LangGraph that announces interrupts announces resumes as well: the episode then waits for such a
 * run alone, and a new input on the thread leaves it be. An interrupt that was only seen as an error (LangGraph before 1.4.17) is taken
 * to be continued by whatever comes next on the thread.
 */
export type Waiting = "announced" | "seen";

/**
 * The alias under which a stopped run's episode waits for the run that continues its thread; undefined without a thread, since nothing
 * will ever continue it.
 */
export function parkingAlias({ thread }: RootRun, waiting: Waiting): string | undefined {
  if (thread === undefined) return undefined;
  return waiting === "announced" ? announcedAlias(thread) : seenAlias(thread);
}

/**
 * The run's episode in a namespace: the one that an interrupted run on the same thread left, else a new one, opened by the
 * run's first retrieval. Its alias is the root run's id, which is also its trace id.
 */
export function episodeOf(internals: Internals, root: RootRun, namespace: string): Promise<string> {
  const known = root.episodes.find((episode) => episode.namespace === namespace);
  if (known) return known.id;
  const id = resumeEpisode(internals, root, namespace).then(
    (resumed) => resumed ?? internals.engine.open({ namespace, aliases: [root.id], lastHandle: root.lastHandle }),
  );
  root.episodes.push({ namespace, id });
  return id;
}

/** Lets the run go on in another episode than this one, which the engine has given up. */
export function leaveEpisode(root: RootRun, id: Promise<string>): void {
  const place = root.episodes.findIndex((episode) => episode.id === id);
  if (place >= 0) root.episodes.splice(place, 1);
}

/** The run's episodes, each once. One that could not be opened is left out: nothing was shown in it. */
export async function openedEpisodes({ episodes }: RootRun): Promise<readonly EpisodeOfRun[]> {
  const byId = new Map<string, string>();
  for (const { namespace, id } of episodes) {
    const episode = await id.catch(() => undefined);
    if (episode !== undefined) byId.set(episode, namespace);
  }
  return [...byId].map(([episode, namespace]) => ({ namespace, episode }));
}

/**
 * Lets a run that continues an interrupted thread have the episode from before the interrupt, also if it retrieves nothing
 * itself, or retrieved before it was known to continue anything.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED when the run's scope cannot be told
 */
export async function joinParked(internals: Internals, root: RootRun): Promise<void> {
  if (root.thread === undefined) return;
  const { id: runId, metadata, tags, input } = root;
  const { namespace } = scopeOf(internals, { runId, metadata, tags, input });
  if (hasEpisodeIn(root, namespace) && !root.resumes) return;
  const episode = await resumeEpisode(internals, root, namespace);
  // It may be there already; `openedEpisodes` tells it once.
  if (episode !== undefined) root.episodes.push({ namespace, id: Promise.resolve(episode) });
}

/** Reopens the episode that an interrupted run on this thread left behind, if there is one. Never rejects. */
async function resumeEpisode(
  { engine, log }: Internals,
  root: RootRun,
  namespace: string,
): Promise<string | undefined> {
  const { thread } = root;
  if (thread === undefined) return undefined;
  // The run's id stands for one episode: its own, where it has one already.
  const isOwn = !hasEpisodeIn(root, namespace);
  try {
    const announced = root.resumes ? await engine.resume(announcedAlias(thread), { namespace }) : undefined;
    const episode = announced ?? (await engine.resume(seenAlias(thread), { namespace }));
    if (episode !== undefined && isOwn) engine.alias(episode, [root.id]);
    return episode;
  } catch (error) {
    log("warn", "EPISODE_NOT_RESUMED", "An interrupted run's episode could not be reopened.", {
      runId: root.id,
      namespace,
      error,
    });
    return undefined;
  }
}

function hasEpisodeIn(root: RootRun, namespace: string): boolean {
  return root.episodes.some((episode) => episode.namespace === namespace);
}

/** Thread ids are anybody's; an alias must be one that a ledger can keep. */
function announcedAlias(thread: string): string {
  return storableId(`interrupt:${thread}`);
}

function seenAlias(thread: string): string {
  return storableId(`thread:${thread}`);
}
