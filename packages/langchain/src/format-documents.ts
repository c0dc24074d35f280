import type { DocumentInterface } from "@langchain/core/documents";
import { ANNOTATION_KEY, type ShownDocuments } from "./shown-documents.js";

/**
 * Documents as prompt text, one per line, each with the short handle that tools and reports understand:
 *
 *     [m1] restart the payment service when the queue is stuck
 *
 * Further lines of a text are indented, so that no text can pass for another memory. A document without a handle (learning
 * is off, or it came from elsewhere) starts with a dash.
 */
export function formatDocuments(documents: readonly DocumentInterface[], shown: ShownDocuments): string {
  return documents
    .map((document) => {
      const handle = handleOf(document, shown);
      const text = (document.pageContent ?? "").replaceAll(/\r\n?|\n/g, "\n  ");
      return handle === undefined ? `- ${text}` : `[${handle}] ${text}`;
    })
    .join("\n");
}

function handleOf(document: DocumentInterface, shown: ShownDocuments): string | undefined {
  const known = shown.get(document)?.item.handle;
  if (known) return known;
  // Annotated documents keep their handle through a checkpoint or a wire.
  const annotation: unknown = document.metadata?.[ANNOTATION_KEY];
  if (typeof annotation !== "object" || annotation === null) return undefined;
  const handle = (annotation as { handle?: unknown }).handle;
  return typeof handle === "string" && handle !== "" ? handle : undefined;
}
