import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import { DocumentCompressorPipeline } from "@langchain/classic/retrievers/document_compressors";
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble";
import { MultiQueryRetriever } from "@langchain/classic/retrievers/multi_query";
import { ScoreThresholdRetriever } from "@langchain/classic/retrievers/score_threshold";
import { Document, type DocumentInterface } from "@langchain/core/documents";
import type { BaseRetriever } from "@langchain/core/retrievers";
import { BaseDocumentCompressor } from "@langchain/core/retrievers/document_compressors";
import { RunnableLambda } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { describe, expect, it } from "vitest";
import type { Qavr } from "../src/index.js";
import { bench, credit, QUESTION, RUN_ID } from "./support/bench.js";
import { ids, memoryVectorStore } from "./support/corpus.js";
import { OwnRetriever } from "./support/own-retriever.js";

/** Runs the retriever inside a chain and returns the ids of what it found. */
async function answer(memory: Qavr, retriever: BaseRetriever): Promise<(string | undefined)[]> {
  const chain = RunnableLambda.from(async (question: string, config) => ids(await retriever.invoke(question, config)));
  return memory.track(chain).invoke(QUESTION, { runId: RUN_ID });
}

async function shown(memory: Qavr): Promise<string[][] | undefined> {
  return (await memory.explain(RUN_ID))?.exposures.map(({ items }) => items.map(({ id }) => id));
}

/** Keeps the last document of a list, as the stage of a pipeline that knows better. */
class KeepLast extends BaseDocumentCompressor {
  override compressDocuments(documents: Document[]): Promise<Document[]> {
    return Promise.resolve(documents.slice(-1));
  }
}

describe("retrievers around a QavrRetriever", () => {
  it("count only what the outermost one returned: contextual compression", async () => {
    const { memory, vectors } = await bench();
    const baseRetriever = memory.retriever(vectors, { k: 3 });
    const found = await answer(
      memory,
      new ContextualCompressionRetriever({ baseRetriever, baseCompressor: new KeepLast() }),
    );
    expect(found).toEqual(["clear"]);
    expect(await shown(memory)).toEqual([["clear"]]);
    expect((await memory.explain(RUN_ID))?.exposures[0]?.notShown).toMatchObject([
      { id: "restart", rank: 1, reason: "dropped" },
      { id: "scale", rank: 2, reason: "dropped" },
    ]);
    expect(await credit(memory)).toEqual({ clear: 1 });
  });

  it("hand evaluate only what the outermost one returned, so that it may vote on all that it gets", async () => {
    const { memory, vectors, codes } = await bench({
      evaluate: ({ memories }) => ({ success: false, harmful: memories.map(({ id }) => id) }),
    });
    const baseRetriever = memory.retriever(vectors, { k: 3 });
    await answer(memory, new ContextualCompressionRetriever({ baseRetriever, baseCompressor: new KeepLast() }));
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
    expect(codes()).toEqual([]);
  });

  it("count only what the outermost one returned: an ensemble of two stores' retrievers", async () => {
    const { memory, showing } = await bench();
    const both = new EnsembleRetriever({ retrievers: [showing("restart"), showing("scale")] });
    expect((await answer(memory, both)).sort()).toEqual(["restart", "scale"]);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("recognise a document that the ensemble merged with another of the same text", async () => {
    const { memory, retriever } = await bench();
    await answer(memory, new EnsembleRetriever({ retrievers: [retriever, retriever] }));
    expect(await shown(memory)).toEqual([
      ["restart", "scale"],
      ["restart", "scale"],
    ]);
  });

  it("count what any of several queries brought into the answer", async () => {
    const { memory, retriever } = await bench();
    const llm = new FakeListChatModel({ responses: ["payment queue\nrestart the service\noffice coffee"] });
    const found = await answer(memory, MultiQueryRetriever.fromLLM({ llm, retriever }));
    expect(Object.keys(await credit(memory)).sort()).toEqual([...found].sort());
    expect(found.length).toBeGreaterThan(2);
  });

  it("may have one inside that announces nothing", async () => {
    const { memory, vectors } = await bench();
    // Overrides invoke, so that no callback hears of it.
    const silent = ScoreThresholdRetriever.fromVectorStore(vectors, {
      minSimilarityScore: 0.5,
      maxK: 3,
      kIncrement: 3,
    });
    expect(await answer(memory, memory.retriever(silent, { k: 2 }))).toEqual(["restart", "scale"]);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("leave everything shown when the outer one returns something else in its place", async () => {
    const { memory, retriever } = await bench();
    const parents = new OwnRetriever(async (question, config) => {
      await retriever.invoke(question, config);
      return [new Document({ pageContent: "the whole runbook" })];
    });
    await answer(memory, parents);
    expect(await shown(memory)).toEqual([["restart", "scale"]]);
  });

  it.each([
    ["id", ({ id }: DocumentInterface) => new Document({ id: id as string, pageContent: "a summary" })],
    ["metadata", ({ metadata }: DocumentInterface) => ({ pageContent: "a summary", metadata })],
    ["text", ({ pageContent }: DocumentInterface) => new Document({ pageContent })],
  ])("recognise a document that the outer one has built again by its %s", async (_what, rebuilt) => {
    const { memory, retriever } = await bench();
    const rebuilding = new OwnRetriever(async (question, config) => {
      const [first] = await retriever.invoke(question, config);
      return [rebuilt(first as DocumentInterface)];
    });
    await answer(memory, rebuilding);
    expect(await shown(memory)).toEqual([["restart"]]);
  });

  it.each([
    ["the same metadata object", { metadata: { source: "runbook" } }],
    ["no metadata", { metadata: undefined }],
    ["no text", { pageContent: "" }],
    ["null for an id", { id: null }],
  ])("take no document for another where all have %s", async (_what, same) => {
    const { memory } = await bench();
    const documents = ["restart", "scale", "clear"].map((name) => {
      const document = { id: `id ${name}`, pageContent: `text ${name}`, metadata: { name }, ...same };
      return document as unknown as Document;
    });
    const baseRetriever = memory.retriever(new OwnRetriever(async () => documents));
    await answer(memory, new ContextualCompressionRetriever({ baseRetriever, baseCompressor: new KeepLast() }));
    expect(Object.keys(await credit(memory))).toHaveLength(1);
  });

  it("take no document for that of another store with the same id", async () => {
    const { memory } = await bench();
    const tables = await Promise.all(
      ["runbooks", "owners"].map(async (collection) => {
        const documents = [new Document({ id: "1", pageContent: `payment queue ${collection}` })];
        return memory.retriever(await memoryVectorStore(documents), { k: 1, collection });
      }),
    );
    const baseRetriever = new EnsembleRetriever({ retrievers: tables });
    await answer(memory, new ContextualCompressionRetriever({ baseRetriever, baseCompressor: new KeepLast() }));
    expect(await shown(memory)).toEqual([[], ["1"]]);
  });

  it("take no document for another whose id is its text", async () => {
    const { memory, retriever } = await bench();
    const naming = new OwnRetriever(async (question, config) => {
      const [first] = await retriever.invoke(question, config);
      return [first as DocumentInterface, new Document({ pageContent: "scale" })];
    });
    await answer(memory, naming);
    expect(await shown(memory)).toEqual([["restart"]]);
  });

  it("count of two retrievals the one that the outer one returned as it was", async () => {
    const { memory, showing } = await bench();
    const first = new OwnRetriever(async (question, config) => {
      const found = await showing("restart").invoke(question, config);
      await showing("scale").invoke(question, config);
      return found;
    });
    await answer(memory, first);
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("show nothing when the outer one returns nothing", async () => {
    class Nothing extends BaseDocumentCompressor {
      override compressDocuments(): Promise<Document[]> {
        return Promise.resolve([]);
      }
    }
    const { memory, retriever } = await bench();
    await answer(
      memory,
      new ContextualCompressionRetriever({ baseRetriever: retriever, baseCompressor: new Nothing() }),
    );
    expect(await credit(memory)).toEqual({});
  });
});

describe("a QavrCompressor", () => {
  it("drops into contextual compression over any retriever", async () => {
    const { memory, vectors } = await bench();
    const baseCompressor = memory.compressor({ topN: 1 });
    const found = await answer(
      memory,
      new ContextualCompressionRetriever({ baseRetriever: vectors.asRetriever(3), baseCompressor }),
    );
    expect(found).toEqual(["restart"]);
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("is narrowed by the stages after it in a pipeline", async () => {
    const { memory, vectors } = await bench();
    const pipeline = new DocumentCompressorPipeline({
      transformers: [memory.compressor({ topN: 2 }), new KeepLast() as never],
    });
    await answer(
      memory,
      new ContextualCompressionRetriever({ baseRetriever: vectors.asRetriever(3), baseCompressor: pipeline }),
    );
    expect(await shown(memory)).toEqual([["scale"]]);
  });

  it("puts what helped before what misled", async () => {
    const { memory, vectors } = await bench();
    const compression = new ContextualCompressionRetriever({
      baseRetriever: vectors.asRetriever(3),
      baseCompressor: memory.compressor({ topN: 2 }),
    });
    for (let run = 0; run < 12; run++) {
      await memory
        .recall(vectors, QUESTION, { k: 20 })
        .then(({ episode }) => episode.report({ success: true, helpful: ["scale"], harmful: ["restart"] }));
    }
    expect(await answer(memory, compression)).toEqual(["scale", "clear"]);
  });
});

describe("a QavrRetriever around other parts of the same memory", () => {
  it("ranks once around a QavrVectorStore", async () => {
    const { memory, vectors } = await bench();
    await answer(memory, memory.retriever(memory.vectorStore(vectors), { k: 2 }));
    expect(await shown(memory)).toEqual([["restart", "scale"]]);
  });

  it("takes any plain retriever, returns all that it found or the first k, and uses hashed request vectors", async () => {
    const { memory, vectors } = await bench();
    const plain = new OwnRetriever((question) => vectors.similaritySearch(question, 3));
    expect(await answer(memory, memory.retriever(plain))).toEqual(["restart", "scale", "clear"]);
    expect(await answer(memory, memory.retriever(plain, { k: 2 }))).toEqual(["restart", "scale"]);
    expect((await memory.explain(RUN_ID))?.exposures[0]?.vectorSource).toBe("hashed");
  });
});
