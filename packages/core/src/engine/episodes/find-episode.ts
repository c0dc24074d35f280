import { printed } from "../../errors/illegal-option.js";
import { QavrError } from "../../errors/qavr-error.js";
import type { EpisodeRecord } from "../../ledger/episode-record.js";
import type { OpenEpisode, OpenEpisodes } from "./open-episodes.js";

/** An episode as the ledger has it. */
export interface RecordedEpisode {
  readonly id: string;
  readonly record: EpisodeRecord;
}

/** The work on an episode, by where it is found. */
interface Found<Result> {
  /** Called synchronously after the lookup; awaiting first could let the episode close. */
  open(episode: OpenEpisode): Promise<Result>;
  /** Gets undefined for an unknown episode. */
  recorded(episode: RecordedEpisode | undefined): Promise<Result>;
}

/**
 * Finds an episode by its id or an alias, at once where it is known to be open. Waits for the end of an episode that is ending.
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

/**
 * Returns an episode that is open in this process and not ending.
 *
 * @param namespace undefined: any
 * @throws UNKNOWN_EPISODE
 */
export function openEpisode(open: OpenEpisodes, namespace: string | undefined, id: string): OpenEpisode {
  const episode = open.get(id);
  if (episode && !episode.closing && (namespace === undefined || episode.namespace === namespace)) return episode;
  throw new QavrError(
    "UNKNOWN_EPISODE",
    `Episode ${printed(id)} is not open in this process. Open a new one, or report() on it.`,
    { details: { episode: printed(id) } },
  );
}
