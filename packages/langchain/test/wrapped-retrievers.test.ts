import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import type { Document, DocumentInterface } from "@langchain/core/documents";
import { type Runnable, RunnableLambda } from "@langchain/core/runnables";
import { VectorStoreRetriever } from "@langchain/core/vectorstores";
import { describe, expect, it } from "vitest";
import { type Qavr, QavrRetriever, QavrVectorStore } from "../src/index.js";
import { bench, credit, QUESTION, RUN_ID } from "./support/bench.js";
import { ids, only } from "./support/corpus.js";

/** Retrieves inside a tracked run. */
function answer(memory: Qavr, retriever: Runnable<string, DocumentInterface[]>): Promise<(string | undefined)[]> {
  return memory.track(retriever.pipe(ids)).invoke(QUESTION, { runId: RUN_ID });
}

/** Keeps one document of what is found, as a check of rights would. */
class Checked extends QavrRetriever {
  override async _getRelevantDocuments(
    question: string,
    manager?: CallbackManagerForRetrieverRun,
  ): Promise<DocumentInterface[]> {
    return (await super._getRelevantDocuments(question, manager)).filter(({ id }) => id === "scale");
  }
}

/** Likewise, as an application's own retriever of any store. */
class Checking extends VectorStoreRetriever {
  override async _getRelevantDocuments(
    question: string,
    manager?: CallbackManagerForRetrieverRun,
  ): Promise<DocumentInterface[]> {
    return (await super._getRelevantDocuments(question, manager)).filter(({ id }) => id === "scale");
  }
}

describe("a retriever of a memory that is wrapped once more", () => {
  it("is ranked once, by the outermost, which may ask for more or for less", async () => {
    const { memory, retriever, codes } = await bench();
    expect(await answer(memory, memory.retriever(retriever, { k: 3 }))).toHaveLength(3);
    const exposures = (await memory.explain(RUN_ID))?.exposures;
    expect(exposures?.map(({ items, vectorSource }) => [items.length, vectorSource])).toEqual([[3, "host"]]);
    expect(codes()).toEqual([]);
    expect(memory.retriever(retriever).k).toBe(2);
  });

  it("learns where the inner one does, and under its ids", async () => {
    const { memory, vectors } = await bench();
    const inner = memory.retriever(vectors, {
      k: 2,
      namespace: "tenant:a",
      collection: "notes",
      idOf: ({ id }) => `note-${id}`,
      tags: ["inner"],
      metadata: { from: "inner" },
    });
    const outer = memory.retriever(inner, { namespace: undefined });
    await answer(memory, outer);
    expect(await credit(memory)).toEqual({});
    expect(await credit(memory, "tenant:a")).toEqual({ "note-restart": 1, "note-scale": 1 });
    expect((await memory.status({ namespace: "tenant:a" })).collections.map((one) => one.collection)).toEqual([
      "notes",
    ]);
    expect([outer.tags, outer.metadata]).toEqual([["inner"], { from: "inner" }]);
  });

  it("belongs to the memory that asks, also when another made it", async () => {
    const { retriever, memory: inner } = await bench();
    const { memory } = await bench();
    await answer(memory, memory.retriever(retriever));
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    expect((await inner.status()).episodes).toMatchObject({ open: 0, recorded: 0 });
  });

  it("keeps its filter, which another may not replace", async () => {
    const { memory, vectors, showing } = await bench();
    expect(await answer(memory, memory.retriever(showing("scale"), { k: 4 }))).toEqual(["scale"]);
    expect(() => memory.retriever(showing("scale"), { filter: only("coffee") })).toThrow("has one of its own");
    await expect(memory.recall(showing("scale"), QUESTION, { filter: only("coffee") })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const filtered = memory.retriever(memory.retriever(vectors), { filter: only("coffee") });
    expect(await answer(memory, filtered)).toEqual(["coffee"]);
  });

  it("is not looked into when it is of a class derived from it", async () => {
    const { memory, vectors } = await bench();
    const checked = new Checked({ memory, base: vectors, k: 4 });
    expect(await answer(memory, memory.retriever(checked, { k: 3 }))).toEqual(["scale"]);
  });

  it("serves a recall as its store would: one episode, no warning", async () => {
    const { memory, retriever, codes } = await bench();
    const { documents, episode } = await memory.recall(retriever, QUESTION);
    await episode.report({ success: true });
    expect(ids(documents)).toEqual(["restart", "scale"]);
    expect((await memory.status()).episodes).toMatchObject({ open: 0, recorded: 1 });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    expect(codes()).toEqual([]);
  });

  it("gives an agent's tool as many as the tool was told", async () => {
    const { memory, retriever } = await bench();
    const tool = memory.recallTool(retriever, { k: 1 });
    const chain = RunnableLambda.from((query: string, config) => tool.invoke({ query }, config));
    expect(await memory.track(chain).invoke(QUESTION)).toMatch(/^\[m1\] .*$/);
    expect(() => memory.recallTool(retriever, { topK: 1 } as never)).toThrow("no field topK");
  });
});

describe("a store's own retriever", () => {
  it("stands for its store, so that learning finds what the retriever's number leaves out", async () => {
    const { memory, vectors } = await bench();
    const found = ids(await vectors.similaritySearch(QUESTION, 20));
    const last = found.at(-1) as string;
    for (let run = 0; run < 5; run++) {
      const { episode } = await memory.recall(vectors, QUESTION, { k: 20 });
      await episode.report({ helpful: [last], harmful: [found[0] as string] });
    }
    expect(found.slice(0, 4)).not.toContain(last);
    expect(await answer(memory, memory.retriever(vectors.asRetriever(), { k: 1 }))).toEqual([last]);
    expect((await memory.explain(RUN_ID))?.exposures[0]?.vectorSource).toBe("host");
  });

  it("keeps its number, filter and tags", async () => {
    const { memory, vectors } = await bench();
    const own = vectors.asRetriever({ k: 1, filter: only("scale"), tags: ["own"] } as never);
    const retriever = memory.retriever(own);
    expect([retriever.base, retriever.k, retriever.tags]).toEqual([vectors, 1, own.tags]);
    expect(await answer(memory, retriever)).toEqual(["scale"]);
    expect(() => memory.retriever(own, { filter: only("restart") })).toThrow("has one of its own");
  });

  it("keeps a filter that is set after it was wrapped", async () => {
    const { memory, vectors } = await bench();
    const own = vectors.asRetriever(4);
    const retriever = memory.retriever(own);
    for (const id of ["scale", "restart"]) {
      own.filter = only(id) as never;
      expect(ids(await retriever.invoke(QUESTION))).toEqual([id]);
    }
  });

  it.each([true, false])("keeps a number that is set after it was wrapped, learning or not (%s)", async (enabled) => {
    const { memory, vectors } = await bench({ enabled });
    const own = vectors.asRetriever(2);
    const [ranked, three] = [memory.retriever(own), memory.retriever(own, { k: 3 })];
    own.k = 4;
    expect(await answer(memory, ranked)).toHaveLength(4);
    expect(await answer(memory, three)).toHaveLength(3);
  });

  it("is asked as it is where it does not search by similarity", async () => {
    const { memory, vectors } = await bench();
    const diverse = vectors.asRetriever({ k: 3, searchType: "mmr" });
    expect(memory.retriever(diverse).base).toBe(diverse);
  });

  it("is asked as it is where its store makes one of a class of its own", async () => {
    const { memory, vectors } = await bench();
    Object.assign(vectors, { asRetriever: (k: number) => new Checking({ vectorStore: vectors, k }) });
    expect(await answer(memory, memory.retriever(vectors.asRetriever(4)))).toEqual(["scale"]);
  });

  it.each(["invoke", "_getRelevantDocuments"] as const)(
    "is asked as it is where an application put another %s on it",
    async (method) => {
      const { memory, vectors } = await bench();
      const own = vectors.asRetriever(4);
      const search = own[method].bind(own) as (...args: unknown[]) => Promise<DocumentInterface[]>;
      own[method] = async (...args: unknown[]) => (await search(...args)).filter(({ id }) => id === "scale");
      expect(await answer(memory, memory.retriever(own))).toEqual(["scale"]);
    },
  );

  it("stands for its store also where the store makes none without arguments", async () => {
    const { memory, vectors } = await bench();
    const own = vectors.asRetriever({ k: 4, filter: only("scale") } as never);
    const asRetriever = (): never => {
      throw new Error("Name the tenant.");
    };
    Object.assign(vectors, { asRetriever });
    expect(await answer(memory, memory.retriever(own))).toEqual(["scale"]);
  });
});

describe("a wrapped store's own retriever", () => {
  it.each(["similarity", "mmr"] as const)(
    "that searches by %s is ranked once, where its store learns",
    async (searchType) => {
      const { memory, vectors } = await bench();
      const store = memory.vectorStore(vectors, { namespace: "tenant:a", collection: "notes" });
      const own = store.asRetriever({ k: 3, searchType, filter: (({ id }: Document) => id !== "scale") as never });
      const outer = memory.retriever(own);
      expect(await answer(memory, outer)).toHaveLength(3);
      expect(await credit(memory)).toEqual({});
      const { collections, episodes } = await memory.status({ namespace: "tenant:a" });
      expect([collections.map(({ collection }) => collection), episodes.recorded]).toEqual([["notes"], 1]);
      expect(
        (await memory.explain(RUN_ID, { namespace: "tenant:a" }))?.exposures.map(({ items }) => items.length),
      ).toEqual([3]);
      expect(Object.keys(await credit(memory, "tenant:a"))).not.toContain("scale");
      expect(() => memory.retriever(own, { filter: only("scale") })).toThrow("has one of its own");
    },
  );

  it("is not looked into when its store is of a class derived from ours", async () => {
    const { memory, vectors } = await bench();
    class CheckedStore extends QavrVectorStore {
      override async similaritySearch(
        ...args: Parameters<QavrVectorStore["similaritySearch"]>
      ): Promise<DocumentInterface[]> {
        return (await super.similaritySearch(...args)).filter(({ id }) => id === "scale");
      }
      override async similaritySearchWithScore(
        ...args: Parameters<QavrVectorStore["similaritySearchWithScore"]>
      ): Promise<[DocumentInterface, number][]> {
        return (await super.similaritySearchWithScore(...args)).filter(([{ id }]) => id === "scale");
      }
    }
    const store = new CheckedStore({ memory, store: vectors });
    for (const base of [store, store.asRetriever(4), memory.vectorStore(store)]) {
      expect(await answer(memory, memory.retriever(base, { k: 4 }))).toEqual(["scale"]);
    }
  });

  it("is not looked into when it is of a class derived from it", async () => {
    const { memory, vectors } = await bench();
    const checking = new Checking({ vectorStore: memory.vectorStore(vectors), k: 4 });
    expect(await answer(memory, memory.retriever(checking))).toEqual(["scale"]);
  });
});
