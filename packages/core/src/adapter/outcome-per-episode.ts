import type { Engine, OutcomeInput } from "../engine/types.js";
import { type EpisodeOfRun, shownNames } from "./shown-names.js";

const NAMED = ["helpful", "harmful", "used"] as const;

/**
 * What a run's outcome says about each of its episodes: of the memories that it names, those which the episode showed. A name
 * that none of them showed is left in all, for the engine to refuse.
 *
 * @returns the outcome of an episode, given its id
 */
export async function outcomePerEpisode(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  outcome: OutcomeInput | undefined,
): Promise<(episode: string) => OutcomeInput | undefined> {
  if (!outcome || ofRun.length < 2 || NAMED.every((side) => !outcome[side]?.length)) return () => outcome;
  const episodes = await shownNames(engine, ofRun);
  const isKnown = (name: string): boolean => episodes.some(({ shown }) => shown.has(name));
  const parts = new Map(
    episodes.map(({ episode, shown }) => {
      const named = NAMED.flatMap((side) => {
        const names = outcome[side]?.filter((name) => shown.has(name) || !isKnown(name));
        return names ? [[side, names] as const] : [];
      });
      return [episode, { ...outcome, ...Object.fromEntries(named) }];
    }),
  );
  return (episode) => parts.get(episode) ?? outcome;
}
