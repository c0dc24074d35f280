import type { Revisits } from "../learners/learner.js";
import type { Draft, Loading } from "./draft.js";
import { ringRef, slotRef } from "./state-keys.js";
import { readable } from "./unreadable.js";

/** The last episodes of some kind, and how far the round-robin visits have come. */
interface Ring {
  readonly length: number;
  /** Slot of the episode that came last. */
  readonly head: number;
  /** Slot that was visited last. */
  readonly cursor: number;
}

const EMPTY: Ring = { length: 0, head: -1, cursor: 0 };

/**
 * Puts an episode into a ring and calls for the next few to be visited. Which ones follows from the ledger's order alone, so that a
 * replay visits the same.
 *
 * @param bounds how many episodes it holds, of which the next one takes the place of the oldest, and how many are visited per turn
 * @returns the ids to visit, without the new one; their records are loaded
 */
export function* turnRing(
  draft: Draft,
  name: string,
  { log, count }: Pick<Revisits<unknown, unknown>, "log" | "count">,
  episode: string,
): Loading<readonly string[]> {
  yield* draft.load([ringRef(name)]);
  const { length: before, head, cursor } = parseRing(draft.text(ringRef(name)));
  const length = Math.min(before + 1, log);
  const place = (head + 1) % length;
  const visits = Math.min(count, length);
  const slots = Array.from({ length: visits }, (_, i) => (cursor + 1 + i) % length);
  const ring: Ring = { length, head: place, cursor: slots.at(-1) ?? cursor };
  draft.keepText(slotRef(name, place), episode);
  draft.keepText(ringRef(name), JSON.stringify(ring));
  const others = slots.filter((slot) => slot !== place).map((slot) => slotRef(name, slot));
  yield* draft.load(others);
  const ids = others.map((slot) => draft.text(slot)).filter((id) => id !== undefined && id !== episode) as string[];
  yield* draft.loadEpisodes(ids);
  return ids;
}

/** @throws INVALID_STATE */
function parseRing(text: string | undefined): Ring {
  return text === undefined ? EMPTY : readable(() => JSON.parse(text) as Ring);
}
