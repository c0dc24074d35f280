import { CACHE_FOLDER, type Corpus, FIT_VERSION, keptOnDisk, type LessonText } from "@qavr/lab";
import { SIMILARITIES, type SimilarityName, similarities } from "./similarity.js";

/** A host's answer to one request. */
export interface Retrieved {
  /** Unit request vector of 256 floats. */
  readonly vector: Float32Array;
  /** Best first; `lesson` is a place in the split's lessons. At most {@link DEPTH}. */
  readonly candidates: readonly { readonly lesson: number; readonly similarity: number }[];
}

/** A host's answers to all requests of a corpus, computed once. */
export interface Retrieval {
  /** The best of {@link SIMILARITIES} on this corpus. */
  readonly similarity: SimilarityName;
  /** Share of held-out requests whose first candidate is about one of their needs, for each similarity. */
  readonly topical: Readonly<Record<SimilarityName, number>>;
  /** @param text a request of the stream or the held-out set */
  find(text: string): Retrieved;
}

/** Candidates per request. */
export const DEPTH = 50;

/** Raised whenever the arithmetic here or in its imports changes, so that old results stay unread. */
const RETRIEVAL_VERSION = 2;

/** Row by row: one vector of `dims`, and `depth` lessons with their similarities. */
interface Columns extends Pick<Retrieval, "similarity" | "topical"> {
  readonly dims: number;
  readonly depth: number;
  readonly vectors: Float32Array;
  readonly lessons: Uint16Array;
  readonly similarities: Float32Array;
}

/**
 * Finds the candidates of every request of a corpus. The similarity is the one with the most first candidates about the right need among
 * the held-out requests: a baseline chosen with hindsight, so that no gain is owed to a weak one.
 */
export async function retrieve(corpus: Corpus, folder: string = CACHE_FOLDER): Promise<Retrieval> {
  const { stream, heldOut } = corpus.split;
  const texts = [...new Set([...stream, ...heldOut].map((request) => request.text))];
  const columns = await keptOnDisk<Columns>({
    folder,
    kind: "retrieval",
    key: [RETRIEVAL_VERSION, FIT_VERSION, DEPTH, corpus.split],
    compute: () => computeColumns(corpus, texts),
  });
  const places = new Map(texts.map((text, place) => [text, place]));
  const { dims, depth, similarity, topical } = columns;
  return {
    similarity,
    topical,
    find(text) {
      const place = places.get(text) as number;
      return {
        vector: columns.vectors.subarray(place * dims, (place + 1) * dims),
        candidates: Array.from({ length: depth }, (_, rank) => ({
          lesson: columns.lessons[place * depth + rank] as number,
          similarity: columns.similarities[place * depth + rank] as number,
        })),
      };
    },
  };
}

function computeColumns({ split, embed }: Corpus, texts: readonly string[]): Columns {
  const { lessons, heldOut } = split;
  const compare = similarities(lessons, embed);
  const embedded = new Map(texts.map((text) => [text, embed(text)]));
  const score = (name: SimilarityName, text: string): Float64Array =>
    compare[name](text, embedded.get(text) as Float32Array);
  const topical = Object.fromEntries(
    SIMILARITIES.map((name) => {
      const hits = heldOut.filter(({ text, needs }) => {
        const [first] = best(score(name, text), 1) as [number];
        return needs.includes((lessons[first] as LessonText).need);
      });
      return [name, hits.length / heldOut.length];
    }),
  ) as Record<SimilarityName, number>;
  const similarity = SIMILARITIES.reduce((winner, name) => (topical[name] > topical[winner] ? name : winner));
  const depth = Math.min(DEPTH, lessons.length);
  const dims = embed("").length;
  const vectors = new Float32Array(texts.length * dims);
  const found = new Uint16Array(texts.length * depth);
  const values = new Float32Array(texts.length * depth);
  texts.forEach((text, place) => {
    vectors.set(embedded.get(text) as Float32Array, place * dims);
    const scores = score(similarity, text);
    best(scores, depth).forEach((lesson, rank) => {
      found[place * depth + rank] = lesson;
      values[place * depth + rank] = scores[lesson] as number;
    });
  });
  return { similarity, topical, dims, depth, vectors, lessons: found, similarities: values };
}

/** Places of the highest scores, highest first; ties in their order. */
function best(scores: Float64Array, count: number): number[] {
  if (count === 1) return [scores.reduce((top, score, place) => (score > (scores[top] as number) ? place : top), 0)];
  return Array.from(scores.keys())
    .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
    .slice(0, count);
}
