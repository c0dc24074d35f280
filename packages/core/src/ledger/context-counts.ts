import { DEFAULT_CONTEXT } from "../embedding/context-direction.js";
import type { EpisodeExposure } from "./episode-record.js";

/** Episodes of one kind of task. */
export interface ContextCounts {
  /** Undefined for all those beyond the ones that are kept apart. */
  readonly context?: string;
  episodes: number;
  taught: number;
}

/** Contexts that are kept apart, the first ones seen; a label per user or per request must not grow the namespace's state. */
const MAX_CONTEXTS = 32;

/** Counts an episode in each context that `added` names and its earlier exposures did not. */
export function countEpisode(
  stats: { contexts?: ContextCounts[] },
  earlier: readonly EpisodeExposure[],
  added: readonly EpisodeExposure[],
): void {
  const known = contextsOf(earlier);
  for (const context of contextsOf(added)) if (!known.has(context)) countsOf(stats, context).episodes += 1;
}

/** Counts an episode that has taught for the first time. */
export function countTaught(stats: { contexts?: ContextCounts[] }, exposures: readonly EpisodeExposure[]): void {
  for (const context of contextsOf(exposures)) countsOf(stats, context).taught += 1;
}

function contextsOf(exposures: readonly EpisodeExposure[]): Set<string> {
  const contexts = new Set<string>();
  for (const { context } of exposures) if (context !== DEFAULT_CONTEXT) contexts.add(context);
  return contexts;
}

function countsOf(stats: { contexts?: ContextCounts[] }, context: string): ContextCounts {
  const all = stats.contexts ?? [];
  stats.contexts = all;
  const named = all.filter((counts) => counts.context !== undefined);
  const known = named.find((counts) => counts.context === context);
  if (known) return known;
  const isKept = named.length < MAX_CONTEXTS;
  const others = all.find((counts) => counts.context === undefined);
  if (!isKept && others) return others;
  const fresh: ContextCounts = isKept ? { context, episodes: 0, taught: 0 } : { episodes: 0, taught: 0 };
  all.push(fresh);
  return fresh;
}
