import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { memoryStore, QavrError, type Store } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";
import { bench } from "./support/bench.js";
import { ids, memoryVectorStore } from "./support/corpus.js";

const QUESTION = "payment queue stuck";
const RUN_ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A store in which everything fails from the moment it is told to. */
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

describe("when the store fails", () => {
  it("a retriever returns the host's first k and the run goes on, with coded log lines", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever, codes } = await bench({ store });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
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
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
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

  it("throws where that was asked for", async () => {
    const { store, breakNow } = fragile();
    const { memory, retriever, vectors } = await bench({ store, onError: "throw" });
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    await chain.invoke(QUESTION);
    breakNow();
    const asked = memory.recall(vectors, QUESTION);
    await expect(asked).rejects.toSatisfy((error) => QavrError.isInstance(error, "STORE_FAILED"));
    await expect(chain.invoke(QUESTION)).rejects.toSatisfy((error) => QavrError.isInstance(error, "STORE_FAILED"));
  });
});

describe("when the host fails", () => {
  it("its error reaches the caller and counts against nobody", async () => {
    const { memory, vectors } = await bench();
    vi.spyOn(vectors, "similaritySearchVectorWithScore").mockRejectedValue(new Error("host is down"));
    await expect(memory.retriever(vectors).invoke(QUESTION)).rejects.toThrow("host is down");
    await expect(memory.vectorStore(vectors).similaritySearch(QUESTION)).rejects.toThrow("host is down");
    expect((await memory.status()).seq).toBe(0);
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
  });

  it("is the one of the environment when the code names none", async () => {
    vi.stubEnv("QAVR_STORE", "postgresql://localhost/qavr");
    await expect(qavr().status()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await qavr({ store: memoryStore() }).status()).seq).toBe(0);
  });

  it("cannot be used after it was closed, also if it never was opened", async () => {
    const memory = qavr({ store: "/nowhere/ledger.db" });
    await memory.close();
    await memory.close();
    await expect(memory.status()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
