import { readdir } from "node:fs/promises";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Document } from "@langchain/core/documents";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { QavrRetriever, type QavrVectorStore } from "../src/index.js";
import { bench, credit } from "./support/bench.js";
import { ids, TrigramEmbeddings } from "./support/corpus.js";
import { tempFolder } from "./support/temp-folder.js";
import { usearchStore } from "./support/usearch-store.js";

function search(store: Pick<QavrVectorStore, "asRetriever">, question: string, config: RunnableConfig) {
  return store.asRetriever(1).invoke(question, config);
}

describe("a QavrVectorStore", () => {
  it("has the members that only the wrapped store has", async () => {
    const { memory, vectors } = await bench();
    const folder = tempFolder();
    const inner = await usearchStore();
    const store = memory.vectorStore(inner);
    await store.save(folder);
    expect(await readdir(folder)).not.toEqual([]);
    expect(store.index.size()).toBe(inner.index.size());
    expect(memory.vectorStore(vectors).memoryVectors).toBe(vectors.memoryVectors);
    expect("save" in memory.vectorStore(vectors)).toBe(false);
  });

  it("lets methods see the private parts of the wrapped store, and sets its members on that", async () => {
    class Secretive extends MemoryVectorStore {
      readonly #secret = 7;
      label = "old";

      secret(): number {
        return this.#secret;
      }
    }
    const inner = new Secretive(new TrigramEmbeddings());
    const { memory } = await bench();
    const store = memory.vectorStore(inner);
    expect(store.secret()).toBe(7);
    store.label = "new";
    expect(inner.label).toBe("new");
  });

  it("hands adding and deleting through in whatever shape the wrapped store has, and its answers back", async () => {
    const { memory, vectors } = await bench();
    const received: unknown[][] = [];
    const answers: unknown[] = [["id-1"], undefined, { upserted: 2 }];
    let answered = 0;
    const take = async (...args: unknown[]): Promise<unknown> => {
      received.push(args);
      return answers[answered++ % answers.length];
    };
    const inner = Object.assign(vectors, { addDocuments: take, addVectors: take, delete: take, deleteDocuments: take });
    const store = memory.vectorStore(inner) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const document = new Document({ pageContent: "x" });
    const calls: [string, unknown[]][] = [
      ["addDocuments", [[document], { ids: ["1"] }]],
      ["addDocuments", [[document], { keys: ["doc:1"], batchSize: 10 }]],
      ["addVectors", [[[1]], [document], { namespace: "n" }]],
      ["addVectors", [[[1]], [document]]],
      ["delete", [{ ids: ["1"] }]],
      ["delete", [{ filter: { kind: "short" } }]],
      ["delete", [["1", "2"]]],
      ["delete", [{ deleteAll: true }, "and whatever comes next"]],
      ["delete", []],
      ["deleteDocuments", [["1"]]],
    ];
    for (const [place, [method, args]] of calls.entries()) {
      expect(await store[method]?.(...args)).toEqual(answers[place % answers.length]);
    }
    expect(received).toEqual(calls.map(([, args]) => args));
    expect(received[0]?.[0]).toBe(calls[0]?.[1][0]);
  });

  it("leaks neither clients nor options into what LangChain serialises", async () => {
    const { memory, vectors } = await bench();
    const store = memory.vectorStore(vectors);
    expect(store.toJSON()).toEqual({
      lc: 1,
      type: "not_implemented",
      id: ["langchain", "vectorstores", "qavr", "QavrVectorStore"],
    });
    expect(store.lc_kwargs).toEqual({});
    expect(store._vectorstoreType()).toBe("qavr");
    expect(memory.retriever(vectors).toJSON()).toEqual({
      lc: 1,
      type: "not_implemented",
      id: ["langchain", "retrievers", "qavr", "QavrRetriever"],
    });
  });

  it("ranks through the retriever that LangChain makes of it", async () => {
    const { memory, vectors } = await bench();
    const retriever = memory.vectorStore(vectors).asRetriever({ k: 2 });
    expect(retriever.tags).toEqual(["qavr"]);
    const chain = memory.track(retriever.pipe((documents) => documents));
    const found = await chain.invoke("payment queue stuck");
    expect(ids(found)).toEqual(["restart", "scale"]);
    expect(memory.format(found)).toMatch(/^\[m1\] .*\n\[m2\] /);
  });

  it("is what QavrRetriever.fromVectorStore may be given, like any store", async () => {
    const { memory, vectors } = await bench();
    const asked = (store: typeof vectors): Promise<unknown> =>
      QavrRetriever.fromVectorStore(store, { memory, k: 2, filter: (document) => document.id !== "restart" })
        .invoke("disk full")
        .then(ids);
    const expected = await memory
      .retriever(vectors, { k: 2, filter: ({ id }: Document) => id !== "restart" })
      .invoke("disk full");
    expect(await asked(vectors)).toEqual(ids(expected));
    expect(await asked(memory.vectorStore(vectors) as never)).toEqual(ids(expected));
  });

  it("around another one, also of another memory, ranks once and credits what was shown", async () => {
    const { memory, vectors } = await bench();
    const other = await bench();
    for (const [run, wrapper] of [
      memory.vectorStore(memory.vectorStore(vectors, { collection: "runbook" })),
      memory.vectorStore(other.memory.vectorStore(vectors, { collection: "runbook" })),
    ].entries()) {
      expect(wrapper.inner).toBe(vectors);
      expect(wrapper.memoryVectors).toBe(vectors.memoryVectors);
      const chain = memory.track(RunnableLambda.from((question: string, config) => search(wrapper, question, config)));
      // The first run teaches, so that the next one over-fetches.
      for (let again = 0; again < 2; again++) await chain.invoke("payment queue stuck", { runId: `run-${run}` });
      const shown = (await memory.explain(`run-${run}`))?.exposures;
      expect(shown?.map(({ collection, items }) => [collection, items.length])).toEqual([["runbook", 1]]);
    }
    expect(await credit(memory)).toEqual({ restart: 1 });
    expect((await other.memory.status()).seq).toBe(0);
  });

  it("keeps the options of the one that it wraps, unless it is told otherwise", async () => {
    const { memory, vectors } = await bench();
    const inner = memory.vectorStore(vectors, { collection: "runbook", scores: "rank" });
    expect(memory.vectorStore(inner, { scores: "similarity" }).options).toEqual({
      collection: "runbook",
      scores: "similarity",
    });
  });

  it("learns without ids too, by the documents' texts", async () => {
    const { memory, vectors } = await bench();
    await vectors.addDocuments([new Document({ pageContent: "refund a payment that was charged twice" })]);
    const { documents, episode } = await memory.recall(vectors, "refund a payment charged twice", { k: 1 });
    await episode.report({ success: true, helpful: ["m1"] });
    const [known] = (await memory.status()).collections[0]!.best;
    expect(known?.id).toMatch(/^text:/);
    expect(known?.utility).toBeGreaterThan(0);
    expect(documents[0]?.id).toBeUndefined();
  });

  it("goes on in a new space when the embedding model changes its name", async () => {
    const { memory, vectors, codes } = await bench();
    const named = (model: string) => Object.assign(new TrigramEmbeddings(), { model });
    vectors.embeddings = named("small");
    await (await memory.recall(vectors, "payment queue stuck")).episode.report({ success: true });
    await memory.recall(vectors, "payment queue stuck");
    expect(codes()).toEqual([]);
    vectors.embeddings = named("large");
    await memory.recall(vectors, "payment queue stuck");
    await memory.recall(vectors, "payment queue stuck", { space: "small/64" });
    expect(codes()).toEqual(["SPACE_CHANGED"]);
  });

  it("goes on in a new space when the length of the embeddings changes", async () => {
    const { memory, vectors, codes } = await bench();
    const { episode } = await memory.recall(vectors, "payment queue stuck");
    await episode.report({ success: true });
    vectors.embeddings = new TrigramEmbeddings(32);
    vectors.memoryVectors = [];
    await vectors.addDocuments([new Document({ id: "restart", pageContent: "restart the payment service" })]);
    expect(ids((await memory.recall(vectors, "payment queue stuck")).documents)).toEqual(["restart"]);
    expect(codes()).toEqual(["SPACE_CHANGED"]);
  });
});
