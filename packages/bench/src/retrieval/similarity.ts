import type { Embed } from "../embedding/lsa.js";
import type { LessonText } from "../world/split.js";
import { bm25 } from "./bm25.js";

/** How a host without learning finds memories: by vectors, by words, or by the mean of both. */
export const SIMILARITIES = ["lsa", "bm25", "mean"] as const;
export type SimilarityName = (typeof SIMILARITIES)[number];

/** Similarities of all lessons to one request, parallel to them; higher is better. */
export type Compare = (text: string) => Float64Array;

/** Cosine of LSA vectors; BM25 over its maximum, in [0, 1]; the mean of the two. */
export function similarities(lessons: readonly LessonText[], embed: Embed): Readonly<Record<SimilarityName, Compare>> {
  const vectors = lessons.map((lesson) => embed(lesson.text));
  const byWords = bm25(lessons.map((lesson) => lesson.text));
  const lsa: Compare = (text) => {
    const vector = embed(text);
    return Float64Array.from(vectors, (other) => dot(vector, other));
  };
  const words: Compare = (text) => {
    const scores = byWords(text);
    const best = scores.reduce((most, score) => Math.max(most, score), 0);
    return best > 0 ? scores.map((score) => score / best) : scores;
  };
  const mean: Compare = (text) => {
    const other = words(text);
    return lsa(text).map((score, place) => (score + (other[place] as number)) / 2);
  };
  return { lsa, bm25: words, mean };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
