import type { EpisodeRecord } from "../ledger/episode-record.js";
import type { OpenEpisode, OpenEpisodes } from "./open-episodes.js";

/** An episode as the ledger has it. */
interface RecordedEpisode {
  readonly id: string;
  readonly record: EpisodeRecord;
}

/**
 * An episode by its id or an alias: the open one, or as it is recorded; neither for one that is unknown. Waits for the end of one that
 * is ending.
 *
 * @param resolve finds the recorded episode of an id or alias
 */
export async function findEpisode(
  open: OpenEpisodes,
  namespace: string,
  reference: string,
  resolve: (namespace: string, reference: string) => Promise<RecordedEpisode | undefined>,
): Promise<{ readonly episode?: OpenEpisode; readonly found?: RecordedEpisode | undefined }> {
  const known = open.find(namespace, reference);
  const found = known ? undefined : await resolve(namespace, reference);
  // A resumed episode is known here by its id, and by older aliases only in the ledger.
  const episode = known ?? (found && open.find(namespace, found.id));
  if (!episode) return { found };
  while (episode.closing) await episode.closing.catch(() => undefined);
  return open.get(episode.id) === episode ? { episode } : { found: await resolve(namespace, reference) };
}
