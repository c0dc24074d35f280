import { setTimeout as sleep } from "node:timers/promises";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { memoryStore, QavrError, type Store } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { heldStore } from "../../core/test/support/held-store.js";
import { qavr } from "../src/index.js";
import { bench, credit, NEXT_RUN_ID, QUESTION, RUN_ID } from "./support/bench.js";
import { ids, memoryVectorStore } from "./support/corpus.js";
import { OwnRetriever } from "./support/own-retriever.js";
import { retrieving } from "./support/retrieving.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A store whose calls all fail after a switch. */
function fragile(): { store: Store; breakNow: () => void } {
  const inner = memoryStore();
  let broken = false;
  const store = Object.fromEntries(
    Object.entries(inner).map(([name, member]) => [
      name,
      typeof member !== "function"
        ? member
        : (...args: never[]) => {
            if (!broken) return (member as (...args: never[]) => unknown)(...args);
            const failure = new Error("disk on fire");
            // The one call that is not asynchronous.
            if (name === "changesSince") throw failure;
            return Promise.reject(failure);
          },
    ]),
  ) as unknown as Store;
  return {
    store,
    breakNow: () => {
      broken = true;
    },
  };
}

/** A store that refuses commits until it comes back. */
function outOfReach(): { store: Store; comeBack: () => void } {
  const inner = memoryStore();
  let isAway = true;
  return {
    store: {
      ...inner,
      commit: (...given) => (isAway ? Promise.reject(new Error("connection refused")) : inner.commit(...given)),
    },
    comeBack: () => {
      isAway = false;
    },
  };
}

describe("when the store does not answer", () => {
  it.each([
    ["at all", ["commit", "readStates"]],
    ["commits", ["commit"]],
  ] as const)(
    "%s, a run ends all the same, and its outcome is recorded when the store answers again",
    async (_what, methods) => {
      const { store, hold, release } = heldStore(...methods);
      const { memory, retriever, codes } = await bench({ store, engine: { writeTimeout: 600_000 } });
      const chain = retrieving({ memory, retriever });
      await chain.invoke(QUESTION);
      hold();
      for (let run = 0; run < 4; run++) expect(await chain.invoke(QUESTION)).toHaveLength(2);
      release();
      await memory.flush();
      expect((await memory.status()).episodes).toMatchObject({ recorded: 5, open: 0 });
      expect(codes()).not.toContain("OUTCOME_NOT_RECORDED");
    },
  );

  it("a run waits in full where failures of learning are to be thrown", async () => {
    const { store, hold } = heldStore("commit");
    const { memory, retriever } = await bench({ store, engine: { writeTimeout: 1_500 }, onError: "throw" });
    const chain = retrieving({ memory, retriever });
    hold();
    await expect(chain.invoke(QUESTION)).rejects.toMatchObject({ code: "STORE_TIMEOUT" });
  });
});

describe("when the store fails", () => {
  it("a retriever returns the host's first k and the run goes on, with coded log lines", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever, codes } = await bench({ store });
    const chain = retrieving({ memory, retriever });
    await chain.invoke(QUESTION);
    breakNow();
    expect(ids(await chain.invoke(QUESTION))).toEqual(["restart", "scale"]);
    expect(codes()).toContain("RANKING_DEGRADED");
    expect(codes()).toContain("OUTCOME_NOT_RECORDED");
    expect(memory.handler.openRuns).toBe(0);
  });

  it("vector stores, compressors and recall fail open too", async () => {
    const { store, breakNow } = fragile();
    const { memory, vectors } = await bench({ store });
    breakNow();
    expect(ids(await memory.vectorStore(vectors).similaritySearch(QUESTION, 2))).toEqual(["restart", "scale"]);
    expect(
      await memory.compressor({ topN: 1 }).compressDocuments(await vectors.similaritySearch(QUESTION), QUESTION),
    ).toHaveLength(1);
    expect(ids((await memory.recall(vectors, QUESTION, { k: 1 })).documents)).toEqual(["restart"]);
  });

  it("a resumed thread starts a new episode, and says so", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever, codes } = await bench({ store });
    const chain = retrieving({ memory, retriever });
    breakNow();
    expect(await chain.invoke(QUESTION, { metadata: { thread_id: "T" } })).toHaveLength(2);
    expect(codes()).toContain("EPISODE_NOT_RESUMED");
  });

  it("an agent's report is answered, not thrown", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever } = await bench({ store });
    const tool = memory.reportOutcomeTool();
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      breakNow();
      return tool.invoke({ success: true }, config);
    });
    expect(await memory.track(chain).invoke(QUESTION)).toBe(
      "The report could not be recorded (STORE_FAILED). Go on without it.",
    );
  });

  it("a report rejects, since an acknowledgement must mean something", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever } = await bench({ store });
    await retriever.invoke(QUESTION, { runId: RUN_ID });
    breakNow();
    await expect(memory.report(RUN_ID, { success: true })).rejects.toThrow();
  });

  it("still records the outcome in the namespaces whose commits succeed, and says that one did not", async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      commit: (namespace, ...rest) =>
        namespace === "docs" ? Promise.reject(new Error("disk on fire")) : inner.commit(namespace, ...rest),
    };
    const { memory, vectors, codes } = await bench({ store });
    const [docs, chats] = ["docs", "chats"].map((namespace) => memory.retriever(vectors, { k: 1, namespace }));
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await docs?.invoke(question, config);
      await chats?.invoke(question, config);
    });
    await memory.track(chain).invoke(QUESTION);
    expect(await credit(memory, "chats")).toEqual({ restart: 1 });
    expect(codes()).toContain("OUTCOME_NOT_RECORDED");
  });

  it.each(["the next run", "flush"])("an end that it refused once is recorded by %s", async (by) => {
    const { store, comeBack } = outOfReach();
    const { memory, retriever, codes } = await bench({ store, evaluate: () => true });
    const chain = retrieving({ memory, retriever });
    await chain.invoke(QUESTION, { runId: RUN_ID });
    await expect.poll(codes).toContain("OUTCOME_NOT_RECORDED");
    // The end of a retrieval that finds nothing succeeds meanwhile.
    await memory.retriever(new OwnRetriever(async () => [])).invoke(QUESTION);
    await sleep(10);
    comeBack();
    if (by === "the next run") {
      await chain.invoke(QUESTION);
      await expect.poll(async () => (await store.readEntries("default", { limit: 9 })).length).toBe(4);
    } else await memory.flush();
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { reward: 1, tier: "verified" } });
  });

  it.each([0, 1])(
    "an end is recorded before what is reported later, after %d reports that were refused, too",
    async (refused) => {
      const { store, comeBack } = outOfReach();
      const { memory, retriever, lines } = await bench({ store, evaluate: () => true });
      for (const runId of [RUN_ID, NEXT_RUN_ID]) await retrieving({ memory, retriever }).invoke(QUESTION, { runId });
      await expect.poll(() => lines.filter(({ level }) => level === "error").length).toBe(2);
      const report = (): Promise<unknown> => memory.report(NEXT_RUN_ID, { success: false, tier: "verified" });
      for (let count = 0; count < refused; count++) await expect(report()).rejects.toThrow("connection refused");
      comeBack();
      await report();
      await memory.flush();
      // Of one tier the later outcome counts.
      expect((await memory.explain(NEXT_RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
      expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "verified" });
    },
  );

  it("throws where that was asked for", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever, vectors } = await bench({ store, onError: "throw" });
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const chain = retrieving({ memory, retriever });
    await chain.invoke(QUESTION);
    breakNow();
    const asked = memory.recall(vectors, QUESTION);
    await expect(asked).rejects.toSatisfy((error) => QavrError.isInstance(error, "STORE_FAILED"));
    await expect(chain.invoke(QUESTION)).rejects.toSatisfy((error) => QavrError.isInstance(error, "STORE_FAILED"));
  });
});

describe("when a run asks for what learning refuses", () => {
  const namespaces = ["a\uD800", "n".repeat(5000)];

  it.each(namespaces)("a namespace that no ledger can keep leaves the host's answer (%#)", async (qavr_namespace) => {
    const { memory, vectors, retriever, codes } = await bench();
    const search = vi.spyOn(vectors, "similaritySearchVectorWithScore");
    const store = memory.vectorStore(vectors);
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      const found = await retriever.invoke(question, config);
      const plain = await memory.retriever(vectors.asRetriever(3), { k: 2 }).invoke(question, config);
      const searched = await store.asRetriever(2).invoke(question, config);
      return [found, plain, searched].map(ids);
    });
    const asTheHost = ["restart", "scale"];
    expect(await memory.track(chain).invoke(QUESTION, { metadata: { qavr_namespace } })).toEqual([
      asTheHost,
      asTheHost,
      asTheHost,
    ]);
    expect(search.mock.calls.map(([, k]) => k)).toEqual([2, 2, 2]);
    expect(new Set(codes())).toEqual(new Set(["RANKING_FAILED"]));
    expect(memory.handler.openRuns).toBe(0);
  });

  it("a context that no ledger can keep leaves the host's answer", async () => {
    const { memory, vectors, retriever, codes } = await bench();
    await (await memory.recall(vectors, QUESTION)).episode.report({ success: true });
    const search = vi.spyOn(vectors, "similaritySearchVectorWithScore");
    const metadata = { qavr_context: "c\uD800" };
    expect(ids(await retriever.invoke(QUESTION, { metadata }))).toEqual(["restart", "scale"]);
    expect(search.mock.calls.map(([, k]) => k)).toEqual([2]);
    expect(codes()).toContain("RANKING_FAILED");
  });

  it.each([Number.NaN, -1, 2.5, "3", null])("a vector store answers k = %j as the wrapped one", async (k) => {
    const { memory, vectors } = await bench();
    // With evidence, so that a legal k would be asked for widely.
    await (await memory.recall(vectors, QUESTION)).episode.report({ success: true });
    const vector = await vectors.embeddings.embedQuery(QUESTION);
    const store = memory.vectorStore(vectors);
    const search = vi.spyOn(vectors, "similaritySearchVectorWithScore");
    const asked = k as number;
    const searches = (of: typeof vectors | typeof store) => [
      () => of.similaritySearch(QUESTION, asked),
      () => of.similaritySearchWithScore(QUESTION, asked),
      () => of.similaritySearchVectorWithScore(vector, asked),
    ];
    for (const [place, own] of searches(vectors).entries()) {
      const answer = await own();
      const mine = await searches(store)[place]?.();
      expect(mine).toEqual(answer);
      expect(search.mock.calls.at(-1)?.[1]).toBe(search.mock.calls.at(-2)?.[1]);
    }
  });

  it("says so with a code, and throws where that was asked for", async () => {
    const { memory, vectors, codes } = await bench();
    await memory.vectorStore(vectors).similaritySearch(QUESTION, Number.NaN);
    expect(codes()).toContain("RANKING_FAILED");
    const strict = await bench({ onError: "throw" });
    await expect(strict.memory.vectorStore(vectors).similaritySearch(QUESTION, -1)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("when the host fails", () => {
  it("by returning what are no documents, the run goes on", async () => {
    for (const method of ["warn", "error"] as const) vi.spyOn(console, method).mockImplementation(() => undefined);
    const { memory, retriever } = await bench();
    const odd = new OwnRetriever(async (question, config) => {
      await retriever.invoke(question, config);
      return [null as never];
    });
    const chain = RunnableLambda.from((question: string, config: RunnableConfig) => odd.invoke(question, config));
    expect(await memory.track(chain).invoke(QUESTION)).toEqual([null]);
  });

  it("its error reaches the caller and counts against nobody", async () => {
    const { memory, vectors } = await bench();
    vi.spyOn(vectors, "similaritySearchVectorWithScore").mockRejectedValue(new Error("host is down"));
    await expect(memory.retriever(vectors).invoke(QUESTION)).rejects.toThrow("host is down");
    await expect(memory.vectorStore(vectors).similaritySearch(QUESTION)).rejects.toThrow("host is down");
    expect((await memory.status()).seq).toBe(0);
  });

  it("by a function for scores that throws, the host's first k are returned, and the failure is logged", async () => {
    const { memory, vectors, codes } = await bench();
    const scores = (): number => {
      throw new Error("no score");
    };
    expect(await memory.retriever(vectors, { k: 2, scores }).invoke(QUESTION)).toHaveLength(2);
    expect(codes()).toContain("RANKING_FAILED");
  });

  it("a broken logger breaks nothing", async () => {
    const logger = {
      warn: () => {
        throw new Error("logger is down");
      },
    };
    const memory = qavr({ store: memoryStore(), logger });
    expect(await memory.retriever(await memoryVectorStore(), { k: 1 }).invoke(QUESTION)).toHaveLength(1);
  });
});

describe("the named store", () => {
  it("is opened by its first use only, and a missing driver fails open on retrieval and closed on reports", async () => {
    vi.doMock("@qavr/postgres", () => {
      throw new Error("Cannot find package '@qavr/postgres'");
    });
    const lines: string[] = [];
    const memory = qavr({
      store: "postgres://localhost/qavr",
      logger: { warn: (_message, { code }) => lines.push(code) },
    });
    expect(lines).toEqual([]);
    expect(ids(await memory.retriever(await memoryVectorStore(), { k: 1 }).invoke(QUESTION))).toEqual(["restart"]);
    expect(lines).toContain("RANKING_DEGRADED");
    await expect(memory.status()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { package: "@qavr/postgres" },
      message: expect.stringContaining("Install it"),
    });
    await memory.close();
    vi.doUnmock("@qavr/postgres");
  });

  it("is the one of the environment when the code names none", async () => {
    vi.stubEnv("QAVR_STORE", "postgresql://localhost:1/qavr");
    await expect(qavr().status()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { place: "schema qavr at localhost:1/qavr" },
    });
    expect((await qavr({ store: memoryStore() }).status()).seq).toBe(0);
  });

  it("cannot be used after it was closed, also if it never was opened", async () => {
    const memory = qavr({ store: "/nowhere/ledger.db" });
    await memory.close();
    await memory.close();
    await expect(memory.status()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
