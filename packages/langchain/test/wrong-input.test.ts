import { RunnableEach, RunnableLambda } from "@langchain/core/runnables";
import { InMemoryStore } from "@langchain/langgraph";
import { memoryStore, QavrError } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { procedureMiddleware, qavrMiddleware, rankedSkills, rankedTools } from "../src/agents/index.js";
import { OutcomeHandler, QavrCompressor, QavrRetriever, QavrVectorStore, qavr } from "../src/index.js";
import { QavrStore } from "../src/langgraph/index.js";
import { bench } from "./support/bench.js";

const refused = (act: () => unknown): unknown => {
  try {
    act();
    return "accepted";
  } catch (error) {
    return QavrError.isInstance(error) ? error.code : error;
  }
};

describe("wrong input", () => {
  it("is answered with all fields there are, and no others", async () => {
    const { memory, vectors } = await bench();
    const fieldsOf = (act: () => unknown): readonly string[] => {
      let message = "";
      try {
        act();
      } catch (error) {
        message = (error as Error).message;
      }
      return message.match(/ has no field wrong\. It has (.*)\.$/)?.[1]?.split(", ") ?? [];
    };
    const wrong = { wrong: 1 } as object;
    expect(fieldsOf(() => memory.retriever(vectors, wrong))).toContain("filter");
    expect(fieldsOf(() => memory.exampleSelector(vectors, wrong))).toEqual(
      expect.arrayContaining(["inputKeys", "exampleKeys", "k", "filter", "fetchK"]),
    );
    expect(fieldsOf(() => qavrMiddleware({ memory, base: vectors, ...wrong }))).toEqual(
      expect.arrayContaining(["base", "maxTokens", "maxCharacters", "reportTool", "k", "fetchK"]),
    );
    expect(fieldsOf(() => rankedTools({ memory, tools: [], ...wrong }))).toEqual(
      expect.arrayContaining(["tools", "base", "name", "query", "k"]),
    );
    expect(fieldsOf(() => rankedSkills({ memory, ...wrong }))).toEqual(expect.arrayContaining(["name", "query"]));
    expect(fieldsOf(() => procedureMiddleware({ memory, procedures: {} as never, ...wrong }))).toEqual(
      expect.arrayContaining(["procedures", "name", "query"]),
    );
    const unread = fieldsOf(() => memory.compressor(wrong));
    expect(unread).toContain("topN");
    expect(unread).not.toContain("fetchK");
    const ofStore = fieldsOf(() => new QavrStore({ memory, store: new InMemoryStore(), ...wrong }));
    expect(ofStore).toContain("textOf");
    expect(ofStore).not.toContain("space");
  });

  it.each([
    ["k", 0],
    ["k", -1],
    ["k", 1.5],
    ["k", Number.NaN],
    ["k", "4"],
    ["fetchK", 3],
    ["fetchK", 1001],
    ["fetchK", 4.5],
    ["scores", "ascending"],
    ["collection", ""],
    ["space", 7],
    ["namespace", ""],
    ["namespace", 7],
    ["context", {}],
    ["required", "yes"],
    ["annotate", "yes"],
    ["idOf", "id"],
    ["idKey", ""],
    ["topK", 4],
    ["searchType", "mmr"],
  ])("is refused when a retriever is made: %s = %s", async (option, value) => {
    const { memory, vectors } = await bench();
    const options = { k: 4, [option]: value } as never;
    expect(refused(() => memory.retriever(vectors, options))).toBe("INVALID_ARGUMENT");
    expect(refused(() => memory.recallTool(vectors, options))).toBe("INVALID_ARGUMENT");
    expect(refused(() => memory.exampleSelector(vectors, options))).toBe("INVALID_ARGUMENT");
    await expect(memory.recall(vectors, "x", options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it.each([
    ["inputKeys", "question"],
    ["inputKeys", [7]],
    ["exampleKeys", { input: true }],
    ["exampleKeys", null],
    ["keys", ["question"]],
  ])("is refused when a selector of examples is made: %s = %j", async (option, value) => {
    const { memory, vectors } = await bench();
    expect(refused(() => memory.exampleSelector(vectors, { [option]: value } as never))).toBe("INVALID_ARGUMENT");
  });

  it.each([[null], [undefined], [7], [{}], [{ similaritySearch: () => [] }]])(
    "is refused as a host: %j",
    async (base) => {
      const { memory } = await bench();
      expect(refused(() => memory.retriever(base as never))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.vectorStore(base as never))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.exampleSelector(base as never))).toBe("INVALID_ARGUMENT");
    },
  );

  it.each([
    [{ namespace: "" }],
    [{ context: 7 }],
    [{ evaluate: true }],
    [{ onError: "ignore" }],
    [{ idKey: "" }],
    [{ idOf: "id" }],
    [{ store: "" }],
    [{ store: 7 }],
    [{ store: null }],
    [{ store: "file:./ledger.db" }],
    [{ store: "sqlite:ledger.db" }],
    [{ store: "mysql://host/base" }],
    [{ store: "~/ledger.db" }],
    [{ enabled: "false" }],
    [{ evalute: () => true }],
    [{ sotre: memoryStore() }],
    [{ logger: () => undefined }],
    [{ engine: { episodeTtl: -1 } }],
    [{ engine: { episodeTTL: 1 } }],
    [{ engine: 7 }],
    [{ holdout: 2 }],
    [null],
  ])("is refused by qavr(%j)", (options) => {
    expect(refused(() => qavr({ store: memoryStore(), ...options } as never))).toBe(
      options === null ? "accepted" : "INVALID_ARGUMENT",
    );
    if (options === null) expect(refused(() => qavr(options as never))).toBe("INVALID_ARGUMENT");
  });

  it("is refused by the classes that take a memory", async () => {
    const { vectors } = await bench();
    for (const memory of [undefined, null, {}, vectors]) {
      const fields = { memory: memory as never };
      expect(refused(() => new QavrRetriever({ ...fields, base: vectors }))).toBe("INVALID_ARGUMENT");
      expect(refused(() => new QavrVectorStore({ ...fields, store: vectors }))).toBe("INVALID_ARGUMENT");
      expect(refused(() => new QavrCompressor(fields))).toBe("INVALID_ARGUMENT");
      expect(refused(() => new OutcomeHandler(fields))).toBe("INVALID_ARGUMENT");
    }
  });

  it("is refused by track, compressor and the tools", async () => {
    const { memory, vectors } = await bench();
    expect(refused(() => memory.track({} as never))).toBe("UNSUPPORTED");
    expect(refused(() => memory.track(null as never))).toBe("UNSUPPORTED");
    expect(refused(() => memory.track(memory.retriever(vectors)))).toBe("UNSUPPORTED");
    expect(refused(() => memory.track(memory.recallTool(vectors)))).toBe("UNSUPPORTED");
    expect(refused(() => memory.track(memory.retriever(vectors).withConfig({ tags: ["a"] })))).toBe("UNSUPPORTED");
    expect(refused(() => memory.track(memory.recallTool(vectors).withConfig({ tags: ["a"] })))).toBe("UNSUPPORTED");
    const each = new RunnableEach({ bound: memory.retriever(vectors) });
    for (const own of [each, each.withConfig({ tags: ["a"] }), memory.retriever(vectors).withRetry()]) {
      expect(refused(() => memory.track(own))).toBe("accepted");
    }
    for (const options of [1, "k", null, [4]] as never[]) {
      expect(refused(() => memory.retriever(vectors, options))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.vectorStore(vectors, options))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.compressor(options))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.exampleSelector(vectors, options))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.tools(vectors, options))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.recallTool(vectors, options))).toBe("INVALID_ARGUMENT");
      expect(refused(() => memory.reportOutcomeTool(options))).toBe("INVALID_ARGUMENT");
      const search = memory.search({ search: async () => [] }, ["ops"], "x", undefined, options);
      await expect(search).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      await expect(memory.recall(vectors, "x", options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const run of [undefined, null, 7] as never[]) {
      await expect(memory.report(run, { success: true })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const options of [{ namspace: "tenant:a" }, "tenant:a"] as never[]) {
      for (const call of [
        memory.report("run", { success: true }, options),
        memory.explain("run", options),
        memory.status(options),
      ]) {
        await expect(call).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      }
    }
    expect(refused(() => memory.compressor({ topN: 0 }))).toBe("INVALID_ARGUMENT");
    expect(refused(() => memory.recallTool(vectors, { name: "" }))).toBe("INVALID_ARGUMENT");
    expect(refused(() => memory.reportOutcomeTool({ description: "" }))).toBe("INVALID_ARGUMENT");
    expect(refused(() => memory.reportOutcomeTool({ title: "" } as never))).toBe("INVALID_ARGUMENT");
    await expect(memory.recall(vectors, 7 as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("is refused as an option where it would do nothing", async () => {
    const { memory, vectors } = await bench();
    expect(refused(() => memory.vectorStore(vectors, { k: 4 } as never))).toBe("INVALID_ARGUMENT");
    for (const option of ["fetchK", "scores", "space"]) {
      expect(refused(() => memory.compressor({ [option]: undefined }))).toBe("accepted");
      expect(refused(() => memory.compressor({ [option]: "auto" }))).toBe("INVALID_ARGUMENT");
    }
    expect(refused(() => new QavrStore({ memory, store: new InMemoryStore(), limit: 4 } as never))).toBe(
      "INVALID_ARGUMENT",
    );
    for (const option of ["annotate", "idKey", "idOf", "space"]) {
      const search = memory.search({ search: async () => [] }, ["ops"], "x", undefined, { [option]: "auto" } as never);
      await expect(search).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(() => memory.vectorStore(vectors, 4 as never)).toThrow("an object is needed");
    expect(() => memory.vectorStore(vectors, { fetchK: 0 })).toThrow("from 1 to 1000");
  });

  it.each([
    [{ namespace: "a\uD800" }, "INVALID_ID"],
    [{ context: "a\uD800" }, "INVALID_ID"],
    [{ collection: "a\uD800" }, "INVALID_ID"],
    [{ space: "a\uD800" }, "INVALID_ID"],
    [{ namespace: "n".repeat(513) }, "LIMIT_EXCEEDED"],
    [{ collection: "n".repeat(257) }, "LIMIT_EXCEEDED"],
  ])("is refused as a name that no ledger could keep: %j", async (options, code) => {
    const { memory, vectors } = await bench();
    expect(refused(() => memory.retriever(vectors, options))).toBe(code);
    expect(refused(() => memory.vectorStore(vectors, options))).toBe(code);
  });

  it("is a run or document to explain that is none", async () => {
    const { memory } = await bench();
    for (const reference of [undefined, null, 7] as never[]) {
      await expect(memory.explain(reference)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("is an engine's own option beside engine: it says where that belongs", () => {
    expect(() => qavr({ clock: Date.now } as never)).toThrow("qavr({ engine: { clock: … } })");
  });

  it("is a constructor's field under another name: it says what is missing", async () => {
    const { memory, vectors } = await bench();
    const given = { memory, vectorStore: vectors } as never;
    expect(() => new QavrRetriever(given)).toThrow(
      "QavrRetriever needs base, the vector store, retriever or collection to ask.",
    );
    expect(() => memory.retriever(undefined as never)).toThrow(/to ask\. Received memory\.$/);
    expect(() => new QavrVectorStore(given)).toThrow("QavrVectorStore needs store, the vector store to wrap.");
    for (const fields of [undefined, null, 7] as never[]) {
      for (const make of [QavrRetriever, QavrVectorStore, QavrCompressor, OutcomeHandler, QavrStore] as never[]) {
        expect(refused(() => Reflect.construct(make, [fields]))).toBe("INVALID_ARGUMENT");
      }
    }
  });

  it("is a list to format that is none or holds other things, and no text of it is repeated", async () => {
    const { memory, retriever } = await bench();
    const item = { namespace: ["notes"], key: "a", value: { text: "x" } };
    for (const memories of [retriever.invoke("x"), undefined, null, {}, [item], [null]] as never[]) {
      expect(refused(() => memory.format(memories))).toBe("INVALID_ARGUMENT");
    }
    for (const memories of ["a secret", ["a secret"]] as never[]) {
      expect(refused(() => memory.format(memories))).toBe("INVALID_ARGUMENT");
      expect(() => memory.format(memories)).toThrow(/Received "a text"\.$/);
    }
  });

  it("is a search type of a retriever: it says how to get one that learns", async () => {
    const { memory, vectors } = await bench();
    expect(() => memory.retriever(vectors, { searchType: "mmr" } as never)).toThrow(
      "memory.retriever(store.asRetriever({ k: 20, searchType: … }), { k: 4 })",
    );
  });

  it("is documents for a vector store that holds none: it says how to wrap one", async () => {
    for (const make of [QavrVectorStore.fromTexts, QavrVectorStore.fromDocuments]) {
      await expect(make()).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: expect.stringContaining("memory.vectorStore("),
      });
    }
  });

  it("is what a collection finds, where its search returns no list", async () => {
    const { memory } = await bench();
    for (const found of [undefined, { hits: [] }]) {
      await expect(
        memory.recall({ name: "prompts", search: async () => found as never }, "hello"),
      ).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("prompts") });
    }
  });

  it("is what a wrapped runnable finds, where it returns no list", async () => {
    const { memory, codes } = await bench();
    for (const found of [undefined, "restart the worker", { context: [] }]) {
      const chain = RunnableLambda.from(() => found);
      await expect(memory.retriever(chain as never).invoke("hello")).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("a list of documents"),
      });
    }
    expect(codes()).not.toContain("RANKING_FAILED");
  });

  it("is an agent's option where no agents are made: it says where they are", () => {
    expect(() => qavr({ memories: {} } as never)).toThrow("@qavr/langchain/agents");
  });

  it("names the option, what it received and what is legal", async () => {
    const { memory, vectors } = await bench();
    expect(() => memory.retriever(vectors, { k: "4" as never })).toThrow(
      'k must be a whole number of at least 1. Received "4".',
    );
    expect(() => qavr({ holdout: "0.1" as never })).toThrow('holdout must be a share in [0, 1]. Received "0.1".');
    expect(() => memory.retriever(vectors, { k: 10, fetchK: 5 })).toThrow(
      "fetchK must be a whole number from k (10) to 1000. Received 5.",
    );
  });
});
