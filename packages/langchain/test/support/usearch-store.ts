import { USearch } from "@langchain/community/vectorstores/usearch";
import type { Document } from "@langchain/core/documents";
import { corpus, TrigramEmbeddings } from "./corpus.js";

/** A native index of distances; it brings its binary along. */
export function usearchStore(documents: Document[] = corpus()): Promise<USearch> {
  return USearch.fromDocuments(documents, new TrigramEmbeddings());
}
