import { memoryScope } from "./state-keys.js";

/**
 * Memories by utility, so that the best and the worst are found without reading all. Each memory with evidence lies in one of sixteen
 * bands, by its utility when it last learned: its record names the band, the band's scope lists its id, the collection's record has the
 * number of each band. The fold moves a memory when its band changes, which is rare once it has evidence.
 */
export const BANDS = 16;

/** A band's memories: ids without a value. */
export const bandScope = (band: number, collection: string): string => `band${band.toString(36)}:${collection}`;

/** Scopes of a collection beside its own record. */
export function scopesIn(collection: string): string[] {
  const bands = Array.from({ length: BANDS }, (_, i) => bandScope(i + 1, collection));
  return [memoryScope(collection), ...bands];
}

/**
 * The band of a utility, 1 to 16, never falling with it. u / (1 + |u|) lies in (−1, 1) for each finite u, and is cut into equal parts.
 *
 * @param evidence 0: in no band, which is 0
 */
export function bandOf({ utility, evidence }: { readonly utility: number; readonly evidence: number }): number {
  if (!(evidence > 0)) return 0;
  const place = (1 + utility / (1 + Math.abs(utility))) / 2;
  return 1 + Math.min(BANDS - 1, Math.floor(place * BANDS));
}
