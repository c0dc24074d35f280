import { HNSWLib } from "@langchain/community/vectorstores/hnswlib";
import { Document } from "@langchain/core/documents";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { LessonText } from "@qavr/bench";

/** Wide enough for an exact answer at this size: plain similarity must not look worse than it is. */
const EF = 200;

/**
 * The lessons in a real HNSWLib store. A document carries its id and its text and nothing else: whether it helps is for the
 * runs to find out.
 */
export async function lessonStore(lessons: readonly LessonText[], embeddings: EmbeddingsInterface): Promise<HNSWLib> {
  const documents = lessons.map(({ id, text }) => new Document({ id, pageContent: text }));
  const store = await HNSWLib.fromDocuments(documents, embeddings);
  store.index.setEf(EF);
  return store;
}
