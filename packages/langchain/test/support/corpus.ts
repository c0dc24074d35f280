import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Document } from "@langchain/core/documents";
import { Embeddings } from "@langchain/core/embeddings";

/** Deterministic embeddings: counts of hashed character trigrams, unit length. Counts its calls. */
export class TrigramEmbeddings extends Embeddings {
  queries = 0;

  constructor(readonly dims: number = 64) {
    super({});
  }

  embedQuery(text: string): Promise<number[]> {
    this.queries += 1;
    return Promise.resolve(this.#embed(text));
  }

  embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.resolve(texts.map((text) => this.#embed(text)));
  }

  #embed(text: string): number[] {
    const counts = new Array<number>(this.dims).fill(0);
    const padded = ` ${text.toLowerCase()} `;
    for (let i = 0; i + 3 <= padded.length; i++) {
      let hash = 2166136261;
      for (const character of padded.slice(i, i + 3)) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
      counts[(hash >>> 0) % this.dims]! += 1;
    }
    const norm = Math.hypot(...counts) || 1;
    return counts.map((count) => count / norm);
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  restart: "restart the payment service when the payment queue is stuck",
  clear: "clear the payment queue before restarting the payment service",
  scale: "scale the payment workers when the payment queue grows",
  coffee: "the office coffee machine needs descaling every month",
  suspending: "suspending permits are handed out at the front desk",
  holiday: "public holidays are listed in the staff calendar",
};

/** Six memories, three of them about payments; fresh objects at every call. */
export function corpus(): Document[] {
  return Object.entries(TEXTS).map(
    ([id, pageContent]) => new Document({ id, pageContent, metadata: { kind: id.length > 6 ? "long" : "short" } }),
  );
}

export async function memoryVectorStore(documents: Document[] = corpus()): Promise<MemoryVectorStore> {
  const store = new MemoryVectorStore(new TrigramEmbeddings());
  await store.addDocuments(documents);
  return store;
}

/** Keeps only one document: which memory a run is shown can then be chosen per run. */
export const only =
  (id: string) =>
  (document: { id?: string | undefined }): boolean =>
    document.id === id;

export function ids(documents: readonly { id?: string | undefined }[]): (string | undefined)[] {
  return documents.map(({ id }) => id);
}
