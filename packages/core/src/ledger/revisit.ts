import type { Draft, Loading } from "./draft.js";
import { type EpisodeRecord, encodeEpisode } from "./episode-record.js";
import { lessonOf } from "./lesson.js";
import { episodeRef, ringRef, slotRef, textValue } from "./state-keys.js";
import { readable } from "./unreadable.js";

/** The runs that a learner may fit again: a ring of the last ones that taught, and how far the revisits have come in it. */
interface Ring {
  readonly length: number;
  /** Slot of the run that came last. */
  readonly head: number;
  /** Slot that was revisited last. */
  readonly cursor: number;
}

const EMPTY: Ring = { length: 0, head: -1, cursor: 0 };

/**
 * Puts a run that has just taught into the ring and fits the next few of the ring again, round robin. Which ones is a matter of
 * the ledger's order alone, so a replay revisits the same. Nothing for a learner that fits each run once.
 */
export function* revisitRuns<Shared, Memory>(draft: Draft<Shared, Memory>, episode: string): Loading {
  const { revisits } = draft.learner;
  if (!revisits) return;
  yield* draft.load([ringRef]);
  const { length: before, head, cursor } = parseRing(draft.text(ringRef));
  const length = Math.min(before + 1, revisits.log);
  const place = (head + 1) % length;
  const count = Math.min(revisits.count, length);
  const slots = Array.from({ length: count }, (_, i) => (cursor + 1 + i) % length);
  const ring: Ring = { length, head: place, cursor: count > 0 ? (slots.at(-1) as number) : cursor };
  draft.write(slotRef(place), textValue(episode));
  draft.write(ringRef, textValue(JSON.stringify(ring)));

  const others = slots.filter((slot) => slot !== place).map(slotRef);
  yield* draft.load(others);
  const ids = others.map((slot) => draft.text(slot)).filter((id) => id !== undefined);
  yield* draft.load(ids.map(episodeRef));
  const runs = ids.flatMap((id) => {
    const known = draft.episode(id);
    return known?.contribution ? [{ id, known }] : [];
  });
  yield* draft.loadStates(runs.flatMap(({ known }) => known.exposures));
  for (const { id, known } of runs) {
    fitAgain(draft, known);
    draft.write(episodeRef(id), encodeEpisode(known));
  }
}

/** Fits a run again and keeps what it contributes now. Nothing for a learner that fits each run once. */
export function fitAgain<Shared, Memory>(draft: Draft<Shared, Memory>, record: EpisodeRecord): void {
  const { contribution } = record;
  if (!contribution) return;
  record.contribution = draft.learner.revisits?.fit(lessonOf(draft, record), contribution) ?? contribution;
}

/** @throws INVALID_STATE */
function parseRing(text: string | undefined): Ring {
  return text === undefined ? EMPTY : readable(() => JSON.parse(text) as Ring);
}
