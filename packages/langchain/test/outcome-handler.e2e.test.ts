import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type FinishedRun, OutcomeHandler } from "../src/index.js";
import { bench, credit, nothingOpen } from "./support/bench.js";
import { only } from "./support/corpus.js";
import { failing } from "./support/graph.js";
import { sleep } from "./support/sleep.js";

const RUN_ID = "55555555-5555-4555-8555-555555555555";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the outcome handler", () => {
  it("counts a run once, however often it is registered", async () => {
    const { memory, retriever } = await bench();
    const again = new OutcomeHandler({ memory });
    const chain = RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config));
    await memory
      .track(memory.track(chain))
      .invoke("payment", { callbacks: [memory.handler, memory.handler, again], runId: RUN_ID });
    const status = await memory.status();
    expect(status.episodes.recorded).toBe(1);
    expect(status.outcomes.completed).toBe(1);
    expect((await memory.explain(RUN_ID))?.exposures).toHaveLength(1);
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("judges a run once, and counts what failed in it once, however often it is registered", async () => {
    const judged: number[] = [];
    const { memory, retriever } = await bench({ evaluate: ({ toolErrors }) => void judged.push(toolErrors) });
    const broken = tool(failing, { name: "broken", schema: { type: "object", properties: {} } });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      await broken.invoke({}, config).catch(() => undefined);
    });
    const again = new OutcomeHandler({ memory });
    await memory.track(chain).invoke("payment", { callbacks: [memory.handler, again] });
    expect(judged).toEqual([1]);
  });

  it("has recorded the outcome when invoke returns, also where callbacks run in the background", async () => {
    const { memory, retriever } = await bench();
    vi.stubEnv("LANGCHAIN_CALLBACKS_BACKGROUND", "true");
    const handler = new OutcomeHandler({ memory });
    vi.unstubAllEnvs();
    const chain = RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config));
    await chain.invoke("payment", { callbacks: [handler] });
    expect((await memory.status()).outcomes.completed).toBe(1);
  });

  it("copies to itself and keeps its name out of minifiers' hands", async () => {
    const { memory } = await bench();
    expect(memory.handler.copy()).toBe(memory.handler);
    expect(OutcomeHandler.lc_name()).toBe("OutcomeHandler");
    expect(JSON.stringify(memory.handler.toJSON())).not.toContain("store");
  });

  it("understands the parent's id in either place, as LangChain's runtime and its types disagree", async () => {
    const { memory, retriever } = await bench();
    const handler = memory.handler;
    const child = "66666666-6666-4666-8666-666666666666";
    for (const declared of [false, true]) {
      const root = declared ? RUN_ID : "77777777-7777-4777-8777-777777777777";
      const nested = `${child.slice(0, -1)}${declared ? 1 : 2}`;
      handler.handleChainStart({}, {}, root);
      if (declared) handler.handleChainStart({}, {}, nested, "chain", [], {}, "inner", root);
      else handler.handleChainStart({}, {}, nested, root, [], {}, "chain", "inner");
      expect(handler.openRuns).toBe(1);
      await handler.handleChainEnd({}, nested);
      await handler.handleChainEnd({}, root);
    }
    expect(handler.openRuns).toBe(0);
    expect(retriever.k).toBe(2);
  });

  it("follows run ids that are no UUIDs", async () => {
    const { memory } = await bench();
    memory.handler.handleChainStart({}, {}, "my-run");
    memory.handler.handleChainStart({}, {}, "my-child", "my-run", [], {}, "chain", "inner");
    expect(memory.handler.openRuns).toBe(1);
    await memory.handler.handleChainEnd({}, "my-run");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("judge is down");
      },
    ],
    ["rejects", () => Promise.reject(new Error("judge is down"))],
    ["returns NaN", () => Number.NaN],
    ["returns 2", () => 2],
    ["returns a word", () => "good" as never],
    ["returns a list", () => [] as never],
    ["gives success and reward", () => ({ success: true, reward: 1 }) as never],
  ])("takes the outcome for unknown when evaluate %s, and says so", async (_what, evaluate) => {
    const { memory, retriever, codes } = await bench({ evaluate });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    expect(await chain.invoke("payment", { runId: RUN_ID })).toHaveLength(2);
    expect(codes()).toContain("EVALUATE_FAILED");
    expect(await credit(memory)).toEqual({});
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });

    await memory.report(RUN_ID, { success: true });
    expect(Object.keys(await credit(memory))).toHaveLength(2);
  });

  it.each([
    ["cannot tell", () => null],
    ["returns nothing", () => undefined],
    ["trips over the missing output", ({ output }: FinishedRun) => (output as { text: string }).text.length > 0],
    ["returns a word", () => "bad" as never],
    ["votes on something that was not shown", () => ({ success: true, helpful: ["holiday"] })],
  ])("takes a run that threw for failed when evaluate %s", async (_what, evaluate) => {
    const { memory, retriever } = await bench({ evaluate });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      throw new Error("boom");
    });
    await expect(memory.track(chain).invoke("payment queue stuck", { runId: RUN_ID })).rejects.toThrow("boom");
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "observed" });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
  });

  it.each([
    ["that it succeeded all the same", true, { verified: 1, observed: 0 }, 0],
    ["that nobody knows", { reward: null }, { verified: 1, observed: 0 }, 1],
  ])("takes evaluate's word about a run that threw: %s", async (_what, verdict, outcomes, unknownOutcomes) => {
    const { memory, retriever } = await bench({ evaluate: () => verdict });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      throw new Error("boom");
    });
    await expect(memory.track(chain).invoke("payment", { runId: RUN_ID })).rejects.toThrow("boom");
    expect(await memory.status()).toMatchObject({ outcomes, unknownOutcomes });
  });

  it("does not ask evaluate about an aborted run, which is not a failed one", async () => {
    const { memory, retriever, codes } = await bench({ evaluate: () => Promise.reject(new Error("judge is down")) });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      await sleep(200);
    });
    const run = memory.track(chain).invoke("payment", { runId: RUN_ID, signal: AbortSignal.timeout(40) });
    await expect(run).rejects.toThrow();
    expect(codes()).not.toContain("EVALUATE_FAILED");
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
  });

  it.each([
    [true, 1],
    [false, 0],
    [0.75, 0.75],
    [{ success: false }, 0],
    [{ reward: 0.25 }, 0.25],
  ])("takes evaluate's %j for a verified reward of %d", async (verdict, reward) => {
    const { memory, retriever } = await bench({ evaluate: async () => verdict });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    await chain.invoke("payment", { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.outcome).toEqual({ reward, tier: "verified", source: "verified" });
  });

  it("records no verdict when evaluate knows none, and takes a person's word later", async () => {
    const { memory, retriever } = await bench({ evaluate: () => null });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    await chain.invoke("payment", { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
    await memory.report(RUN_ID, { success: false });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "user" });
  });

  it("records what was shown even when evaluate votes on something that was not", async () => {
    const { memory, retriever, codes } = await bench({ evaluate: () => ({ success: true, helpful: ["holiday"] }) });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    await chain.invoke("payment", { runId: RUN_ID });
    expect(codes()).toContain("OUTCOME_NOT_RECORDED");
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("hands evaluate the run: input, output, error, metadata, tags and memories", async () => {
    const runs: unknown[] = [];
    const { memory, retriever } = await bench({
      evaluate: (run) => {
        runs.push({
          ...run,
          memories: run.memories.map(({ id, handle, document }) => [handle, id, document.pageContent.length > 0]),
        });
        return null;
      },
    });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      if (question === "office") throw new Error("boom");
      return "answer";
    });
    const config = { metadata: { user_id: "u1" }, tags: ["prod"] };
    await memory.track(chain).invoke("payment queue stuck", { ...config, runId: RUN_ID });
    await memory
      .track(chain)
      .invoke("office", config)
      .catch(() => undefined);
    expect(runs[0]).toEqual({
      runId: RUN_ID,
      input: "payment queue stuck",
      output: "answer",
      error: undefined,
      metadata: { user_id: "u1" },
      tags: ["prod"],
      toolErrors: 0,
      memories: [
        ["m1", "restart", true],
        ["m2", "scale", true],
      ],
    });
    expect(runs[1]).toMatchObject({ output: undefined, error: new Error("boom") });
  });

  it("takes a run id that an application uses again for a new run", async () => {
    const { memory, retriever } = await bench();
    const chain = memory.track(
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        await retriever.invoke(question, config);
        if (question === "fail") throw new Error("boom");
      }),
    );
    await chain.invoke("payment", { runId: RUN_ID });
    await chain.invoke("fail", { runId: RUN_ID }).catch(() => undefined);
    expect((await memory.status()).outcomes).toMatchObject({ completed: 1, observed: 1 });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ tier: "observed" });
  });

  it("keeps 100 concurrent runs apart and leaves nothing behind", async () => {
    const { memory, showing } = await bench();
    const chain = memory.track(
      RunnableLambda.from(async (run: number, config: RunnableConfig) => {
        await sleep((run * 7) % 10);
        await showing(run % 2 === 0 ? "restart" : "coffee").invoke("payment", config);
        await sleep((run * 3) % 10);
        if (run % 2 === 1) throw new Error("boom");
        return run;
      }),
    );
    await Promise.all(Array.from({ length: 100 }, (_, run) => chain.invoke(run).catch(() => undefined)));
    const status = await memory.status();
    expect(status.outcomes).toMatchObject({ completed: 50, observed: 50 });
    expect(status.episodes).toMatchObject({ recorded: 100, open: 0, abandoned: 0 });
    expect(memory.handler.openRuns).toBe(0);
    expect(await credit(memory)).toEqual({ restart: 1, coffee: -1 });
  });

  it("settles a run that was quiet for longer than an open episode is kept", async () => {
    let now = 1_000_000;
    const { memory, retriever } = await bench({ clock: () => now, episodeTtl: 60_000 });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      now += 120_000;
      await memory.flush();
      expect((await memory.status()).episodes).toMatchObject({ open: 0, abandoned: 1 });
    });
    await memory.track(chain).invoke("payment queue stuck", { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("goes on in a new episode when a run retrieves again after such a pause", async () => {
    let now = 1_000_000;
    const { memory, showing, codes } = await bench({ clock: () => now, episodeTtl: 60_000 });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await showing("restart").invoke(question, config);
      now += 120_000;
      await memory.flush();
      await showing("scale").invoke(question, config);
    });
    await memory.track(chain).invoke("payment queue stuck", { runId: RUN_ID });
    expect(await credit(memory)).toEqual({ scale: 1 });
    expect(codes()).not.toContain("RANKING_FAILED");
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("forgets the oldest run beyond the limit", async () => {
    const { memory } = await bench({ maxOpenEpisodes: 3 });
    for (let run = 0; run < 10; run++) memory.handler.handleChainStart({}, {}, `run-${run}`);
    expect(memory.handler.openRuns).toBe(3);
  });
});

describe("scope", () => {
  it("comes from the root run's metadata, which a retriever's own metadata cannot shadow", async () => {
    const { memory, vectors } = await bench();
    const retriever = memory.retriever(vectors, { k: 2, metadata: { qavr_namespace: "local" } });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    await chain.invoke("payment queue stuck", {
      metadata: { qavr_namespace: "acme", qavr_context: "ops" },
      runId: RUN_ID,
    });
    expect(await credit(memory, "acme")).toEqual({ restart: 1, scale: 1 });
    expect(await credit(memory, "local")).toEqual({});
    expect(await credit(memory)).toEqual({});
    expect((await memory.explain(RUN_ID))?.exposures[0]?.context).toBe("ops");
  });

  it("is the caller's also for a bare retrieval that nobody tracks", async () => {
    const { memory, vectors } = await bench();
    const retriever = memory.retriever(vectors, { k: 2, metadata: { qavr_namespace: "local" } });
    await retriever.invoke("payment", { metadata: { qavr_namespace: "acme" }, runId: RUN_ID });
    expect(await memory.explain(RUN_ID, { namespace: "acme" })).toMatchObject({ state: "ended" });
    expect(await memory.explain(RUN_ID, { namespace: "local" })).toBeUndefined();
  });

  it("may be decided by a function of the run", async () => {
    const { memory, retriever } = await bench({ namespace: ({ metadata }) => `tenant:${metadata.tenant}` });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    await chain.invoke("payment queue stuck", { metadata: { tenant: 7, qavr_namespace: "ignored" } });
    expect(await credit(memory, "tenant:7")).toEqual({ restart: 1, scale: 1 });
  });

  it("settles a run that retrieved from two namespaces in both", async () => {
    const { memory, vectors } = await bench();
    const docs = memory.retriever(vectors, { k: 1, namespace: "docs" });
    const chats = memory.retriever(vectors, { k: 1, namespace: "chats" });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await docs.invoke(question, config);
      await chats.invoke(question, config);
    });
    await memory.track(chain).invoke("payment queue stuck");
    expect(await credit(memory, "docs")).toEqual({ restart: 1 });
    expect(await credit(memory, "chats")).toEqual({ restart: 1 });
  });

  it("gives each namespace the verdict's votes on the memories that it showed", async () => {
    const { memory, vectors, codes } = await bench({
      evaluate: () => ({ success: true, helpful: ["restart"], harmful: ["scale"] }),
    });
    const docs = memory.retriever(vectors, { k: 1, namespace: "docs", filter: only("restart") });
    const chats = memory.retriever(vectors, { k: 1, namespace: "chats", filter: only("scale") });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await docs.invoke(question, config);
      await chats.invoke(question, config);
    });
    await memory.track(chain).invoke("payment queue stuck");
    expect(await credit(memory, "docs")).toEqual({ restart: 1 });
    expect(await credit(memory, "chats")).toEqual({ scale: -1 });
    expect(codes()).not.toContain("OUTCOME_NOT_RECORDED");
  });

  it("refuses a verdict that names a memory which no namespace showed, and still records what was shown", async () => {
    const { memory, vectors, codes } = await bench({
      evaluate: () => ({ success: true, helpful: ["restart", "made-up"] }),
    });
    const docs = memory.retriever(vectors, { k: 1, namespace: "docs", filter: only("restart") });
    const chats = memory.retriever(vectors, { k: 1, namespace: "chats", filter: only("scale") });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await docs.invoke(question, config);
      await chats.invoke(question, config);
    });
    await memory.track(chain).invoke("payment queue stuck");
    expect(codes()).toContain("OUTCOME_NOT_RECORDED");
    for (const namespace of ["docs", "chats"]) {
      expect((await memory.status({ namespace })).episodes.recorded).toBe(1);
      expect(await credit(memory, namespace)).toEqual({});
    }
  });

  it("never falls back to a shared namespace when its function fails", async () => {
    const { memory, retriever, codes } = await bench({ namespace: () => "" });
    const chain = memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    expect(await chain.invoke("payment queue stuck")).toHaveLength(2);
    expect(codes()).toContain("RANKING_FAILED");
    expect((await memory.status({ namespace: "default" })).episodes.recorded).toBe(0);
  });
});
