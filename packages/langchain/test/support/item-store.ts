import { InMemoryStore } from "@langchain/langgraph";
import { corpus, TrigramEmbeddings } from "./corpus.js";

export const PREFIX: string[] = ["ops", "notes"];

/** LangGraph's own store with vector search, holding the corpus under `ops/notes`. */
export async function itemStore(): Promise<InMemoryStore> {
  const embeddings = new TrigramEmbeddings();
  const store = new InMemoryStore({ index: { dims: embeddings.dims, embeddings, fields: ["text"] } });
  for (const { id, pageContent, metadata } of corpus()) {
    await store.put(PREFIX, id as string, { text: pageContent, kind: metadata.kind });
  }
  return store;
}

export const keys = (items: readonly { key: string }[]): string[] => items.map(({ key }) => key);

/** The id under which an item of the corpus is learned. */
export const itemId = (key: string): string => JSON.stringify([...PREFIX, key]);
