import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Document } from "@langchain/core/documents";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { LessonText } from "@qavr/lab";

/**
 * The lessons in LangChain's own vector store, which compares all of them exactly. A document carries its id and its text and nothing
 * else: only runs show whether it helps.
 */
export function lessonStore(
  lessons: readonly LessonText[],
  embeddings: EmbeddingsInterface,
): Promise<MemoryVectorStore> {
  const documents = lessons.map(({ id, text }) => new Document({ id, pageContent: text }));
  return MemoryVectorStore.fromDocuments(documents, embeddings);
}
