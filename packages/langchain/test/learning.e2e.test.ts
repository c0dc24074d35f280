import { join } from "node:path";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { FakeEmbeddings } from "@langchain/core/utils/testing";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { memoryStore } from "@qavr/core";
import { replay } from "@qavr/core/maintenance";
import { describe, expect, it, vi } from "vitest";
import { type Qavr, qavr } from "../src/index.js";
import { ids, memoryVectorStore } from "./support/corpus.js";
import { hnswInstalled, hnswStore } from "./support/hnsw-store.js";
import { tempFolder } from "./support/temp-folder.js";
import { usearchStore } from "./support/usearch-store.js";

const QUESTION = "payment queue stuck";

/** Runs that are shown one memory, which misleads unless it is `good`. */
async function teach(memory: Qavr, vectors: VectorStoreInterface, good: string, runs: number): Promise<void> {
  const retriever = memory.retriever(vectors, { k: 1 });
  const chain = memory.track(
    RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      const [first] = await retriever.invoke(question, config);
      if (first?.id !== good) throw new Error("that did not work");
    }),
  );
  for (let run = 0; run < runs; run++) await chain.invoke(QUESTION).catch(() => undefined);
}

describe("memory off", () => {
  it("gives the host an empty list without an error, and measures what memory itself is worth", async () => {
    const memory = qavr({ store: memoryStore(), memoryOff: 1, onError: "throw", logger: {} });
    const vectors = await memoryVectorStore();
    const seen: (string | undefined)[][] = [];
    const chain = memory.track(
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        seen.push(ids(await memory.retriever(vectors, { k: 2 }).invoke(question, config)));
        seen.push(
          ids(await memory.retriever(vectors, { k: 2, required: true, collection: "tools" }).invoke(question, config)),
        );
      }),
    );
    await chain.invoke(QUESTION);
    await memory.engine.flush();
    expect(seen).toEqual([[], ["restart", "scale"]]);
    expect(await memory.status()).toMatchObject({ memoryLift: { episodes: { shown: 0, off: 1 } } });
    await memory.close();
  });

  it("leaves a vector store's searches outside runs alone: only their documents can be reported about", async () => {
    const memory = qavr({ store: memoryStore(), memoryOff: 1, onError: "throw", logger: {} });
    const [first] = await memory.vectorStore(await memoryVectorStore()).similaritySearch(QUESTION, 1);
    expect(await memory.report(first!, { success: true })).toMatchObject({ status: "committed" });
    await memory.close();
  });
});

describe("minWorth", () => {
  it("returns no document that failed where another one helps, and refuses what is no number above 0", async () => {
    const memory = qavr({ store: memoryStore(), onError: "throw", logger: {} });
    const vectors = await memoryVectorStore();
    await teach(memory, vectors, "scale", 20);
    const retrieve = (minWorth?: number): Promise<(string | undefined)[]> =>
      memory.retriever(vectors, { k: 6, minWorth }).invoke(QUESTION).then(ids);
    const all = await retrieve();
    expect(all).toHaveLength(6);
    expect(all).toContain("restart");
    expect(await retrieve(0.1)).toEqual(all.filter((id) => id !== "restart"));
    expect(await retrieve(100)).toEqual(all);
    expect(() => memory.retriever(vectors, { minWorth: 0 })).toThrow(/minWorth must be a finite number above 0/);
    await memory.close();
  });
});

describe("learning from how tracked runs end", () => {
  it("changes the order, in a ledger file that a second handle reads", async () => {
    const store = join(tempFolder(), "ledger.db");
    const vectors = await memoryVectorStore();
    const first = qavr({ store, logger: {} });
    expect(ids(await vectors.similaritySearch(QUESTION, 3))).toEqual(["restart", "scale", "clear"]);
    await teach(first, vectors, "scale", 20);
    const taught = await first.retriever(vectors, { k: 2 }).invoke(QUESTION);
    expect(ids(taught)[0]).toBe("scale");
    const why = await first.explain(taught[0]!);
    expect(why).toMatchObject({ id: "scale", hostRank: 2 });
    expect(why!.learned).toBeGreaterThan(0);
    const { similarity, learned, bonus, overlap, unverified } = why!;
    expect(similarity + learned + bonus + overlap + unverified).toBe(why!.score);

    const second = qavr({ store, logger: {} });
    expect(ids(await second.retriever(vectors, { k: 2 }).invoke(QUESTION))[0]).toBe("scale");
    await Promise.all([first.close(), second.close()]);
    const third = qavr({ store, logger: {} });
    expect((await replay(third.engine)).identical).toBe(true);
    await third.close();
  });

  it("leaves the store's order to the runs that are held out, and says what learning is worth", async () => {
    const memory = qavr({ store: memoryStore(), logger: {}, holdout: 0.25 });
    const vectors = await memoryVectorStore();
    await teach(memory, vectors, "scale", 300);
    const { lift } = await memory.status();
    expect(lift?.success?.holdout).toBe(0);
    expect(lift?.success?.learned).toBeGreaterThan(0.9);
  });

  it("decides among documents that the store finds equally similar", async () => {
    const memory = qavr({ store: memoryStore(), logger: {} });
    const vectors = new MemoryVectorStore(new FakeEmbeddings());
    await vectors.addDocuments(["restart", "scale", "clear"].map((id) => ({ id, pageContent: id, metadata: {} })));
    await teach(memory, vectors, "scale", 10);
    expect(ids(await memory.retriever(vectors, { k: 3 }).invoke(QUESTION))[0]).toBe("scale");
  });

  it.each([
    ["loses its scores, as LanceDB does", undefined],
    ["has a zero vector among its documents", Number.NaN],
  ])("works by rank on a store that %s", async (_what, odd) => {
    const memory = qavr({ store: memoryStore(), logger: {}, onError: "throw" });
    const vectors = await memoryVectorStore();
    const search = vectors.similaritySearchVectorWithScore.bind(vectors);
    vi.spyOn(vectors, "similaritySearchVectorWithScore").mockImplementation(async (...asked) =>
      (await search(...asked)).map(([document]) => [document, odd as number]),
    );
    const retriever = memory.retriever(vectors, { k: 2 });
    expect(ids(await retriever.invoke(QUESTION))).toEqual(["restart", "scale"]);
    await teach(memory, vectors, "scale", 20);
    expect(ids(await retriever.invoke(QUESTION))[0]).toBe("scale");
  });

  if (hnswInstalled) {
    it("asks an HNSW index for no more than it holds, so that nothing is printed", async () => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const memory = qavr({ store: memoryStore(), logger: {} });
      const vectors = await hnswStore();
      await teach(memory, vectors, "scale", 2);
      expect(await memory.retriever(vectors, { k: 2 }).invoke(QUESTION)).toHaveLength(2);
      const store = memory.vectorStore(vectors);
      expect(await store.similaritySearchWithScore(QUESTION, 3)).toHaveLength(3);
      const vector = await vectors.embeddings.embedQuery(QUESTION);
      expect(await store.similaritySearchVectorWithScore(vector, 3)).toHaveLength(3);
      expect(warn).not.toHaveBeenCalled();
      warn.mockRestore();
    });
  }

  it("keeps the host's own scores, whichever way they point", async () => {
    const memory = qavr({ store: memoryStore(), logger: {} });
    const vectors = await usearchStore();
    await teach(memory, vectors, "scale", 20);
    const own = new Map((await vectors.similaritySearchWithScore(QUESTION, 6)).map(([{ id }, score]) => [id, score]));
    const ranked = await memory.vectorStore(vectors).similaritySearchWithScore(QUESTION, 3);
    expect(ranked[0]?.[0].id).toBe("scale");
    for (const [{ id }, score] of ranked) expect(score).toBe(own.get(id));
  });

  it("keeps the selection of maximal marginal relevance, and records it", async () => {
    const memory = qavr({ store: memoryStore(), logger: {} });
    const vectors = await memoryVectorStore();
    await teach(memory, vectors, "scale", 20);
    const retriever = memory.vectorStore(vectors).asRetriever({ k: 2, searchType: "mmr" });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    const runId = "88888888-8888-4888-8888-888888888888";
    const found = await chain.invoke(QUESTION, { runId });
    expect(ids(found)).toEqual(ids(await vectors.maxMarginalRelevanceSearch(QUESTION, { k: 2 })));
    const exposure = (await memory.explain(runId))?.exposures[0];
    expect(exposure?.items.map(({ id }) => id)).toEqual(ids(found));
    expect(exposure?.vectorSource).toBe("none");
  });

  it("chooses among the documents of a retriever that searches by maximal marginal relevance", async () => {
    const memory = qavr({ store: memoryStore(), logger: {} });
    const vectors = await memoryVectorStore();
    await teach(memory, vectors, "scale", 20);
    const diverse = vectors.asRetriever({ k: 6, searchType: "mmr" });
    expect(ids(await diverse.invoke(QUESTION))[0]).not.toBe("scale");
    expect(ids(await memory.retriever(diverse, { k: 1 }).invoke(QUESTION))).toEqual(["scale"]);
  });
});
