/** Marks behind 32 others in a row. `ﾞ` and `ﾟ` become marks. */
const EXCESS_MARKS = /(?<=[\p{M}ﾞﾟ]{32})[\p{M}ﾞﾟ]+/gu;

/**
 * A text with at most 32 accents and other marks in a row, for `normalize()`: to order marks takes it the square of their number. No
 * language has as many.
 */
export function withoutExcessMarks(text: string): string {
  return text.replace(EXCESS_MARKS, "");
}
