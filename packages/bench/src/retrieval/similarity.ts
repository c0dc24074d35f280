import type { Embed, LessonText } from "@qavr/lab";
import { bm25 } from "./bm25.js";

/** How a host without learning finds memories: by vectors, by words, or by the mean of both. */
export const SIMILARITIES = ["lsa", "bm25", "mean"] as const;
export type SimilarityName = (typeof SIMILARITIES)[number];

/** Similarities of all lessons to one request, given as text and unit vector; parallel to the lessons, higher is better. */
export type Compare = (text: string, vector: Float32Array) => Float64Array;

/**
 * Cosine of LSA vectors; BM25 over what a lesson scores on average for its own text, so mostly in [0, 1] and on one scale for all
 * requests; the mean of the two.
 */
export function similarities(lessons: readonly LessonText[], embed: Embed): Readonly<Record<SimilarityName, Compare>> {
  const vectors = lessons.map((lesson) => embed(lesson.text));
  const byWords = bm25(lessons.map((lesson) => lesson.text));
  const lsa: Compare = (_, vector) => Float64Array.from(vectors, (other) => dot(vector, other));
  const own = lessons.map(({ text }, place) => byWords(text)[place] as number);
  const scale = own.length / own.reduce((sum, score) => sum + score, 0);
  const words: Compare = (text) => byWords(text).map((score) => score * scale);
  const mean: Compare = (text, vector) => {
    const other = words(text, vector);
    return lsa(text, vector).map((score, place) => (score + (other[place] as number)) / 2);
  };
  return { lsa, bm25: words, mean };
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
