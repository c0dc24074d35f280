import type { DocumentInterface } from "@langchain/core/documents";
import { illegalOption, promptLine } from "@qavr/core/adapter";
import type { FoundItem } from "./langgraph/stored-item.js";
import { ANNOTATION_KEY, type ShownDocuments } from "./ranking/shown-documents.js";

/**
 * Documents and store items as prompt text, each with the short handle that tools and reports understand:
 *
 *     [m1] restart the payment service when the queue is stuck
 *
 * A memory without a handle (learning is off, or it came from elsewhere) starts with a dash.
 *
 * @throws INVALID_ARGUMENT for a value that is no list, such as a promise, and for texts and items of a store's own search
 */
export function formatMemories(memories: readonly (DocumentInterface | FoundItem)[], shown: ShownDocuments): string {
  if (!Array.isArray(memories))
    throw illegalOption("memories", "memories must be a list of documents or items, awaited before", memories);
  return memories
    .map((memory) => {
      const isDocument = typeof memory === "object" && memory !== null && "pageContent" in memory;
      const text: unknown = isDocument ? (memory.pageContent ?? "") : memory?.text;
      if (typeof text !== "string")
        throw illegalOption("memories", "memories must be documents, or items of memory.search()", memory);
      return promptLine(isDocument ? handleOf(memory, shown) : memory.handle, text);
    })
    .join("\n");
}

/** The short handle of a returned document; undefined for one that no ranking returned. */
export function handleOf(document: DocumentInterface, shown: ShownDocuments): string | undefined {
  const known = shown.get(document)?.item.handle;
  if (known) return known;
  // Annotated documents keep their handle through a checkpoint or a wire.
  const annotation: unknown = document.metadata?.[ANNOTATION_KEY];
  if (typeof annotation !== "object" || annotation === null) return undefined;
  const handle = (annotation as { handle?: unknown }).handle;
  // A stored document may bring such a field, too: a stranger's text stays behind its handle.
  return typeof handle === "string" && /^m\d+$/.test(handle) ? handle : undefined;
}
