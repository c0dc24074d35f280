import { RunnableLambda } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";
import { bench } from "./support/bench.js";
import { corpus, memoryVectorStore } from "./support/corpus.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a retrieval that nobody tracks", () => {
  it("becomes one process warning where there is no logger", async () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const memory = qavr({ store: memoryStore() });
    const vectors = await memoryVectorStore();
    await memory.retriever(vectors).invoke("payment");
    await memory.vectorStore(vectors).similaritySearch("payment");
    await memory.compressor().compressDocuments(corpus(), "payment");
    expect(emitWarning).toHaveBeenCalledTimes(1);
    expect(emitWarning).toHaveBeenCalledWith(expect.stringContaining("memory.track(runnable)"), {
      type: "QavrWarning",
      code: "NO_OUTCOME_TRACKING",
    });
  });

  it("goes to the logger where there is one", async () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const { retriever, codes } = await bench();
    await retriever.invoke("payment");
    expect(codes()).toEqual(["NO_OUTCOME_TRACKING"]);
    expect(emitWarning).not.toHaveBeenCalled();
  });

  it("is what a retriever without the run's config is, where LangGraph does not keep it", async () => {
    const { memory, retriever, codes } = await bench();
    const chain = RunnableLambda.from((question: string) => retriever.invoke(question, { callbacks: [] }));
    await memory.track(chain).invoke("payment");
    expect(codes()).toContain("NO_OUTCOME_TRACKING");
  });

  it("is fine for recall, which has its own report, and where learning is switched off", async () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const vectors = await memoryVectorStore();
    await qavr({ store: memoryStore() }).recall(vectors, "payment");
    await qavr({ store: memoryStore(), enabled: false }).retriever(vectors).invoke("payment");
    expect(emitWarning).not.toHaveBeenCalled();
  });
});
