import { setTimeout as sleep } from "node:timers/promises";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { BaseRetriever } from "@langchain/core/retrievers";
import { type RunnableConfig, RunnableLambda, RunnablePassthrough, RunnableSequence } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { memoryStore, type Store } from "@qavr/core";
import { describe, expect, it } from "vitest";
import type { QavrRetriever } from "../src/index.js";
import { abortedWith } from "./support/aborted-with.js";
import { bench, credit, nothingOpen, RUN_ID } from "./support/bench.js";
import { childOf } from "./support/child-of.js";
import { failing } from "./support/graph.js";
import { OwnRetriever } from "./support/own-retriever.js";

/** The textbook chain: retrieve and format, prompt, model, parser. */
const rag = (retriever: QavrRetriever): RunnableSequence<string, string> =>
  RunnableSequence.from([
    {
      context: retriever.pipe((documents) => documents.map(({ pageContent }) => pageContent).join("\n")),
      question: new RunnablePassthrough(),
    },
    ChatPromptTemplate.fromTemplate("{context}\n\n{question}"),
    new FakeListChatModel({ responses: ["restart it"] }),
    new StringOutputParser(),
  ]);

describe("a tracked LCEL chain", () => {
  it("credits what its retriever returned, when it ends", async () => {
    const { memory, retriever } = await bench();
    const chain = memory.track(rag(retriever));
    expect(await chain.invoke("payment queue stuck", { runId: RUN_ID })).toBe("restart it");

    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    const episode = await memory.explain(RUN_ID);
    expect(episode).toMatchObject({ state: "ended", outcome: { reward: 1, tier: "completed" } });
    expect(episode?.exposures[0]?.vectorSource).toBe("host");
    expect(await nothingOpen(memory)).toBe(true);
  });

  it.each([
    ["aborted", () => ({ signal: abortedWith(undefined, 20) })],
    ["timed out", () => ({ timeout: 20 })],
    ["aborted with an error of the caller's own", () => ({ signal: abortedWith(new RangeError("gone"), 20) })],
    ["aborted with a text", () => ({ signal: abortedWith("gone", 20) })],
  ])("learns nothing when it is %s", async (_what, config) => {
    const { memory, retriever } = await bench();
    const chain = memory.track(RunnableSequence.from([retriever, () => sleep(100)]));
    await expect(chain.invoke("payment", { ...config(), runId: RUN_ID })).rejects.toThrow();
    await sleep(120);
    expect(await credit(memory)).toEqual({});
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("records nothing of a retrieval that the run's abort has overtaken, and leaves nothing open", async () => {
    const { memory, vectors, codes } = await bench();
    const controller = new AbortController();
    class Slow extends BaseRetriever {
      override lc_namespace = ["test"];

      override async _getRelevantDocuments(question: string): Promise<DocumentInterface[]> {
        controller.abort();
        await sleep(10);
        return vectors.similaritySearch(question, 3);
      }
    }
    const chain = memory.track(memory.retriever(new Slow(), { k: 2 }).pipe(() => "done"));
    await expect(chain.invoke("payment", { signal: controller.signal })).rejects.toThrow();
    await sleep(30);
    expect(await nothingOpen(memory)).toBe(true);
    expect((await memory.status()).episodes.recorded).toBe(0);
    expect(codes()).not.toContain("RANKING_FAILED");
  });

  it("knows the run's abort, whatever its reason, from the config that a recall was given", async () => {
    const { memory, vectors } = await bench();
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await memory.recall(vectors, question, { k: 2, config });
      await sleep(50);
    });
    const signal = abortedWith(new RangeError("client went away"), 20);
    const run = memory.track(chain).invoke("payment queue stuck", { runId: RUN_ID, signal });
    await expect(run).rejects.toThrow("client went away");
    await sleep(50);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
  });

  it.each([
    ["TimeoutError", "timed out"],
    ["AbortError", "gone"],
    ["ModelAbortError", "Model invocation was aborted."],
    ["Error", "Abort"],
    ["Error", "Aborted"],
  ])("learns nothing when it ends with %s: %s, also where no signal was heard", async (name, message) => {
    const { memory, retriever } = await bench();
    memory.handler.handleChainStart({}, {}, RUN_ID);
    await retriever.invoke("payment", { callbacks: childOf(memory, RUN_ID) });
    await memory.handler.handleChainError(Object.assign(new Error(message), { name }), RUN_ID);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
  });

  it.each([
    ["another name than an abort's", Object.assign(new Error("Abort"), { name: "TypeError" })],
    ["that of a limit", Object.assign(new Error("Aborted"), { name: "GraphRecursionError" })],
    ["a word that it does not bubble up", Object.assign(new Error("boom"), { is_bubble_up: false })],
  ])("has failed when its error has %s", async (_what, error) => {
    const { memory, retriever } = await bench();
    memory.handler.handleChainStart({}, {}, RUN_ID);
    await retriever.invoke("payment", { callbacks: childOf(memory, RUN_ID) });
    await memory.handler.handleChainError(error, RUN_ID);
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "observed" });
  });

  it("has failed when it throws nothing at all, although it could have been aborted", async () => {
    const { memory, retriever } = await bench();
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      throw undefined;
    });
    const { signal } = new AbortController();
    await memory
      .track(chain)
      .invoke("payment", { runId: RUN_ID, signal })
      .catch(() => undefined);
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "observed" });
  });

  it("credits what its recall tool showed, without LangGraph's context", async () => {
    const { memory, vectors } = await bench();
    const recall = memory.recallTool(vectors, { k: 2 });
    const chain = RunnableLambda.from((query: string, config: RunnableConfig) => recall.invoke({ query }, config));
    await memory.track(chain).invoke("payment queue stuck");
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("does not credit what a part showed that failed, by a retriever of its own or by recall", async () => {
    const { memory, retriever, vectors } = await bench();
    const breaking = new OwnRetriever(async (question, config) => {
      await retriever.invoke(question, config);
      return failing();
    });
    const recalling = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await memory.recall(vectors, question, { k: 1, config });
      return failing();
    });
    for (const part of [breaking, recalling]) {
      const chain = RunnableLambda.from((question: string, config: RunnableConfig) =>
        (part as typeof recalling).invoke(question, config).catch(() => "went on"),
      );
      expect(await memory.track(chain).invoke("payment")).toBe("went on");
    }
    expect(await credit(memory)).toEqual({});
  });

  it("takes nothing from one namespace for what failed in another", async () => {
    const { memory, vectors } = await bench();
    const [docs, chats] = ["docs", "chats"].map((namespace) => memory.retriever(vectors, { k: 1, namespace }));
    const attempts = ["fails", "works"];
    const part = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await docs?.invoke(question, config);
      return attempts.shift() === "fails" ? failing() : "";
    }).withRetry({ stopAfterAttempt: 2 });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await chats?.invoke(question, config);
      await part.invoke(question, config);
    });
    await memory.track(chain).invoke("payment queue stuck");
    expect(await credit(memory, "chats")).toEqual({ restart: 1 });
    expect(await credit(memory, "docs")).toEqual({ restart: 1 });
  });

  it("is kept while it goes on and on, however long ago it began", async () => {
    let now = 1_000_000;
    const { memory, showing } = await bench({ engine: { clock: () => now, episodeTtl: 60_000 } });
    const another = memory.track(RunnableLambda.from(() => "another run"));
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      for (const id of ["restart", "scale", "clear"]) {
        await showing(id).invoke(question, config);
        now += 40_000;
        await another.invoke("x");
      }
    });
    await memory.track(chain).invoke("payment");
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1, clear: 1 });
  });

  it("records nothing of a ranking that outlives it, leaves nothing open and complains of nothing", async () => {
    const { changesSince: _, ...inner } = memoryStore();
    const gate = Promise.withResolvers<void>();
    const store: Store = {
      ...inner,
      readStates: async (...call) => {
        if (call[1] === "shared") await gate.promise;
        return inner.readStates(...call);
      },
    };
    const { memory, retriever, codes } = await bench({ store, engine: { readTimeout: 5_000 } });
    let found: Promise<unknown> = Promise.resolve();
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      found = retriever.invoke(question, config);
      await sleep(20);
    });
    await memory.track(chain).invoke("payment");
    gate.resolve();
    expect(await found).toHaveLength(2);
    expect(await nothingOpen(memory)).toBe(true);
    expect(codes()).toEqual([]);
  });

  it("is only not ranked when no ledger can keep its id", async () => {
    const { memory, retriever, codes } = await bench();
    const runId = "r".repeat(600);
    memory.handler.handleChainStart({}, {}, runId);
    expect(await retriever.invoke("payment", { callbacks: childOf(memory, runId) })).toHaveLength(2);
    await memory.handler.handleChainEnd({}, runId);
    expect(new Set(codes())).toEqual(new Set(["RANKING_FAILED"]));
  });

  it.each(["inside", "around"])("does not credit the failed attempts of a retry %s track()", async (place) => {
    const { memory, showing } = await bench();
    const attempts = ["coffee", "restart"];
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      const id = attempts.shift() as string;
      await showing(id).invoke(question, config);
      return id === "coffee" ? failing() : id;
    });
    const retry = { stopAfterAttempt: 2 };
    const run = place === "inside" ? memory.track(chain.withRetry(retry)) : memory.track(chain).withRetry(retry);
    await run.invoke("payment", { runId: RUN_ID });
    expect(await credit(memory)).toEqual({ restart: 1 });
    expect((await memory.explain(RUN_ID))?.exposures.map(({ credited }) => credited)).toEqual([false, true]);
  });

  it("does not credit the branch that a fallback replaced", async () => {
    const { memory, showing } = await bench();
    const branch = (id: string, works: boolean): RunnableLambda<string, string> =>
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        await showing(id).invoke(question, config);
        return works ? id : failing();
      });
    await memory.track(branch("coffee", false).withFallbacks([branch("restart", true)])).invoke("payment");
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("debits all branches when the last fallback fails too", async () => {
    const { memory, showing } = await bench();
    const branch = (id: string): RunnableLambda<string, string> =>
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        await showing(id).invoke(question, config);
        return failing();
      });
    const chain = memory.track(branch("coffee").withFallbacks([branch("restart")]));
    await expect(chain.invoke("payment")).rejects.toThrow("boom");
    expect(await credit(memory)).toEqual({ restart: -1, coffee: -1 });
  });

  it("learns from a stream that was read to its end", async () => {
    const { memory, retriever } = await bench();
    const chunks: string[] = [];
    for await (const chunk of await memory.track(rag(retriever)).stream("payment queue stuck")) chunks.push(chunk);
    expect(chunks.join("")).toBe("restart it");
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("ends at once when its consumer has aborted a stream, without an outcome", async () => {
    const { memory, retriever, codes } = await bench();
    const aborting = new AbortController();
    const config = { runId: RUN_ID, signal: aborting.signal };
    const read = async (): Promise<void> => {
      for await (const _chunk of await memory.track(rag(retriever)).stream("payment queue stuck", config)) {
        aborting.abort();
      }
    };
    await read().catch(() => undefined);
    await memory.flush();
    expect(await nothingOpen(memory)).toBe(true);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(await credit(memory)).toEqual({});
    expect(codes()).toEqual([]);
  });

  it("gives up a stream that its consumer left, and calls it no failure, where only the handler watches", async () => {
    let now = 1_000_000;
    const { memory, retriever } = await bench({ engine: { clock: () => now, episodeTtl: 60_000 } });
    const config = { runId: RUN_ID, callbacks: [memory.handler] };
    for await (const _chunk of await rag(retriever).stream("payment queue stuck", config)) break;
    await sleep(50);
    expect(memory.handler.openRuns).toBe(1);

    now += 120_000;
    await memory.track(RunnableLambda.from(() => "another run")).invoke("x");
    await memory.flush();
    expect(memory.handler.openRuns).toBe(0);
    expect(await credit(memory)).toEqual({});
    expect((await memory.status()).episodes).toMatchObject({ open: 0, abandoned: 1 });
    await memory.report(RUN_ID, { success: false });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
  });
});

describe("a bare retriever", () => {
  it("is an episode of its own that ends without a verdict and can be reported on by its run id", async () => {
    const { memory, retriever, codes } = await bench();
    await retriever.invoke("payment queue stuck", { callbacks: [memory.handler], runId: RUN_ID });
    expect(await nothingOpen(memory)).toBe(true);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(await credit(memory)).toEqual({});
    expect(codes()).not.toContain("NO_OUTCOME_TRACKING");

    await memory.report(RUN_ID, { success: true });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("is over when it fails", async () => {
    const { memory, retriever } = await bench();
    const breaking = new OwnRetriever(async (question, config) => {
      await retriever.invoke(question, config);
      return failing();
    });
    await expect(breaking.invoke("payment", { callbacks: [memory.handler] })).rejects.toThrow("boom");
    expect(await nothingOpen(memory)).toBe(true);
    expect(await credit(memory)).toEqual({});
  });

  it("keeps the callbacks that it was made with, a list or a manager, beside its own", async () => {
    const { memory, vectors } = await bench();
    const heard: string[] = [];
    const hear = (name: string) => ({ handleRetrieverEnd: () => void heard.push(name) });
    const given = { list: [hear("list")], manager: CallbackManager.fromHandlers(hear("manager")) };
    for (const [name, callbacks] of Object.entries(given)) {
      await memory.retriever(vectors, { k: 1, callbacks }).invoke("payment", { runId: name });
      expect(await memory.explain(name)).toMatchObject({ state: "ended" });
    }
    await expect.poll(() => heard).toEqual(["list", "manager"]);
  });

  it("is recorded under its run id also where nobody passed the handler, and says once that nothing tracks it", async () => {
    const { memory, retriever, codes } = await bench();
    await retriever.invoke("payment queue stuck", { runId: RUN_ID });
    await retriever.invoke("payment queue stuck");
    expect(codes().filter((code) => code === "NO_OUTCOME_TRACKING")).toHaveLength(1);
    await memory.report(RUN_ID, { success: true });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });
});

describe("a bare recall tool", () => {
  it("is an episode of its own that ends without a verdict", async () => {
    const { memory, vectors } = await bench();
    const recall = memory.recallTool(vectors, { k: 2 });
    await recall.invoke({ query: "payment" }, { callbacks: [memory.handler], runId: RUN_ID });
    expect(await nothingOpen(memory)).toBe(true);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
    expect(await credit(memory)).toEqual({});
  });
});
