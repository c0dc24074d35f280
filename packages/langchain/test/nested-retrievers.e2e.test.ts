import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import { DocumentCompressorPipeline } from "@langchain/classic/retrievers/document_compressors";
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble";
import { MultiQueryRetriever } from "@langchain/classic/retrievers/multi_query";
import { ScoreThresholdRetriever } from "@langchain/classic/retrievers/score_threshold";
import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { BaseDocumentCompressor } from "@langchain/core/retrievers/document_compressors";
import { RunnableLambda } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { describe, expect, it } from "vitest";
import type { Qavr } from "../src/index.js";
import { type Bench, bench, credit } from "./support/bench.js";
import { ids } from "./support/corpus.js";

const RUN_ID = "44444444-4444-4444-8444-444444444444";
const QUESTION = "payment queue stuck";

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
    expect(await credit(memory)).toEqual({ clear: 1 });
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
    class Parents extends BaseRetriever {
      lc_namespace = ["test"];
      constructor(readonly chunks: Bench["retriever"]) {
        super({});
      }
      override async _getRelevantDocuments(
        question: string,
        manager?: Parameters<BaseRetriever["_getRelevantDocuments"]>[1],
      ) {
        await this.chunks.invoke(question, manager ? { callbacks: manager.getChild() } : {});
        return [new Document({ pageContent: "the whole runbook" })];
      }
    }
    const { memory, retriever } = await bench();
    await answer(memory, new Parents(retriever));
    expect(await shown(memory)).toEqual([["restart", "scale"]]);
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
        .recall(vectors.asRetriever(3), QUESTION)
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

  it("takes any plain retriever, returns all that it found and uses hashed request vectors", async () => {
    const { memory, vectors } = await bench();
    expect(await answer(memory, memory.retriever(vectors.asRetriever(3)))).toEqual(["restart", "scale", "clear"]);
    expect((await memory.explain(RUN_ID))?.exposures[0]?.vectorSource).toBe("hashed");
  });

  it("returns the first k of what a plain retriever found", async () => {
    const { memory, vectors } = await bench();
    expect(await answer(memory, memory.retriever(vectors.asRetriever(5), { k: 2 }))).toEqual(["restart", "scale"]);
  });
});
