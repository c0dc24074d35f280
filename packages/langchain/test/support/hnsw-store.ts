import { createRequire } from "node:module";
import { HNSWLib } from "@langchain/community/vectorstores/hnswlib";
import { corpus, TrigramEmbeddings } from "./corpus.js";

/** False where hnswlib-node could not be compiled on installation. */
export const hnswInstalled: boolean = isInstalled();

function isInstalled(): boolean {
  const community = createRequire(import.meta.url).resolve("@langchain/community/vectorstores/hnswlib");
  try {
    createRequire(community)("hnswlib-node");
    return true;
  } catch {
    return false;
  }
}

export async function hnswStore(): Promise<HNSWLib> {
  return HNSWLib.fromDocuments(corpus(), new TrigramEmbeddings());
}
