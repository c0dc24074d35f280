import type { Engine, EpisodeView } from "@qavr/core";
import { openedEpisodes } from "./run-episodes.js";
import type { RootRun } from "./run-tree.js";

/** What one episode of a run has shown. */
export interface ShownNames {
  readonly namespace: string;
  readonly episode: string;
  /** Ids by what they may be called. */
  readonly shown: ReadonlyMap<string, string>;
}

/** What each episode of a run has shown, retrievals before an interrupt included. */
export async function shownNames(engine: Engine, root: RootRun): Promise<readonly ShownNames[]> {
  return Promise.all(
    (await openedEpisodes(root)).map(async ({ namespace, episode }) => ({
      namespace,
      episode,
      shown: namesIn(await engine.explain(episode, { namespace })),
    })),
  );
}

/** An id that looks like another memory's handle is taken as the id. */
function namesIn(view: EpisodeView | undefined): ReadonlyMap<string, string> {
  const items = view?.exposures.flatMap((exposure) => exposure.items) ?? [];
  return new Map([
    ...items.map(({ id, handle }) => [handle, id] as const),
    ...items.map(({ id }) => [id, id] as const),
  ]);
}
