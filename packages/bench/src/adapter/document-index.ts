import { HNSWLib } from "@langchain/community/vectorstores/hnswlib";
import type { Document } from "@langchain/core/documents";
import { Embeddings } from "@langchain/core/embeddings";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { INDEX, type VectorIndexShape } from "../speed/vector-index.js";
import type { ModelCalls } from "./model-calls.js";

/** A LangChain vector store over an HNSW index, and texts to ask it. */
export interface DocumentIndex {
  readonly store: HNSWLib;
  readonly embeddings: Embeddings;
  /** Every document of the store. */
  readonly documents: readonly Document[];
  /** Text of a query, none of which is in the index. */
  question(query: number): string;
  readonly queries: number;
}

/** BM25 reads every document at every query: 3,000 are enough to compare with. */
export const DOCUMENTS: VectorIndexShape = { ...INDEX, count: 3_000 };

/** Knows the vector of every text; an embedding costs a look-up and the delay of one call. */
class KnownEmbeddings extends Embeddings {
  readonly #vectors: ReadonlyMap<string, number[]>;
  readonly #calls: ModelCalls;

  constructor(vectors: ReadonlyMap<string, number[]>, calls: ModelCalls) {
    super({});
    this.#vectors = vectors;
    this.#calls = calls;
  }

  override async embedQuery(text: string): Promise<number[]> {
    return (await this.embedDocuments([text]))[0] as number[];
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    await this.#calls.answered();
    return texts.map((text) => this.#vectors.get(text) as number[]);
  }
}

/** Text of about the length of a short lesson. */
const TEXT =
  "When the card has not arrived after two weeks, check the address first, then offer a new one at no cost. ".repeat(2);

const question = (query: number): string => `question ${query}`;

/** Builds the same index as the engine's bench, through LangChain; some seconds at the usual size. */
export async function buildDocumentIndex(
  calls: ModelCalls,
  { count, queries, dims, seed, ef }: VectorIndexShape = DOCUMENTS,
): Promise<DocumentIndex> {
  const vectors = embeddingLikeVectors({ count: count + queries, dims, seed }).map((vector) => Array.from(vector));
  const documents = Array.from({ length: count }, (_, i) => ({
    id: `m${i}`,
    pageContent: `${i} ${TEXT}`,
    // `buffer_idx` and the times are what TimeWeightedVectorStoreRetriever needs.
    metadata: { source: `lessons/${i}.md`, buffer_idx: i, created_at: 0, last_accessed_at: 0 },
  }));
  const texts = [
    ...documents.map(({ pageContent }) => pageContent),
    ...Array.from({ length: queries }, (_, i) => question(i)),
  ];
  const known = new Map(texts.map((text, i) => [text, vectors[i] as number[]]));
  const embeddings = new KnownEmbeddings(known, calls);
  const store = new HNSWLib(embeddings, { space: "cosine", numDimensions: dims });
  await store.addVectors(vectors.slice(0, count), documents);
  store.index.setEf(ef);
  return { store, embeddings, documents, question, queries };
}
