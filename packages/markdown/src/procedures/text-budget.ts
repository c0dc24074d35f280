import { blocksOf } from "../blocks.js";

/** Counts the tokens of a text: a whole number, at least 0. */
export type CountTokens = (text: string) => number;

/** An estimate without a tokenizer: a quarter of the UTF-8 bytes. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** A text within a budget. */
export interface FittedText {
  /** Place in the list given. */
  readonly index: number;
  readonly text: string;
  readonly tokens: number;
  /** True when the text ends before one of its headings. */
  readonly truncated: boolean;
}

/**
 * The texts that fit into a budget, in order. One that does not fit ends before a heading, where its first sections do; else it is
 * skipped, so that it keeps no shorter one out.
 */
export function fittedTexts(texts: readonly string[], budget: number, countTokens: CountTokens): FittedText[] {
  let left = budget;
  return texts.flatMap((text, index): FittedText[] => {
    const whole = countTokens(text);
    if (whole <= left) {
      left -= whole;
      return [{ index, text, tokens: whole, truncated: false }];
    }
    for (const end of sectionEnds(text)) {
      const part = text.slice(0, end).trimEnd();
      const tokens = countTokens(part);
      if (tokens > left) continue;
      left -= tokens;
      return [{ index, text: part, tokens, truncated: true }];
    }
    return [];
  });
}

/** Offsets before which a text may end, the last ones first: its headings, but those before any other text. */
function sectionEnds(text: string): number[] {
  let hasText = false;
  const ends: number[] = [];
  for (const { type, position } of blocksOf(text)) {
    if (type === "heading" && hasText && position?.start.offset !== undefined) ends.push(position.start.offset);
    if (type !== "heading") hasText = true;
  }
  return ends.reverse();
}
