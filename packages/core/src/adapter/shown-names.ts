import type { Engine, EpisodeView } from "../engine/types.js";

/** An episode of a run, and the namespace that it belongs to. */
export interface EpisodeOfRun {
  readonly episode: string;
  readonly namespace: string;
}

/** What one episode of a run has shown. */
export interface ShownNames extends EpisodeOfRun {
  /** Ids by what they may be called. */
  readonly shown: ReadonlyMap<string, string>;
}

/** What each episode of a run has shown, in this process or before. */
export async function shownNames(engine: Engine, ofRun: readonly EpisodeOfRun[]): Promise<readonly ShownNames[]> {
  return Promise.all(
    ofRun.map(async ({ namespace, episode }) => ({
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
