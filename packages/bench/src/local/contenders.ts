import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { BM25Retriever } from "@langchain/community/retrievers/bm25";
import { Document } from "@langchain/core/documents";
import { Embeddings } from "@langchain/core/embeddings";
import { localMemories } from "@qavr/local";
import MiniSearch from "minisearch";

/** Hits that every search returns. */
export const RETURNED = 10;

/** Texts to search and the vectors of everything that is embedded. */
export interface Input {
  readonly texts: readonly string[];
  /** The vector of a text or a request. */
  vector(text: string): number[];
  /** For files. */
  readonly folder: string;
}

/** A filled search. */
export interface Filled {
  /** Places of the texts that it finds, best first. */
  search(text: string): Promise<readonly number[]>;
}

/** One of the compared searches. */
export interface Contender {
  readonly name: string;
  /** The request as it is asked: one without words of the texts leaves a collection its vectors only. */
  readonly asked?: (text: string) => string;
  fill(input: Input): Promise<Filled>;
  /** Opens what `fill` has left on the disk. @default nothing is left: opening is filling again */
  open?(input: Input): Promise<Filled>;
}

/** Puts a request into words that no text has. */
const WORDLESS = (text: string): string => `§${Buffer.from(text).toString("hex")}`;

class KnownEmbeddings extends Embeddings {
  constructor(readonly vector: (text: string) => number[]) {
    super({});
  }

  override async embedQuery(text: string): Promise<number[]> {
    return this.vector(text);
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    return texts.map((text) => this.vector(text));
  }
}

const placeOf = ({ metadata }: { readonly metadata: Record<string, unknown> }): number => metadata.place as number;
const documentsOf = ({ texts }: Input): Document[] =>
  texts.map((pageContent, place) => new Document({ pageContent, metadata: { place } }));
const vectorsOf = ({ texts, vector }: Input): number[][] => texts.map((text) => vector(text));

function collection(name: string, embeds: boolean, asked?: (text: string) => string): Contender {
  const openAt = ({ folder, vector }: Input) => {
    const path = join(folder, `${embeds ? "vectors" : "words"}.db`);
    return { path, memories: () => localMemories({ path, ...(embeds ? { embed: new KnownEmbeddings(vector) } : {}) }) };
  };
  const searching = (memories: ReturnType<typeof localMemories>): Filled => ({
    search: async (text) => (await memories.search({ text, limit: RETURNED })).map(({ id }) => Number(id)),
  });
  return {
    name,
    ...(asked ? { asked } : {}),
    async fill(input) {
      const { path, memories } = openAt(input);
      await Promise.all(["", "-wal", "-shm"].map((suffix) => rm(path + suffix, { force: true })));
      const opened = memories();
      await opened.add(input.texts.map((text, place) => ({ id: String(place), text })));
      return searching(opened);
    },
    open: async (input) => searching(openAt(input).memories()),
  };
}

const memoryVectorStore = async (input: Input): Promise<MemoryVectorStore> => {
  const store = new MemoryVectorStore(new KnownEmbeddings(input.vector));
  await store.addVectors(vectorsOf(input), documentsOf(input));
  return store;
};

/** Names that aims compare. */
export const HYBRID = "localMemories, words and vectors";
export const SCAN = "localMemories, vectors alone";
export const WORDS = "localMemories, words";
export const HNSW = "HNSWLib";
export const ENSEMBLE = "EnsembleRetriever, BM25 and MemoryVectorStore";

/** Every compared search. HNSWLib needs hnswlib-node, which is compiled on installation. */
export const CONTENDERS: readonly Contender[] = [
  collection(WORDS, false),
  collection(SCAN, true, WORDLESS),
  collection(HYBRID, true),
  {
    name: "MemoryVectorStore",
    async fill(input) {
      const store = await memoryVectorStore(input);
      return { search: async (text) => (await store.similaritySearch(text, RETURNED)).map(placeOf) };
    },
  },
  {
    name: HNSW,
    async fill(input) {
      const { HNSWLib } = await import("@langchain/community/vectorstores/hnswlib");
      const store = new HNSWLib(new KnownEmbeddings(input.vector), { space: "cosine" });
      await store.addVectors(vectorsOf(input), documentsOf(input));
      store.index.setEf(64);
      await store.save(join(input.folder, "hnsw"));
      return { search: async (text) => (await store.similaritySearch(text, RETURNED)).map(placeOf) };
    },
    async open(input) {
      const { HNSWLib } = await import("@langchain/community/vectorstores/hnswlib");
      const store = await HNSWLib.load(join(input.folder, "hnsw"), new KnownEmbeddings(input.vector));
      store.index.setEf(64);
      return { search: async (text) => (await store.similaritySearch(text, RETURNED)).map(placeOf) };
    },
  },
  {
    name: "BM25Retriever",
    async fill(input) {
      const retriever = BM25Retriever.fromDocuments(documentsOf(input), { k: RETURNED });
      return { search: async (text) => (await retriever.invoke(text)).map(placeOf) };
    },
  },
  {
    name: ENSEMBLE,
    async fill(input) {
      const store = await memoryVectorStore(input);
      const words = BM25Retriever.fromDocuments(documentsOf(input), { k: RETURNED });
      const retriever = new EnsembleRetriever({
        retrievers: [words, store.asRetriever(RETURNED)],
        weights: [0.5, 0.5],
      });
      return { search: async (text) => (await retriever.invoke(text)).slice(0, RETURNED).map(placeOf) };
    },
  },
  {
    name: "MiniSearch",
    async fill({ texts }) {
      const index = new MiniSearch<{ readonly id: number; readonly text: string }>({ fields: ["text"] });
      index.addAll(texts.map((text, id) => ({ id, text })));
      return {
        search: async (text) =>
          index
            .search(text)
            .slice(0, RETURNED)
            .map(({ id }) => id as number),
      };
    },
  },
];
