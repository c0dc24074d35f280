import type { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import type { LibSQLVectorStore } from "@langchain/community/vectorstores/libsql";
import type { USearch } from "@langchain/community/vectorstores/usearch";
import type { Document, DocumentInterface } from "@langchain/core/documents";
import { FewShotPromptTemplate, PromptTemplate } from "@langchain/core/prompts";
import type { BaseRetrieverInterface } from "@langchain/core/retrievers";
import { RunnableLambda, type RunnableSequence } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { VectorStore } from "@langchain/core/vectorstores";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import type { EpisodeView } from "@qavr/core";
import { createAgent, FakeToolCallingModel } from "langchain";
import { describe, expectTypeOf, it } from "vitest";
import {
  type DocumentExplanation,
  type FinishedRun,
  type Qavr,
  QavrRetriever,
  type Recall,
  type RecallEpisode,
  type RecalledMemory,
  type RetrieverOptions,
} from "../src/index.js";
import type { ReflectOn, SettledRun } from "../src/reflection/index.js";

// Checked by the compiler; nothing here runs.
declare const memory: Qavr;
declare const vectors: MemoryVectorStore;
declare const usearch: USearch;
declare const libsql: LibSQLVectorStore;
declare const retriever: BaseRetrieverInterface;

describe("the types", () => {
  it("of a tracked runnable stay the runnable's", () => {
    () => {
      const chain = RunnableLambda.from((question: string) => question.length);
      expectTypeOf(memory.track(chain)).toEqualTypeOf(chain);
      const sequence = chain.pipe((count: number) => ({ count }));
      expectTypeOf(memory.track(sequence)).toEqualTypeOf<typeof sequence>();
      expectTypeOf(sequence).toExtend<RunnableSequence<string, { count: number }> | object>();
      const State = Annotation.Root({ question: Annotation<string> });
      const graph = new StateGraph(State)
        .addNode("n", () => ({}))
        .addEdge(START, "n")
        .compile();
      expectTypeOf(memory.track(graph)).toEqualTypeOf(graph);
      const agent = createAgent({ model: new FakeToolCallingModel({ toolCalls: [] }), tools: memory.tools(vectors) });
      expectTypeOf(memory.track(agent)).toEqualTypeOf(agent);
      // @ts-expect-error A plain object is no runnable.
      memory.track({ invoke: () => 1 });
    };
  });

  it("of a wrapped store keep the members that only it has, and its filter", () => {
    () => {
      expectTypeOf(memory.vectorStore(usearch).save).toEqualTypeOf<USearch["save"]>();
      expectTypeOf(memory.vectorStore(vectors).inner).toEqualTypeOf<MemoryVectorStore>();
      expectTypeOf(memory.vectorStore(vectors).maxMarginalRelevanceSearch("a", { k: 1 }, undefined)).resolves.toExtend<
        DocumentInterface[]
      >();
      expectTypeOf(memory.vectorStore(libsql).addDocuments([])).resolves.toEqualTypeOf<string[]>();
      expectTypeOf(memory.vectorStore(vectors)).toExtend<VectorStore>();
      memory.retriever(vectors, { filter: (document: Document) => document.id === "a" });
      // @ts-expect-error MemoryVectorStore filters by a function.
      memory.retriever(vectors, { filter: { kind: "fix" } });
      memory.retriever(retriever, { k: 3 });
      memory.recallTool(retriever, { name: "remember" });
    };
  });

  it("of options that are kept in a variable fit every store", () => {
    () => {
      const options: RetrieverOptions = { k: 3 };
      memory.retriever(vectors, options);
      memory.retriever({} as VectorStore, options);
      memory.retriever(retriever, options);
      memory.recallTool(vectors, options);
      QavrRetriever.fromVectorStore(vectors, { memory, ...options });
      const generic = <Store extends VectorStore>(store: Store): unknown => memory.retriever(store, { k: 3 });
      return generic;
    };
  });

  it("of an application's own collection let its fields be there and undefined", () => {
    () => {
      const hit = {
        id: "a",
        text: "restart",
        similarity: 1,
        query: undefined as string | undefined,
        metadata: undefined as object | undefined,
      };
      const collection = { name: "rows", namespace: undefined as string | undefined, search: async () => [hit] };
      memory.retriever(collection, { k: 1 });
      memory.vectorStore(collection);
    };
  });

  it("of a selector of examples fit prompts, and know the store's filter", () => {
    () => {
      const exampleSelector = memory.exampleSelector(vectors, { filter: (document: Document) => document.id === "a" });
      const examplePrompt = PromptTemplate.fromTemplate("{input}");
      new FewShotPromptTemplate({ exampleSelector, examplePrompt, inputVariables: ["question"] });
      const keys = ["question"] as const;
      memory.exampleSelector(retriever, { k: 3, inputKeys: keys, exampleKeys: keys });
      // @ts-expect-error MemoryVectorStore filters by a function.
      memory.exampleSelector(vectors, { filter: { kind: "fix" } });
    };
  });

  it("of a node's config are those that LangGraph gives it", () => {
    () => {
      const State = Annotation.Root({ question: Annotation<string> });
      new StateGraph(State).addNode("n", async ({ question }, config) => {
        expectTypeOf(await memory.search(config.store, ["ops"], question, config)).toExtend<{ text: string }[]>();
        expectTypeOf(await memory.recall(vectors, question, { config })).toExtend<{ documents: unknown[] }>();
        return {};
      });
    };
  });

  it("of the parts of a recall and a run have names, which the declarations of a library need", () => {
    expectTypeOf<Recall["episode"]>().toEqualTypeOf<RecallEpisode>();
    expectTypeOf<FinishedRun["memories"]>().toEqualTypeOf<readonly RecalledMemory[]>();
    expectTypeOf<(run: SettledRun) => boolean>().toExtend<ReflectOn>();
  });

  it("of tools fit agents and say what they take", () => {
    () => {
      const [recall, report] = memory.tools(vectors);
      expectTypeOf(recall).toExtend<StructuredToolInterface>();
      expectTypeOf(report).toExtend<StructuredToolInterface>();
      expectTypeOf(recall.invoke({ query: "x" })).resolves.toEqualTypeOf<string>();
      expectTypeOf(report.invoke({ success: true })).resolves.toEqualTypeOf<string>();
    };
  });

  it("of an explanation follow what is asked for", () => {
    () => {
      expectTypeOf(memory.explain("run")).resolves.toEqualTypeOf<EpisodeView | undefined>();
      expectTypeOf(memory.explain({} as DocumentInterface)).resolves.toEqualTypeOf<DocumentExplanation | undefined>();
      // @ts-expect-error An outcome has no such field.
      memory.report("run", { succeeded: true });
    };
  });
});
