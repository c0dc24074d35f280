import { HNSWLib } from "@langchain/community/vectorstores/hnswlib";
import { Embeddings } from "@langchain/core/embeddings";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { INDEX, type VectorIndexShape } from "../speed/vector-index.js";

/** A LangChain vector store over an HNSW index, and texts to ask it. */
export interface DocumentIndex {
  readonly store: HNSWLib;
  /** Text of a query, none of which is in the index. */
  question(query: number): string;
  readonly queries: number;
}

/** Knows the vector of every question: embedding costs a look-up, so that all of the time is the retriever's. */
class KnownEmbeddings extends Embeddings {
  readonly #vectors: ReadonlyMap<string, number[]>;

  constructor(vectors: ReadonlyMap<string, number[]>) {
    super({});
    this.#vectors = vectors;
  }

  override async embedQuery(text: string): Promise<number[]> {
    return this.#vectors.get(text) as number[];
  }

  override embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

/** Text of about the length of a short lesson. */
const TEXT =
  "When the card has not arrived after two weeks, check the address first, then offer a new one at no cost. ".repeat(2);

const question = (query: number): string => `question ${query}`;

/** Builds the same index as the engine's bench, through LangChain; some seconds at the usual size. */
export async function buildDocumentIndex(shape: VectorIndexShape = INDEX): Promise<DocumentIndex> {
  const { count, queries, dims, seed, ef } = shape;
  const vectors = embeddingLikeVectors({ count: count + queries, dims, seed }).map((vector) => Array.from(vector));
  const known = new Map(vectors.slice(count).map((vector, query) => [question(query), vector] as const));
  const store = new HNSWLib(new KnownEmbeddings(known), { space: "cosine", numDimensions: dims });
  const documents = Array.from({ length: count }, (_, i) => ({
    id: `m${i}`,
    pageContent: `${i} ${TEXT}`,
    metadata: {},
  }));
  await store.addVectors(vectors.slice(0, count), documents);
  store.index.setEf(ef);
  return { store, question, queries };
}
