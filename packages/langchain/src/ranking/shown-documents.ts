import type { DocumentInterface } from "@langchain/core/documents";
import type { RankedItem } from "@qavr/core";
import { type DocumentExplanation, explainDocument } from "./explain-document.js";

/** What is known about a document that a retrieval returned. */
export interface ShownDocument {
  readonly namespace: string;
  readonly episode: string;
  readonly exposure: number;
  readonly item: RankedItem;
}

/** The metadata field that `annotate: true` adds. */
export const ANNOTATION_KEY = "qavr";

/**
 * A side table from returned documents to what is known about them. Their metadata stays the host's own; entries go with
 * their documents.
 */
export interface ShownDocuments {
  /** A copy of the host's document that this table knows. */
  show(document: DocumentInterface, shown: ShownDocument, annotate: boolean): DocumentInterface;
  get(document: DocumentInterface): ShownDocument | undefined;
}

export function createShownDocuments(): ShownDocuments {
  const table = new WeakMap<object, ShownDocument>();
  return {
    show(document, shown, annotate) {
      const copy = copyOf(document, annotate ? explainDocument(shown) : undefined);
      table.set(copy, shown);
      return copy;
    },
    get: (document) => table.get(document),
  };
}

/**
 * A shallow copy of the same class. Some stores (HNSWLib, FAISS) return the very object that was added, for every request
 * alike, so neither a mutation nor an entry in the side table may land on it.
 */
function copyOf(document: DocumentInterface, extra: DocumentExplanation | undefined): DocumentInterface {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(document)), document) as DocumentInterface;
  if (extra) copy.metadata = { ...document.metadata, [ANNOTATION_KEY]: extra };
  return copy;
}
