/** Counts the tokens of a text: a whole number, at least 0. */
export type CountTokens = (text: string) => number | Promise<number>;

const BYTES_PER_TOKEN = 4;

/**
 * An estimate without a tokenizer: a quarter of the UTF-8 bytes. About right for English, somewhat high for code, and close
 * to one token per character for Chinese, Japanese and Korean, where counting characters would be four times too low.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
}

/**
 * Which of the texts fit into a budget, by place, best first: one that does not fit is skipped, and the next that does is
 * taken, so that one long memory cannot keep all others out.
 *
 * @param spent Tokens that are spent already.
 * @throws RangeError when the counter gives no number of tokens
 */
export async function fitting(
  texts: readonly string[],
  {
    maxTokens,
    spent,
    countTokens,
  }: { readonly maxTokens: number; readonly spent: number; readonly countTokens: CountTokens },
): Promise<number[]> {
  const counts = await Promise.all(texts.map(countTokens));
  const kept: number[] = [];
  let total = spent;
  counts.forEach((count, place) => {
    if (!(count >= 0 && Number.isFinite(count)))
      throw new RangeError(`countTokens must give a number of tokens. It gave ${count}.`);
    if (total + count > maxTokens) return;
    total += count;
    kept.push(place);
  });
  return kept;
}
