import { withoutExcessMarks } from "@qavr/core/adapter";

/** English words that say nothing about a request's subject; a fragment of these alone is no keyword. */
const STOP_WORDS = new Set(
  "a an and any are as at be by can do does for from had has have help how i if in into is it its me my not of on or our out please so that the their them then there these they this to up us use used using want was we were what when where which who will with you your".split(
    " ",
  ),
);

/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Vowel signs and other marks are part of words. Choices of an emoji's colour are marks as well. */
const LETTER = /(?!\p{Variation_Selector})[\p{L}\p{N}\p{M}]/u;

/** A comma, also of Chinese, Japanese and Arabic texts. */
export const COMMA: RegExp = /[,，、،]/;
/** A comma, a full stop, also of Arabic and Indian scripts, or a line end. */
const FRAGMENT_END = /[,，、،.．。｡۔।\n]/;

/** Lengths of a fragment of a description that is a keyword, in characters. */
const SHORTEST = 2;
const LONGEST = 20;

/**
 * The keywords of a procedure: its name, its tags, and of its description the phrases in 「」, or without those its fragments between
 * commas, full stops and line ends, of 2 to 20 characters. Fragments of stop words alone are none.
 */
export function keywordsOf({
  name,
  description,
  tags,
}: {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}): string[] {
  const quoted = [...description.matchAll(/「([^」]+)」/g)].map(([, phrase = ""]) => phrase);
  const fragments = quoted.length > 0 ? quoted : description.split(FRAGMENT_END);
  const all = [name, name.replace(/[-_]+/g, " "), ...tags, ...fragments].map(plain);
  return [...new Set(all)].filter(
    (phrase) =>
      phrase.length >= SHORTEST &&
      phrase.length <= LONGEST &&
      LETTER.test(phrase) &&
      !phrase.split(/\s+/).every((word) => STOP_WORDS.has(word)),
  );
}

/**
 * True if one of the keywords is in the request. In scripts with spaces a keyword is whole words: `git` is in "gitを使って" and not in
 * "digital".
 */
export function hasKeyword(request: string, keywords: readonly string[]): boolean {
  const text = plain(request);
  return keywords.some((keyword) => {
    for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, at + 1)) {
      if (!joins(text[at - 1], keyword[0]) && !joins(keyword.at(-1), text[at + keyword.length])) return true;
    }
    return false;
  });
}

/** True for two neighbours in one word. */
function joins(left: string | undefined, right: string | undefined): boolean {
  const isSpaced = (letter: string | undefined): boolean =>
    letter !== undefined && LETTER.test(letter) && !UNSPACED.test(letter);
  return isSpaced(left) && isSpaced(right);
}

/** Capitals first, as those of straße are STRASSE. İ has no small letter of its own. */
function plain(text: string): string {
  const capitals = withoutExcessMarks(text).normalize("NFKC").replaceAll("İ", "I").toUpperCase();
  return capitals.toLowerCase().replace(/\s+/g, " ").trim();
}
