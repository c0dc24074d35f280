const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 24 * MS_PER_HOUR;

/** Days from one time to another, both Unix ms; NaN if one of them is. */
export function daysBetween(earlier: number, later: number): number {
  return (later - earlier) / MS_PER_DAY;
}

/** Hours from one time to another, both Unix ms; NaN if one of them is. */
export function hoursBetween(earlier: number, later: number): number {
  return (later - earlier) / MS_PER_HOUR;
}

/** The later of two times where NaN means never. */
export function laterOf(known: number, at: number): number {
  return Number.isNaN(known) ? at : Math.max(known, at);
}
