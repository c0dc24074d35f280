/** Terms that a text is made of, repeats included. */
export type TermExtractor = (text: string) => readonly string[];

const WORD = /[\p{L}\p{N}_]+/gu;
const CHARACTER_SIZES = [3, 4, 5] as const;

/** Lower-cased words and pairs of neighbouring words. */
export function wordTerms(text: string): readonly string[] {
  const words = text.toLowerCase().match(WORD) ?? [];
  const terms: string[] = [...words];
  for (let i = 1; i < words.length; i++) terms.push(`${words[i - 1]} ${words[i]}`);
  return terms;
}

/**
 * Runs of 3, 4 and 5 characters inside each blank-separated word, the word padded with one space on both sides, so that
 * beginnings and ends are terms of their own. A padded word shorter than a run counts once, whole.
 */
export function characterTerms(text: string): readonly string[] {
  const terms: string[] = [];
  for (const word of text.toLowerCase().split(/\s+/)) {
    if (word.length === 0) continue;
    const padded = ` ${word} `;
    for (const size of CHARACTER_SIZES) {
      if (padded.length <= size) {
        terms.push(padded);
        break;
      }
      for (let start = 0; start + size <= padded.length; start++) terms.push(padded.slice(start, start + size));
    }
  }
  return terms;
}
