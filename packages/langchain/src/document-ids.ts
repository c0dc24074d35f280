import type { DocumentInterface } from "@langchain/core/documents";
import { idIn, sha256, storableId, textId } from "@qavr/core/adapter";

export { storableId };

/** Names a document; undefined leaves it to the usual order. */
export type IdOf = (document: DocumentInterface) => string | undefined;

/** Further places of a document's id, besides `document.id` and `metadata._id`. */
export interface DocumentIdOptions {
  /** Names the document, before anything else does. Give it when the host's ids change between runs. @default undefined */
  readonly idOf?: IdOf | undefined;
  /** The metadata field that holds the id of a document without an `id`. @default undefined */
  readonly idKey?: string | undefined;
}

/**
 * The id under which a document's evidence is kept: `idOf(document)`, `document.id`, `metadata[idKey]`, `metadata._id`, else
 * a hash of its text, so that a store which keeps no ids (many do not) learns too; the price is that an edited text is a new
 * memory there. Ids that a ledger could not keep (too long, lone surrogates) are hashed.
 */
export function documentId(document: DocumentInterface, options: DocumentIdOptions): string {
  const metadata: Record<string, unknown> = document.metadata ?? {};
  const { idOf, idKey } = options;
  const named =
    idIn(idOf?.(document)) ??
    idIn(document.id) ??
    (idKey === undefined ? undefined : idIn(metadata[idKey])) ??
    idIn(metadata._id);
  return named === undefined ? textId(document.pageContent ?? "") : storableId(named);
}

/** A UUID of a JSON value, the same for an equal one, for stores that take no other ids or replace a document of the same id. */
export function hashedUuid(value: unknown): string {
  const hash = sha256(JSON.stringify(value));
  // Version 8: a UUID whose bits are the application's own (RFC 9562).
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return parts.join("-");
}
