import { mock } from "node:test";
import { TimeWeightedVectorStoreRetriever } from "@langchain/classic/retrievers/time_weighted";
import { type Document, Document as LangChainDocument } from "@langchain/core/documents";
import { FakeEmbeddings } from "@langchain/core/utils/testing";
import { VectorStore } from "@langchain/core/vectorstores";
import type { World } from "@qavr/lab";
import { type Arm, type Asked, FIRST_RUN, RUN_INTERVAL } from "./arm.js";

/** Candidates that the retriever may choose from; as many as every other row. */
const FETCHED = 50;

/**
 * LangChain's own `TimeWeightedVectorStoreRetriever` through its public API: similarity plus 0.99 per hour since a memory was last
 * returned. It learns from nothing but its own answers.
 */
export async function timeWeightedArm(world: World): Promise<Arm> {
  // The retriever reads the clock of the process: it is set to the world's time.
  mock.timers.enable({ apis: ["Date"], now: FIRST_RUN });
  const host = new HostStore();
  const retriever = new TimeWeightedVectorStoreRetriever({
    vectorStore: host,
    memoryStream: [],
    searchKwargs: FETCHED,
    // It returns one more than it is asked for.
    k: world.k - 1,
  });
  await retriever.addDocuments(
    world.lessons.map(({ id, text }) => new LangChainDocument({ id, pageContent: text, metadata: {} })),
  );
  const answer = async (asked: Asked): Promise<readonly string[]> => {
    host.asked = asked;
    const found = await retriever.invoke(asked.request.text);
    return found.map((document) => document.id as string);
  };
  return {
    show: answer,
    async learn() {
      mock.timers.setTime(Date.now() + RUN_INTERVAL);
    },
    async preview(asked) {
      const before = retriever.getMemoryStream().map((document) => ({ document, metadata: { ...document.metadata } }));
      const shown = await answer(asked);
      for (const { document, metadata } of before) document.metadata = metadata;
      return shown;
    },
    async close() {
      mock.timers.reset();
    },
  };
}

/** The host that all rows share, as a LangChain vector store: it answers with the candidates of the request at hand. */
class HostStore extends VectorStore {
  readonly #documents = new Map<string, Document>();
  asked: Asked | undefined;

  constructor() {
    // Never called: answers are known by the request's text.
    super(new FakeEmbeddings(), {});
  }

  override _vectorstoreType(): string {
    return "bench-host";
  }

  override async addDocuments(documents: Document[]): Promise<void> {
    for (const document of documents) this.#documents.set(document.id as string, document);
  }

  override async addVectors(): Promise<void> {
    throw new Error("This store takes documents only.");
  }

  override async similaritySearchVectorWithScore(): Promise<[Document, number][]> {
    throw new Error("This store searches by text only.");
  }

  override async similaritySearchWithScore(_query: string, count = FETCHED): Promise<[Document, number][]> {
    const { candidates = [] } = this.asked ?? {};
    return candidates
      .slice(0, count)
      .map(({ id, similarity }) => [this.#documents.get(id) as Document, similarity] as [Document, number]);
  }
}
