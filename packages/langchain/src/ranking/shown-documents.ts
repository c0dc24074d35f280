import type { DocumentInterface } from "@langchain/core/documents";
import type { RankedItem } from "@qavr/core";

/** The ranking of a document that a retrieval returned. */
export interface ShownDocument {
  readonly namespace: string;
  readonly episode: string;
  readonly exposure: number;
  readonly item: RankedItem;
}

/** Why a returned document has its place. `similarity + learned + bonus + overlap + unverified = score`. */
export interface DocumentExplanation extends Omit<RankedItem, "index"> {
  readonly namespace: string;
  readonly episode: string;
  /** Its rank in the host's order, from 1: its place without learning. */
  readonly hostRank: number;
}

/** The explanation of a returned document. */
export function explainDocument({ namespace, episode, item }: ShownDocument): DocumentExplanation {
  const { index, ...terms } = item;
  return { ...terms, namespace, episode, hostRank: index + 1 };
}

/** The metadata field that `annotate: true` adds. */
export const ANNOTATION_KEY = "qavr";

/** A side table from returned documents to their ranking. Their metadata stays the host's own; entries are collected with their documents. */
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
 * A shallow copy of the same class. Some stores (HNSWLib, FAISS) return the object that was added, the same for every request, so
 * it may get neither a change nor an entry in the side table.
 */
function copyOf(document: DocumentInterface, extra: DocumentExplanation | undefined): DocumentInterface {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(document)), document) as DocumentInterface;
  if (extra) copy.metadata = { ...document.metadata, [ANNOTATION_KEY]: extra };
  return copy;
}
