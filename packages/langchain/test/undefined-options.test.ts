import { RunnableLambda } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { qavrMiddleware } from "../src/agents/index.js";
import { QavrCompressor, qavr, type RankingOptions } from "../src/index.js";
import { QavrStore } from "../src/langgraph/index.js";
import { bench, credit, QUESTION } from "./support/bench.js";
import { memoryVectorStore } from "./support/corpus.js";
import { itemStore, keys, PREFIX } from "./support/item-store.js";

/** Options of an application that all are undefined. */
const NOTHING = {
  scores: undefined,
  collection: undefined,
  namespace: undefined,
  context: undefined,
  unverified: undefined,
} satisfies RankingOptions;
const NONE = {
  ...NOTHING,
  fetchK: undefined,
  space: undefined,
  idOf: undefined,
  idKey: undefined,
  annotate: undefined,
  k: undefined,
  filter: undefined,
};

describe("an option that is undefined", () => {
  it("takes its default, wherever it is given", async () => {
    const vectors = await memoryVectorStore();
    const memory = qavr({
      store: memoryStore(),
      namespace: undefined,
      context: undefined,
      evaluate: undefined,
      onError: undefined,
      idOf: undefined,
      idKey: undefined,
      enabled: undefined,
      learner: undefined,
      logger: undefined,
    });
    const plain = (await vectors.asRetriever().invoke(QUESTION)).map(({ id }) => id);
    expect((await memory.retriever(vectors, NONE).invoke(QUESTION)).map(({ id }) => id)).toEqual(plain);
    const { documents, episode } = await memory.recall(vectors, QUESTION, { ...NONE, config: undefined });
    expect(documents.map(({ id }) => id)).toEqual(plain);
    await episode.report({ success: true });
    const { k: _k, filter: _filter, ...ranking } = NONE;
    expect(await memory.vectorStore(vectors, ranking).similaritySearch(QUESTION)).toHaveLength(4);
    const compressor = new QavrCompressor({ memory, ...NOTHING, topN: undefined });
    expect(await compressor.compressDocuments(documents, QUESTION)).toHaveLength(4);
    const selector = memory.exampleSelector(vectors, { ...NONE, inputKeys: undefined, exampleKeys: undefined });
    expect(await selector.selectExamples({ question: QUESTION })).toHaveLength(4);
    expect(memory.recallTool(vectors, { ...NONE, name: undefined, description: undefined }).name).toBe(
      "recall_memories",
    );
    expect(memory.reportOutcomeTool({ name: undefined, description: undefined }).name).toBe("report_outcome");
    const nothingToSay = {
      name: undefined,
      query: undefined,
      maxTokens: undefined,
      maxCharacters: undefined,
      countTokens: undefined,
      introduction: undefined,
      reportTool: undefined,
    };
    const middleware = qavrMiddleware({ memory, base: vectors, ...NONE, ...nothingToSay });
    expect(middleware.name).toBe("qavr_memories");
    const { collections } = await memory.status({ namespace: undefined });
    expect(collections.map(({ collection }) => collection)).toEqual(["default"]);
  });

  it("leaves a wrapped vector store's tenant alone, whoever asks it", async () => {
    const { memory, vectors } = await bench();
    const wrapped = memory.vectorStore(vectors, { namespace: "tenant:a", collection: "notes" });
    const asked = memory.retriever(wrapped, { k: 2, namespace: undefined, collection: undefined });
    await memory.track(asked.pipe(({ length }: unknown[]) => length)).invoke(QUESTION);
    expect(Object.keys(await credit(memory, "tenant:a"))).toHaveLength(2);
    expect(await credit(memory)).toEqual({});
    expect((await memory.status({ namespace: "tenant:a" })).collections[0]?.collection).toBe("notes");
  });

  it("leaves LangGraph's items in a collection of their own, and a wrapped store's tenant alone", async () => {
    const { memory } = await bench();
    const inner = await itemStore();
    const asked = { ...NOTHING, limit: undefined, filter: undefined, textOf: undefined, fetchK: undefined };
    const own = new QavrStore({ memory, store: inner, namespace: "tenant:a" });
    const chain = RunnableLambda.from(async (query: string, config) => {
      expect(keys(await memory.search(inner, PREFIX, query, config, asked))).toHaveLength(6);
      await memory.search(own, PREFIX, query, config, asked);
      return "done";
    });
    await memory.track(chain).invoke(QUESTION);
    for (const namespace of ["default", "tenant:a"]) {
      const { collections } = await memory.status({ namespace });
      expect(collections.map(({ collection }) => collection)).toEqual(["store"]);
    }
  });
});
