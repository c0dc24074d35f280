import { Document, type DocumentInterface } from "@langchain/core/documents";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { QavrError } from "@qavr/core";
import { groupIn } from "@qavr/core/adapter";

/** A body of memories that is searched by text, such as `localMemories()` of `@qavr/local`. */
export interface TextCollection {
  /** Its name in the ledger. */
  readonly name: string;
  /** Whose memories these are. @default "default" */
  readonly namespace?: string | undefined;
  /** The best matches, best first. `similarity`: higher is better, finite, on one scale for all searches. */
  search(query: { readonly text: string; readonly limit?: number; readonly filter?: never }): Promise<
    readonly {
      readonly id: string;
      readonly text: string;
      readonly similarity: number;
      readonly query?: string | undefined;
      readonly metadata?: object | undefined;
      /** Its tool, intent, file or topic. `grouped` of `@qavr/learners` learns from it. @default no group */
      readonly group?: string | undefined;
    }[]
  >;
  /** For `addDocuments`. @default documents cannot be added */
  add?(
    memories: readonly {
      readonly id?: string;
      readonly text: string;
      readonly query?: string;
      readonly metadata?: never;
    }[],
  ): Promise<string[]>;
  /** The memories of another namespace. @default memories are not kept apart */
  of?(namespace: string): TextCollection;
  /** For `delete`. @default documents cannot be deleted */
  delete?(ids: readonly string[]): Promise<unknown>;
}

/** Groups that collections named: documents have no field for them. */
const groups = new WeakMap<DocumentInterface, string | undefined>();

/** The group of a document, as its metadata has it under a key, else as its collection named it. */
export function groupOf(document: DocumentInterface, key: string | undefined): string | undefined {
  return groupIn(document.metadata, key) ?? groups.get(document);
}

/** True for a collection that is no vector store or retriever of LangChain. */
export function isTextCollection(base: unknown): base is TextCollection {
  const collection = base as (Partial<TextCollection> & { readonly invoke?: unknown }) | null | undefined;
  return (
    typeof collection?.search === "function" &&
    typeof collection.name === "string" &&
    typeof collection.invoke !== "function"
  );
}

/** A collection as LangChain asks vector stores: each memory is a document. */
export function asVectorStore(collection: TextCollection): VectorStoreInterface {
  const search = async (text: string, limit?: number, filter?: unknown): Promise<[Document, number][]> => {
    const hits = await collection.search({
      text,
      ...(limit === undefined ? {} : { limit }),
      ...(filter === undefined ? {} : { filter: filter as never }),
    });
    if (!Array.isArray(hits)) {
      throw new QavrError("INVALID_ARGUMENT", `The search of the collection ${collection.name} must return a list.`);
    }
    return hits.map((hit) => {
      const { id, text: pageContent, similarity, query, metadata = {} } = hit;
      const named = { ...metadata, ...(query === undefined ? {} : { query }) };
      const document = new Document({ id, pageContent, metadata: named });
      groups.set(document, groupIn(hit, "group"));
      return [document, similarity];
    });
  };
  const store: Partial<VectorStoreInterface> = {
    _vectorstoreType: () => "text_collection",
    similaritySearchWithScore: search,
    similaritySearch: async (text, k, filter) => (await search(text, k, filter)).map(([document]) => document),
    async addDocuments(documents, { ids = [] }: { readonly ids?: readonly string[] } = {}) {
      if (!collection.add) throw without(collection, "add");
      return collection.add(
        documents.map(({ id, pageContent, metadata }, place) => {
          const own = ids[place] ?? id;
          return { ...(own === undefined ? {} : { id: own }), text: pageContent, metadata: metadata as never };
        }),
      );
    },
    async delete({ ids }: { readonly ids?: readonly string[] } = {}) {
      if (!collection.delete) throw without(collection, "delete");
      // The collection says what is missing.
      await collection.delete(ids as readonly string[]);
    },
    addVectors: () => Promise.reject(without(collection, "addVectors")),
    similaritySearchVectorWithScore: () => Promise.reject(without(collection, "similaritySearchVectorWithScore")),
  };
  return store as VectorStoreInterface;
}

function without({ name }: TextCollection, method: string): QavrError {
  return new QavrError(
    "UNSUPPORTED",
    `The collection ${name} has no ${method}. It is searched by text; use its own methods for the rest.`,
  );
}
