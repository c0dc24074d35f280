import type { TermExtractor } from "./terms.js";

/** Which terms of one kind are features, and how rare each is. */
export interface Vocabulary {
  /** Ascending by UTF-16 code units; the place is the feature's number. */
  readonly terms: readonly string[];
  /** ln((1 + N) / (1 + document frequency)) + 1, parallel to `terms`. */
  readonly idf: Float64Array;
}

/** Features of one text: numbers ascending, values parallel, unit length (empty for a text without known terms). */
export interface SparseVector {
  readonly features: Int32Array;
  readonly values: Float64Array;
}

/** A term in fewer documents is no feature. */
const LEAST_DOCUMENTS = 2;

/** Chooses the features of a corpus. @param most features, which are the most frequent ones */
export function fitVocabulary(texts: readonly string[], extract: TermExtractor, most = 60_000): Vocabulary {
  const documents = new Map<string, number>();
  const occurrences = new Map<string, number>();
  for (const text of texts) {
    for (const [term, count] of countTerms(extract(text))) {
      documents.set(term, (documents.get(term) ?? 0) + 1);
      occurrences.set(term, (occurrences.get(term) ?? 0) + count);
    }
  }
  const kept = [...documents].filter(([, frequency]) => frequency >= LEAST_DOCUMENTS).map(([term]) => term);
  kept.sort();
  // A stable sort on top of the alphabetical one: equally frequent terms stay in alphabetical order.
  kept.sort((a, b) => (occurrences.get(b) as number) - (occurrences.get(a) as number));
  const terms = kept.slice(0, most).sort();
  const idf = Float64Array.from(
    terms,
    (term) => Math.log((1 + texts.length) / (1 + (documents.get(term) as number))) + 1,
  );
  return { terms, idf };
}

/** Weighs texts by a vocabulary: (1 + ln count) · idf, scaled to unit length. */
export function tfIdfWeigher(vocabulary: Vocabulary, extract: TermExtractor): (text: string) => SparseVector {
  const numbers = new Map(vocabulary.terms.map((term, feature) => [term, feature]));
  return (text) => {
    const found: (readonly [feature: number, value: number])[] = [];
    for (const [term, count] of countTerms(extract(text))) {
      const feature = numbers.get(term);
      if (feature !== undefined) found.push([feature, (1 + Math.log(count)) * (vocabulary.idf[feature] as number)]);
    }
    found.sort((a, b) => a[0] - b[0]);
    let squares = 0;
    for (const [, value] of found) squares += value * value;
    const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
    return {
      features: Int32Array.from(found, ([feature]) => feature),
      values: Float64Array.from(found, ([, value]) => value * scale),
    };
  };
}

function countTerms(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
