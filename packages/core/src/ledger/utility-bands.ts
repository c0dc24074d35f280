import { memoryScope } from "./state-keys.js";

/**
 * Memories by utility, so that the best and the worst are found without reading all. Each memory with evidence lies in one of 32 bands,
 * by its utility when it last learned, or beside it: its record names the band, the band's scope lists its id, the collection's record
 * has the number of each band. The fold moves a memory when its utility is further than {@link SLACK} bands away, which is rare once it
 * has evidence.
 *
 * Sixteen bands for each sign, which begin at 0 and at 2^(i/2 − 6), i = 0 … 14: on any scale of utilities, the outermost band with
 * members has few of them.
 */
const SIDE = 16;
export const BANDS: number = 2 * SIDE;
/** Bands between the one that lists a memory and the one of its utility, at most. 0 would write twice as often, 2 read twice as much. */
export const SLACK = 1;

/** A band's memories: ids without a value. */
export const bandScope = (band: number, collection: string): string => `band${band.toString(36)}:${collection}`;

/** Scopes of a collection beside its own record. */
export function scopesIn(collection: string): string[] {
  const bands = Array.from({ length: BANDS }, (_, i) => bandScope(i + 1, collection));
  return [memoryScope(collection), ...bands];
}

/**
 * The band of a utility, 1 to 32, never falling with it.
 *
 * @param evidence 0: in no band, which is 0
 */
export function bandOf({ utility, evidence }: { readonly utility: number; readonly evidence: number }): number {
  if (!(evidence > 0)) return 0;
  let above = 0;
  // Powers of two are exact everywhere, and so is a replay.
  while (above < SIDE - 1 && utility * utility >= 2 ** (above - 12)) above++;
  return utility < 0 ? SIDE - above : SIDE + 1 + above;
}
