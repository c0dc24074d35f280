import type { Engine, EpisodeView } from "@qavr/core";
import type { RootRun } from "./run-tree.js";

/** A model's votes, split into what counts and what it made up. */
export interface Votes {
  readonly byEpisode: readonly {
    readonly episode: string;
    readonly namespace: string;
    readonly helpful: string[];
    readonly harmful: string[];
  }[];
  /** How many votes count. */
  readonly counted: number;
  /** Names of memories that the run never showed. */
  readonly unknown: readonly string[];
  /** Names that were given on both sides. */
  readonly contradictory: readonly string[];
}

/** Finds for each handle or id the episode of the run that showed it; the first one, should a handle occur in several. */
export async function sortVotes(
  engine: Engine,
  root: RootRun,
  { helpful = [], harmful = [] }: { readonly helpful?: readonly string[]; readonly harmful?: readonly string[] },
): Promise<Votes> {
  const contradictory = helpful.filter((name) => harmful.includes(name));
  const episodes = await Promise.all(
    [...root.episodes].map(async ([namespace, pending]) => {
      const episode = await pending;
      const names = namesIn(await engine.explain(episode, { namespace }));
      return { episode, namespace, names, helpful: [] as string[], harmful: [] as string[] };
    }),
  );
  const unknown: string[] = [];
  const place = (name: string, side: "helpful" | "harmful"): void => {
    // Models copy the brackets along.
    const bare = name.trim().replace(/^\[(.*)\]$/, "$1");
    const home = episodes.find(({ names }) => names.has(bare));
    if (home) home[side].push(bare);
    else unknown.push(name);
  };
  for (const name of new Set(helpful)) if (!contradictory.includes(name)) place(name, "helpful");
  for (const name of new Set(harmful)) if (!contradictory.includes(name)) place(name, "harmful");
  const counted = episodes.reduce((sum, side) => sum + side.helpful.length + side.harmful.length, 0);
  return { byEpisode: episodes, counted, unknown: [...new Set(unknown)], contradictory: [...new Set(contradictory)] };
}

function namesIn(view: EpisodeView | undefined): Set<string> {
  return new Set(view?.exposures.flatMap(({ items }) => items.flatMap(({ id, handle }) => [id, handle])));
}
