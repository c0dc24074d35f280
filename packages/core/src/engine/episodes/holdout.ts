import { textHash } from "../../embedding/text-hash.js";
import type { EpisodeDraws, HoldoutDraw } from "../../ledger/events.js";
import type { OpenEpisode } from "./open-episodes.js";

/** Keeps the draw of order apart from every other use of the hash; the next number is that of memory. */
const SEED = 0x401d;

/**
 * How an episode is drawn: shown no memory, or held out, when the hash of its id, read as a fraction, lies below the share. The same id
 * gives the same draws in every process; an episode with earlier exposures keeps their recorded draws, also after a change of the
 * shares; one whose order was not drawn yet may be drawn from then on. An episode that is shown nothing has no order to hold out.
 *
 * @param shares each in [0, 1]; 0 draws nothing
 */
export function drawEpisode(
  { id, earlier }: Pick<OpenEpisode, "id" | "earlier">,
  shares: { readonly holdout: number; readonly memoryOff: number },
): EpisodeDraws {
  const draw = (share: number, seed: number): HoldoutDraw | undefined =>
    share === 0 ? undefined : { share: Math.fround(share), held: textHash(id, seed) < share * 2 ** 32 };
  const memoryOff = earlier?.exposures.length ? earlier.memoryOff : draw(shares.memoryOff, SEED + 1);
  return { memoryOff, holdout: memoryOff?.held ? undefined : (earlier?.holdout ?? draw(shares.holdout, SEED)) };
}
