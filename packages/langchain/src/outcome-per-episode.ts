import type { Engine, OutcomeInput } from "@qavr/core";
import type { RootRun } from "./run-tree.js";
import { shownNames } from "./shown-names.js";

const NAMED = ["helpful", "harmful", "used"] as const;

/**
 * What a run's outcome says about each of its episodes: of the memories that it names, those which the episode showed. A name
 * that none of them showed is left in all, for the engine to refuse.
 */
export async function outcomePerEpisode(
  engine: Engine,
  root: RootRun,
  outcome: OutcomeInput | undefined,
): Promise<(episode: string) => OutcomeInput | undefined> {
  const alone = root.episodes.length < 2;
  if (!outcome || alone || NAMED.every((side) => !outcome[side]?.length)) return () => outcome;
  const episodes = await shownNames(engine, root);
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
