import type { Draft, Loading } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import { lessonOf } from "./lesson.js";
import { turnRing } from "./ring.js";

/** Remembers a run that has just taught, and fits the next few old ones again. Nothing where each run is fitted once. */
export function* revisitRuns(draft: Draft, episode: string): Loading {
  const { revisits } = draft.learner;
  if (!revisits || revisits.count === 0) return;
  const ids = yield* turnRing(draft, "runs", revisits, episode);
  const runs = ids.flatMap((id) => {
    const record = draft.episode(id);
    return record?.contribution ? [{ id, record }] : [];
  });
  yield* draft.loadStates(runs.flatMap(({ record }) => record.exposures));
  for (const { id, record } of runs) {
    fitAgain(draft, record);
    draft.keepEpisode(id, record);
  }
}

/** Fits a run again and keeps what it contributes now. Nothing for a learner that fits each run once. */
export function fitAgain(draft: Draft, record: EpisodeRecord): void {
  const { contribution } = record;
  if (!contribution) return;
  record.contribution = draft.learner.revisits?.fit(lessonOf(draft, record), contribution) ?? contribution;
}
