import type { Engine } from "../engine/types.js";
import { bareHandle } from "./bare-handle.js";
import { type EpisodeOfRun, shownNames } from "./shown-names.js";

/** A model's votes, split into what counts and what it made up. */
export interface Votes {
  readonly byEpisode: readonly (EpisodeOfRun & {
    readonly helpful: string[];
    readonly harmful: string[];
  })[];
  /** How many votes count. */
  readonly counted: number;
  /** Names of memories that the run never showed. */
  readonly unknown: readonly string[];
  /** Names that were given on both sides. */
  readonly contradictory: readonly string[];
}

/** Finds for each handle or id the episode that showed it; the first one, should a handle occur in several. */
export async function sortVotes(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  { helpful = [], harmful = [] }: { readonly helpful?: readonly string[]; readonly harmful?: readonly string[] },
): Promise<Votes> {
  const episodes = await shownNames(engine, ofRun);
  const find = (name: string): Vote | undefined => {
    const bare = bareHandle(name);
    for (const { episode, shown } of episodes) {
      const id = shown.get(bare);
      if (id !== undefined) return { episode, id, name };
    }
    return undefined;
  };
  const sides = { helpful: helpful.map(find).filter(isVote), harmful: harmful.map(find).filter(isVote) };
  // A memory may be named by its handle on one side and by its id on the other.
  const contradictory = [...sides.helpful, ...sides.harmful].filter((vote) =>
    [sides.helpful, sides.harmful].every((side) => side.some((other) => isSameMemory(other, vote))),
  );
  const counted = (side: readonly Vote[], episode: string): string[] => {
    const votes = side.filter((vote) => vote.episode === episode && !contradictory.includes(vote));
    return [...new Set(votes.map(({ id }) => id))];
  };
  const byEpisode = episodes.map(({ episode, namespace }) => ({
    episode,
    namespace,
    helpful: counted(sides.helpful, episode),
    harmful: counted(sides.harmful, episode),
  }));
  return {
    byEpisode,
    counted: byEpisode.reduce((sum, votes) => sum + votes.helpful.length + votes.harmful.length, 0),
    unknown: [...new Set([...helpful, ...harmful].filter((name) => find(name) === undefined))],
    contradictory: [...new Set(contradictory.map(({ name }) => name))],
  };
}

/** One name that a model gave, and the memory that it stands for. */
interface Vote {
  readonly episode: string;
  readonly id: string;
  readonly name: string;
}

function isVote(vote: Vote | undefined): vote is Vote {
  return vote !== undefined;
}

function isSameMemory(a: Vote, b: Vote): boolean {
  return a.episode === b.episode && a.id === b.id;
}
