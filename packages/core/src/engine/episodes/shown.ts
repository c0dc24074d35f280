import { QavrError } from "../../errors/qavr-error.js";
import type { EpisodeRecord } from "../../ledger/episode-record.js";
import type { OpenEpisode } from "./open-episodes.js";

/** A memory that an episode showed, by its id and its short name. */
export interface Shown {
  readonly id: string;
  readonly handle: string;
}

export function shownIn(episode: OpenEpisode): Shown[] {
  return [
    ...(episode.earlier ? shownInRecord(episode.earlier) : []),
    ...episode.exposures.flatMap(({ shown, ids }) =>
      shown.map(({ candidate, handle }) => ({ id: ids[candidate] as string, handle: `m${handle}` })),
    ),
  ];
}

export function shownInRecord(record: EpisodeRecord): Shown[] {
  return record.exposures.flatMap(({ items }) => items.map(({ id, handle }) => ({ id, handle: `m${handle}` })));
}

/** A memory's id for its id or short name. An id that looks like a short name is taken as the id. @throws NOT_SHOWN */
export function resolveShown(name: string, shown: readonly Shown[], episode: string): string {
  if (shown.some(({ id }) => id === name)) return name;
  const byHandle = shown.find(({ handle }) => handle === name);
  if (byHandle) return byHandle.id;
  throw new QavrError(
    "NOT_SHOWN",
    `Episode ${episode} did not show a memory ${name}. Name only memories that it showed, by id or short name.`,
    { details: { episode, memory: name, shown: shown.map(({ id }) => id) } },
  );
}
