import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { type Runnable, RunnableLambda } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type QavrOptions, qavr } from "../src/index.js";
import { type Bench, bench, credit } from "./support/bench.js";
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

  it("is none where the handler has heard of the run, though it was not handed on", async () => {
    const { memory, retriever, codes } = await bench();
    memory.handler.handleChainStart({}, {}, "run");
    await retriever.invoke("payment queue stuck", { callbacks: new CallbackManager("run") });
    await memory.handler.handleChainEnd({}, "run");
    expect(codes()).not.toContain("NO_OUTCOME_TRACKING");
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("is fine for recall, which has its own report, and where learning is switched off", async () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const vectors = await memoryVectorStore();
    await qavr({ store: memoryStore() }).recall(vectors, "payment");
    await qavr({ store: memoryStore(), enabled: false }).retriever(vectors).invoke("payment");
    expect(emitWarning).not.toHaveBeenCalled();
  });
});

describe("a store that cannot be opened", () => {
  /** A runtime whose Node lacks a module, or none of whose modules know it. */
  const without = (missing: string): void => {
    const { getBuiltinModule } = process;
    vi.spyOn(process, "getBuiltinModule").mockImplementation(((name: string) => {
      if (name === missing) return undefined;
      const found = getBuiltinModule(name) as object | undefined;
      return name === "node:module" ? { ...found, isBuiltin: (asked: string) => asked !== missing } : found;
    }) as typeof getBuiltinModule);
  };
  const notInstalled = (): void => {
    const { getBuiltinModule } = process;
    const resolve = (): never => {
      throw Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" });
    };
    vi.spyOn(process, "getBuiltinModule").mockImplementation(((name: string) =>
      name === "node:module"
        ? { createRequire: () => ({ resolve }) }
        : getBuiltinModule(name)) as typeof getBuiltinModule);
  };
  const file = fileURLToPath(import.meta.url);

  it.each<[string, string, () => void, string, RegExp]>([
    ["Node lacks node:sqlite", "ledger.db", () => without("node:sqlite"), "STORE_UNAVAILABLE", /Use Node 22\.13/],
    ["its folder is a file", `${file}/a/ledger.db`, () => {}, "STORE_UNWRITABLE", /lies under a file\. Name a file/],
    ["it is a folder", tmpdir(), () => {}, "STORE_UNWRITABLE", /is a folder\. Name a file/],
    ["its package is missing", "postgres://localhost/qavr", notInstalled, "STORE_UNAVAILABLE", /Install it/],
  ])("is known when the memory is made: %s", (_, store, prepare, code, advice) => {
    prepare();
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    qavr({ store });
    expect(emitWarning.mock.calls).toEqual([
      [expect.stringMatching(advice), { type: "QavrWarning", code: "STORE_UNUSABLE" }],
    ]);
    const lines: [string, string][] = [];
    qavr({ store, logger: { warn: (message, fields) => lines.push([message, fields.code]) } });
    expect(lines).toEqual([[expect.stringMatching(advice), "STORE_UNUSABLE"]]);
    expect(() => qavr({ store, onError: "throw" })).toThrow(expect.objectContaining({ code }));
    qavr({ store, enabled: false, onError: "throw" });
    expect(emitWarning).toHaveBeenCalledTimes(1);
  });

  it("leaves the order of the vector store where a process has functions that throw, as Next.js's edge runtime does", async () => {
    const refuse = (): never => {
      throw new Error("A Node.js API is used which is not supported in the Edge Runtime.");
    };
    const vectors = await memoryVectorStore();
    vi.stubGlobal("process", { env: {}, version: undefined, getBuiltinModule: refuse, emitWarning: refuse });
    try {
      expect(await qavr().retriever(vectors, { k: 1 }).invoke("payment")).toHaveLength(1);
      const lines: string[] = [];
      qavr({ logger: { warn: (_, { code }) => lines.push(code) } });
      expect(lines).toEqual(["STORE_UNUSABLE"]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("is none of a store that will be made, in memory or elsewhere", () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const stores = [join(tmpdir(), "not/yet/there/ledger.db"), ":memory:", "postgres://localhost/qavr", memoryStore()];
    for (const store of stores) qavr({ store, onError: "throw" });
    without("node:sqlite");
    qavr({ store: memoryStore(), onError: "throw" });
    expect(emitWarning).not.toHaveBeenCalled();
  });
});

describe("a use that teaches little", () => {
  const run = async ({ memory, vectors }: Bench, { runs, k }: { runs: number; k: number }): Promise<void> => {
    const chain = memory.track(memory.retriever(vectors, { k }).pipe((found) => found));
    for (let i = 0; i < runs; i++) await chain.invoke("payment");
  };

  it("is showing all that the store holds: one warning after ten rankings", async () => {
    const narrow = await bench({ evaluate: () => true });
    await run(narrow, { runs: 10, k: 6 });
    expect(narrow.codes()).toEqual([]);
    await run(narrow, { runs: 15, k: 6 });
    expect(narrow.codes()).toEqual(["NOTHING_TO_CHOOSE_FROM"]);
    const wide = await bench({ evaluate: () => true });
    await run(wide, { runs: 2, k: 2 });
    await run(wide, { runs: 15, k: 6 });
    expect(wide.codes()).toEqual([]);
  });

  it("is judging no run: one warning after twenty, also by a process that lives for one run", async () => {
    const store = memoryStore();
    const unjudged = await bench({ store });
    await run(unjudged, { runs: 20, k: 2 });
    expect(unjudged.codes()).toEqual([]);
    await run(unjudged, { runs: 25, k: 2 });
    expect(unjudged.codes()).toEqual(["NOTHING_JUDGED"]);
    const later = await bench({ store });
    await run(later, { runs: 1, k: 2 });
    await later.memory.flush();
    expect(later.codes()).toEqual(["NOTHING_JUDGED"]);
  });

  it("is a judge that fell silent after a healthy time, in this process or an earlier one", async () => {
    const store = memoryStore();
    let runs = 0;
    const evaluate = () => (runs++ < 100 ? runs % 2 === 0 : null);
    const living = await bench({ store, evaluate });
    await run(living, { runs: 100, k: 2 });
    expect(living.codes()).toEqual([]);
    await run(living, { runs: 101, k: 2 });
    await living.memory.flush();
    expect(living.codes()).toEqual(["OUTCOMES_MISSING"]);
    runs = 0;
    await run(await bench({ store, evaluate }), { runs: 100, k: 2 });
    const restarted = await bench({ store, evaluate });
    await run(restarted, { runs: 101, k: 2 });
    await restarted.memory.flush();
    expect(restarted.codes()).toEqual(["OUTCOMES_MISSING"]);
  });

  it("is not one with a single report", async () => {
    const reported = await bench();
    await run(reported, { runs: 10, k: 2 });
    const { episode } = await reported.memory.recall(reported.vectors, "payment");
    await episode.report({ success: true });
    await run(reported, { runs: 40, k: 2 });
    expect(reported.codes()).toEqual([]);
  });
});

describe("trouble that keeps a memory from learning", () => {
  const retrieving = async (options: QavrOptions): Promise<Runnable<string, unknown>> => {
    const memory = qavr({ store: memoryStore(), ...options });
    return memory.track(memory.retriever(await memoryVectorStore(), { k: 1 }).pipe((found) => found));
  };

  it.each([
    ["a percentage", () => 85, /lies in \[0, 1\]\. Received 85/],
    ["not a number", () => Number.NaN, /Received NaN/],
    ["a word", () => "yes" as never, /Received a string/],
    ["another object", () => ({ ok: true }) as never, /no field ok/],
    ["an error", () => JSON.parse("{"), /of type SyntaxError/],
  ])("is a judge that gives %s: one process warning where there is no logger", async (_, evaluate, cause) => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const chain = await retrieving({ evaluate });
    for (let i = 0; i < 3; i++) await chain.invoke("payment");
    expect(emitWarning).toHaveBeenCalledTimes(1);
    expect(emitWarning).toHaveBeenCalledWith(expect.stringMatching(cause), {
      type: "QavrWarning",
      code: "EVALUATE_FAILED",
    });
  });

  it.each([
    ["throws", () => JSON.parse("{"), /The function namespace threw for a run/],
    ["names nobody", () => "", /The namespace of a run must be a string that is not empty/],
    ["is async", (async () => "tenant") as never, /Received object/],
  ])("is a namespace's function that %s: one process warning where there is no logger", async (_, namespace, cause) => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const chain = await retrieving({ namespace });
    for (let i = 0; i < 3; i++) await chain.invoke("payment");
    expect(emitWarning).toHaveBeenCalledTimes(1);
    expect(emitWarning).toHaveBeenCalledWith(expect.stringMatching(cause), {
      type: "QavrWarning",
      code: "RANKING_FAILED",
    });
  });

  it("is a ledger that cannot be opened", async () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const chain = await retrieving({ store: tmpdir() });
    for (let i = 0; i < 3; i++) await chain.invoke("payment");
    const ofLedger = (code: string) => [expect.stringContaining("is a folder"), { type: "QavrWarning", code }];
    expect(emitWarning.mock.calls).toEqual([ofLedger("STORE_UNUSABLE"), ofLedger("OUTCOME_NOT_RECORDED")]);
  });
});
