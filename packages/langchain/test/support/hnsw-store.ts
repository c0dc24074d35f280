import { HNSWLib } from "@langchain/community/vectorstores/hnswlib";
import type { Document } from "@langchain/core/documents";
import { corpus, TrigramEmbeddings } from "./corpus.js";

export async function hnswStore(documents: Document[] = corpus()): Promise<HNSWLib> {
  return HNSWLib.fromDocuments(documents, new TrigramEmbeddings());
}
