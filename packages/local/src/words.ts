import { withoutExcessMarks } from "@qavr/core/adapter";

/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const WORD = /[\p{L}\p{N}\p{M}]+|\p{RI}{2}|\p{Extended_Pictographic}/gu;
/** Combining accents of Latin, Greek and Cyrillic, and vowel points of Hebrew and Arabic. Marks of other scripts are part of their words. */
const ACCENTS = /[\u0300-\u036f\u05b0-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u0652]/g;
/** Signs inside words that change how they look: soft hyphens, joiners, choices of a glyph or of an emoji's colour. */
const UNSEEN = /\p{Variation_Selector}|[\u00ad\u2060\ufeff]|\u200d/gu;
/** Longest word, in UTF-16 units; the rest of an encoded file or a digest is cut off. */
const LONGEST = 64;

let segmenter: Intl.Segmenter | undefined;

/**
 * The words of a text in any language, in order: NFKC, in one case (capitals first, as those of straße are STRASSE), without accents and
 * unseen signs. Texts and requests are cut by this one rule. A word is one emoji or has letters, digits and marks only, which SQLite's
 * `ascii` tokenizer keeps as one token.
 */
export function wordsOf(text: string): string[] {
  // Unseen signs first: they part rows of marks.
  const decomposed = withoutExcessMarks(text.replace(UNSEEN, "")).normalize("NFKD").replace(ACCENTS, "");
  const plain = decomposed.normalize("NFC").toUpperCase().toLowerCase();
  const words: string[] = [];
  for (const word of plain.match(WORD) ?? []) {
    if (!UNSPACED.test(word)) {
      words.push(word.slice(0, LONGEST));
      continue;
    }
    // A fixed locale, so that every machine cuts alike.
    segmenter ??= new Intl.Segmenter("en", { granularity: "word" });
    for (const { segment } of segmenter.segment(word)) words.push(segment.slice(0, LONGEST));
  }
  return words;
}
