import { textHash } from "../../embedding/text-hash.js";
import type { HoldoutDraw } from "../../ledger/events.js";
import type { OpenEpisode } from "./open-episodes.js";

/** Keeps the draw apart from every other use of the hash. */
const SEED = 0x401d;

/**
 * How an episode is drawn: held out when the hash of its id, read as a fraction, lies below the share. The same id gives the
 * same draw in every process; an episode that showed something before keeps the draw that was recorded, whatever the share is now.
 *
 * @param share in [0, 1]; 0 draws nothing
 */
export function drawHoldout(
  { id, earlier }: Pick<OpenEpisode, "id" | "earlier">,
  share: number,
): HoldoutDraw | undefined {
  if (earlier && earlier.exposures.length > 0) return earlier.holdout;
  if (share === 0) return undefined;
  return { share: Math.fround(share), held: textHash(id, SEED) < share * 2 ** 32 };
}
