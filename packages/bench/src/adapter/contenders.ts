import { join } from "node:path";
import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import { EmbeddingsFilter } from "@langchain/classic/retrievers/document_compressors/embeddings_filter";
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble";
import { MultiQueryRetriever } from "@langchain/classic/retrievers/multi_query";
import { ScoreThresholdRetriever } from "@langchain/classic/retrievers/score_threshold";
import { TimeWeightedVectorStoreRetriever } from "@langchain/classic/retrievers/time_weighted";
import { BM25Retriever } from "@langchain/community/retrievers/bm25";
import type { BaseRetrieverInterface } from "@langchain/core/retrievers";
import { type Runnable, RunnableLambda } from "@langchain/core/runnables";
import { memoryStore, QavrError, type Store } from "@qavr/core";
import { type Qavr, qavr } from "@qavr/langchain";
import type { Measured } from "../speed/measure.js";
import type { DocumentIndex } from "./document-index.js";
import { type ModelCalls, RepeatingModel } from "./model-calls.js";
import { SilentHandler } from "./silent-handler.js";

/** Documents that every retriever returns. */
export const RETURNED = 5;
/** Candidates that a filter chooses from. */
export const FILTERED = 20;
/** Most candidates that a learned ranking looks at, all with evidence. */
const KNOWN = 50;

/** Names of the retrievers. */
export const CONTENDERS = {
  plain: "plain retriever",
  observed: "plain retriever, with a handler that does nothing",
  timeWeighted: "TimeWeightedVectorStoreRetriever",
  threshold: "ScoreThresholdRetriever",
  filter: "ContextualCompressionRetriever, EmbeddingsFilter",
  multiQuery: "MultiQueryRetriever, three queries",
  ensemble: "EnsembleRetriever, BM25 and vectors",
  coldMemory: "qavr, nothing learned, memory store",
  learnedMemory: "qavr, learned, memory store",
  coldSqlite: "qavr, nothing learned, default store",
  learnedSqlite: "qavr, learned, default store",
} as const;

/** Stretches of a run that are measured beside the whole, which ends when the run's outcome is on the disk. */
export const MARKS = { documents: "documents", run: "run" } as const;

/** Runs to time. */
export interface Contenders {
  readonly parts: readonly Measured[];
  readonly memories: Readonly<Record<"coldInMemory" | "learnedInMemory" | "coldOnDisk" | "learnedOnDisk", Qavr>>;
  close(): Promise<void>;
}

/**
 * Runs that retrieve and answer at once, one for each retriever that an application might use.
 *
 * @param folder For the ledgers.
 * @throws INVALID_STATE when a candidate of a learned memory stayed cold: the bench would then time an easier job than it says.
 */
export async function createContenders(index: DocumentIndex, calls: ModelCalls, folder: string): Promise<Contenders> {
  const { store, embeddings, documents, question, queries } = index;
  const plain = store.asRetriever(RETURNED);
  const part = (
    name: string,
    retriever: BaseRetrieverInterface,
    attach: (run: Runnable<string, number>) => Runnable<string, number> = (run) => run,
    finish?: () => Promise<void>,
  ): Measured => {
    let answeredAt: () => void = () => {};
    const answer: Runnable<string, number> = RunnableLambda.from(async (text: string, config) => {
      const found = await retriever.invoke(text, config);
      answeredAt();
      return found.length;
    });
    const run = attach(answer);
    return {
      name,
      async run(query, _input, mark) {
        answeredAt = () => mark(MARKS.documents);
        await run.invoke(question(query));
        mark(MARKS.run);
        // Also keeps work behind the run out of the next part's time.
        await finish?.();
      },
    };
  };
  const memoryAt = (store: Store | string, evaluate: () => boolean | undefined): Qavr =>
    qavr({ store, evaluate, logger: {} });
  const cold = (store: Store | string): Qavr => memoryAt(store, () => undefined);
  let judged = 0;
  const learned = async (store: Store | string): Promise<Qavr> => {
    const memory = memoryAt(store, () => judged++ % 2 === 0);
    await teach(memory, index);
    return memory;
  };
  const withQavr = (name: string, memory: Qavr): Measured =>
    part(
      name,
      memory.retriever(store, { k: RETURNED }),
      (run) => memory.track(run),
      () => memory.flush(),
    );
  const coldInMemory = cold(memoryStore());
  const learnedInMemory = await learned(memoryStore());
  const coldOnDisk = cold(join(folder, "cold.db"));
  const learnedOnDisk = await learned(join(folder, "learned.db"));
  const questions = `<questions>\n${[0, 1, 2].map((n) => question(n % queries)).join("\n")}\n</questions>`;
  const parts = [
    part(CONTENDERS.plain, plain),
    part(CONTENDERS.observed, plain, (run) => run.withConfig({ callbacks: [new SilentHandler()] })),
    part(
      CONTENDERS.timeWeighted,
      new TimeWeightedVectorStoreRetriever({ vectorStore: store, memoryStream: [...documents], k: RETURNED }),
    ),
    part(
      CONTENDERS.threshold,
      ScoreThresholdRetriever.fromVectorStore(store, { minSimilarityScore: 0, maxK: RETURNED, kIncrement: RETURNED }),
    ),
    part(
      CONTENDERS.filter,
      new ContextualCompressionRetriever({
        baseRetriever: store.asRetriever(FILTERED),
        baseCompressor: new EmbeddingsFilter({ embeddings, k: RETURNED }),
      }),
    ),
    part(
      CONTENDERS.multiQuery,
      MultiQueryRetriever.fromLLM({ llm: new RepeatingModel(questions, calls), retriever: plain }),
    ),
    part(
      CONTENDERS.ensemble,
      new EnsembleRetriever({ retrievers: [plain, BM25Retriever.fromDocuments([...documents], { k: RETURNED })] }),
    ),
    withQavr(CONTENDERS.coldMemory, coldInMemory),
    withQavr(CONTENDERS.learnedMemory, learnedInMemory),
    withQavr(CONTENDERS.coldSqlite, coldOnDisk),
    withQavr(CONTENDERS.learnedSqlite, learnedOnDisk),
  ];
  return {
    parts,
    memories: { coldInMemory, learnedInMemory, coldOnDisk, learnedOnDisk },
    async close() {
      for (const memory of [coldInMemory, learnedInMemory, coldOnDisk, learnedOnDisk]) await memory.close();
    },
  };
}

/** Shows all candidates of each question once and lets every other run succeed. @throws INVALID_STATE */
async function teach(memory: Qavr, { store, question, queries }: DocumentIndex): Promise<void> {
  const all = memory.retriever(store, { k: KNOWN, fetchK: KNOWN });
  for (let query = 0; query < queries; query++) {
    const [first] = await all.invoke(question(query));
    if (first) await memory.report(first, { success: query % 2 === 0, tier: "verified" });
  }
  for (let query = 0; query < queries; query++) {
    for (const document of await all.invoke(question(query))) {
      if (((await memory.explain(document))?.evidence ?? 0) > 0) continue;
      const message = `A candidate of query ${query} stayed cold; the bench would not measure ranking.`;
      throw new QavrError("INVALID_STATE", message);
    }
  }
}
