import type { EpisodeRecord } from "../ledger/episode-record.js";
import type { OpenEpisode, OpenEpisodes } from "./open-episodes.js";

/** An episode as the ledger has it. */
interface RecordedEpisode {
  readonly id: string;
  readonly record: EpisodeRecord;
}

/** What is done with an episode, by where it is found. */
interface Found<Result> {
  /** Called in the moment in which it is found to be open: who waited first might find it ending. */
  open(episode: OpenEpisode): Promise<Result>;
  /** Undefined for one that is unknown. */
  recorded(episode: RecordedEpisode | undefined): Promise<Result>;
}

/**
 * Finds an episode by its id or an alias, at once where it is known to be open. Waits for the end of one that is ending.
 *
 * @param resolve finds the recorded episode of an id or alias
 */
export async function findEpisode<Result>(
  open: OpenEpisodes,
  namespace: string,
  reference: string,
  resolve: (namespace: string, reference: string) => Promise<RecordedEpisode | undefined>,
  found: Found<Result>,
): Promise<Result> {
  for (;;) {
    const known = open.find(namespace, reference);
    const recorded = known ? undefined : await resolve(namespace, reference);
    // A resumed episode is known here by its id, and by older aliases only in the ledger.
    const resumed = recorded && open.get(recorded.id);
    const episode = known ?? (resumed?.namespace === namespace ? resumed : undefined);
    if (!episode) return found.recorded(recorded);
    if (!episode.closing) return found.open(episode);
    await episode.closing.catch(() => undefined);
  }
}
