const MS_PER_DAY = 86_400_000;

/** Days from one time to another, both Unix ms; NaN if one of them is. */
export function daysBetween(earlier: number, later: number): number {
  return (later - earlier) / MS_PER_DAY;
}

/** The later of two times where NaN means never. */
export function laterOf(known: number, at: number): number {
  return Number.isNaN(known) ? at : Math.max(known, at);
}
