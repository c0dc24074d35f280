/** Usual values (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). */
const SATURATION = 1.2;
const LENGTH_NORMALISATION = 0.75;

const WORD = /[\p{L}\p{N}_]+/gu;

/** Scores all documents for a query: a Float64Array parallel to the documents, 0 for one that shares no word. */
export type Bm25 = (query: string) => Float64Array;

/**
 * Okapi BM25 with k₁ = 1.2, b = 0.75 over lower-cased words; each word of the query counts once.
 *
 * score(d, q) = Σ ln(1 + (N − n + ½)/(n + ½)) · f·(k₁ + 1) / (f + k₁·(1 − b + b·|d|/avg)), with f occurrences in d, n documents with the word
 */
export function bm25(documents: readonly string[]): Bm25 {
  const words = documents.map(wordsOf);
  const average = words.reduce((sum, list) => sum + list.length, 0) / documents.length;
  const postings = new Map<string, Map<number, number>>();
  words.forEach((list, document) => {
    for (const word of list) {
      const posting = postings.get(word) ?? new Map<number, number>();
      posting.set(document, (posting.get(document) ?? 0) + 1);
      postings.set(word, posting);
    }
  });
  return (query) => {
    const scores = new Float64Array(documents.length);
    for (const word of new Set(wordsOf(query))) {
      const posting = postings.get(word);
      if (!posting) continue;
      const idf = Math.log(1 + (documents.length - posting.size + 0.5) / (posting.size + 0.5));
      for (const [document, count] of posting) {
        const length = (words[document] as readonly string[]).length / average;
        const saturated =
          (count * (SATURATION + 1)) /
          (count + SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * length));
        scores[document] = (scores[document] as number) + idf * saturated;
      }
    }
    return scores;
  };
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}
