import { QavrError } from "../../errors/qavr-error.js";
import type { EpisodeRecord } from "../../ledger/episode-record.js";
import type { OpenEpisode, Shown } from "./open-episodes.js";

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

/** A memory's id for its id or handle; undefined for one that was not shown. An id that looks like a handle is taken as the id. */
export function idOf(name: string, shown: readonly Shown[]): string | undefined {
  if (shown.some(({ id }) => id === name)) return name;
  return shown.find(({ handle }) => handle === name)?.id;
}

/** @throws NOT_SHOWN */
export function resolveShown(name: string, shown: readonly Shown[], episode: string): string {
  const id = idOf(name, shown);
  if (id !== undefined) return id;
  throw new QavrError(
    "NOT_SHOWN",
    `Episode ${episode} did not show a memory ${name}. Name memories that it showed, by id or handle.`,
    { details: { episode, memory: name, shown: shown.map(({ id }) => id) } },
  );
}
