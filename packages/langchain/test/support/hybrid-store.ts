import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import type { DocumentInterface } from "@langchain/core/documents";
import { corpus, TrigramEmbeddings } from "./corpus.js";

/** Searches text on its own terms, as hybrid and server-side stores do; its vector search throws, as Vectara's does. */
export class HybridStore extends MemoryVectorStore {
  readonly asked: [kind: "documents" | "scores", query: string, k: number | undefined][] = [];
  readonly #inside = new MemoryVectorStore(new TrigramEmbeddings());

  static async create(): Promise<HybridStore> {
    const store = new HybridStore(new TrigramEmbeddings());
    await store.#inside.addDocuments(corpus());
    return store;
  }

  override similaritySearch(query: string, k?: number): Promise<DocumentInterface[]> {
    this.asked.push(["documents", query, k]);
    return this.#inside.similaritySearch(query, k);
  }

  override similaritySearchWithScore(query: string, k?: number): Promise<[DocumentInterface, number][]> {
    this.asked.push(["scores", query, k]);
    return this.#inside.similaritySearchWithScore(query, k);
  }

  override similaritySearchVectorWithScore(): never {
    throw new Error("no vector search here");
  }
}
