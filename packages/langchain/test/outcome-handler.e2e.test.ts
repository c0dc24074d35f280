import { setTimeout as sleep } from "node:timers/promises";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { memoryStore, type Store } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type FinishedRun, OutcomeHandler } from "../src/index.js";
import { bench, credit, nothingOpen, RUN_ID } from "./support/bench.js";
import { childOf } from "./support/child-of.js";
import { failing } from "./support/graph.js";
import { retrieving } from "./support/retrieving.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the outcome handler", () => {
  it("counts and judges a run once, and what failed in it, however often it is registered", async () => {
    const judged: number[] = [];
    const { memory, retriever } = await bench({ evaluate: ({ toolErrors }) => judged.push(toolErrors) === 1 });
    const broken = tool(failing, { name: "broken", schema: { type: "object", properties: {} } });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      await broken.invoke({}, config).catch(() => undefined);
    });
    const callbacks = [memory.handler, memory.handler, new OutcomeHandler({ memory })];
    await memory.track(memory.track(chain)).invoke("payment", { callbacks, runId: RUN_ID });
    expect(judged).toEqual([1]);
    expect(await memory.status()).toMatchObject({ episodes: { recorded: 1 }, outcomes: { verified: 1 } });
    expect((await memory.explain(RUN_ID))?.exposures).toHaveLength(1);
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("stays beside the callbacks that a tracked chain is given later", async () => {
    const { memory, retriever, codes } = await bench();
    const heard: string[] = [];
    const hear = (name: string) => ({ handleRetrieverEnd: () => void heard.push(name) });
    const tracked = memory.track(retriever.pipe(() => "answer"));
    await tracked.withConfig({ callbacks: [hear("list")] }).invoke("payment");
    await tracked.withConfig({ callbacks: CallbackManager.fromHandlers(hear("manager")) }).invoke("payment");
    await tracked.withConfig({ callbacks: undefined as never }).invoke("payment");
    await expect.poll(() => heard).toEqual(["list", "manager"]);
    expect((await memory.status()).outcomes.completed).toBe(3);
    expect(codes()).toEqual([]);
  });

  it("takes a start that is announced again, late, for the one that it knows", async () => {
    const { memory, retriever } = await bench();
    memory.handler.handleChainStart({}, {}, RUN_ID);
    await retriever.invoke("payment queue stuck", { callbacks: childOf(memory, RUN_ID) });
    memory.handler.handleChainStart({}, {}, RUN_ID);
    await memory.handler.handleChainEnd({}, RUN_ID);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("holds no run where learning is switched off", async () => {
    const { memory } = await bench({ enabled: false });
    memory.handler.handleChainStart({}, {}, RUN_ID);
    expect(memory.handler.openRuns).toBe(0);
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

  it.each([
    ["by LangChain's runtime", [RUN_ID, [], {}, "chain", "inner"]],
    ["by its types", ["chain", [], {}, "inner", RUN_ID]],
  ])("understands the parent's id in the place that it has %s", async (_by, rest) => {
    const { handler } = (await bench()).memory;
    const child = "66666666-6666-4666-8666-666666666666";
    handler.handleChainStart({}, {}, RUN_ID);
    Reflect.apply(handler.handleChainStart, handler, [{}, {}, child, ...rest]);
    expect(handler.openRuns).toBe(1);
    for (const id of [child, RUN_ID]) await handler.handleChainEnd({}, id);
    expect(handler.openRuns).toBe(0);
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
    const chain = retrieving({ memory, retriever });
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
    await expect(
      memory.track(retriever.pipe(failing)).invoke("payment queue stuck", { runId: RUN_ID }),
    ).rejects.toThrow("boom");
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "observed" });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
  });

  it.each([
    ["that it succeeded all the same", true, { verified: 1, observed: 0 }, 0],
    ["that nobody knows", { reward: null }, { verified: 1, observed: 0 }, 1],
  ])("takes evaluate's word about a run that threw: %s", async (_what, verdict, outcomes, unknownOutcomes) => {
    const { memory, retriever } = await bench({ evaluate: () => verdict });
    await expect(memory.track(retriever.pipe(failing)).invoke("payment", { runId: RUN_ID })).rejects.toThrow("boom");
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

  it("does not ask evaluate about a run that was shown nothing", async () => {
    let asked = 0;
    const { memory } = await bench({
      evaluate: () => {
        asked += 1;
        return true;
      },
    });
    await memory.track(RunnableLambda.from(() => "answer")).invoke("question");
    expect(asked).toBe(0);
  });

  it("puts no other word in the place of evaluate's when the store could not take that", async () => {
    const inner = memoryStore();
    let failures = 1;
    const commit: Store["commit"] = (...call) =>
      failures-- > 0 ? Promise.reject(new Error("busy")) : inner.commit(...call);
    const { memory, retriever, codes } = await bench({ store: { ...inner, commit }, evaluate: () => true });
    await expect(memory.track(retriever.pipe(failing)).invoke("payment", { runId: RUN_ID })).rejects.toThrow("boom");
    await expect.poll(codes).toContain("OUTCOME_NOT_RECORDED");
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
    await memory.flush();
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "verified" });
  });

  it.each([
    ["the run", true, new RegExp(`:run:${RUN_ID}:`)],
    ["evaluate, where it names one", { success: true, idempotencyKey: "ticket" }, /:ticket$/],
  ])("records a run's outcome under a key of %s, so that it counts once", async (_whose, verdict, key) => {
    const store = memoryStore();
    const { memory, retriever } = await bench({ store, evaluate: () => verdict });
    await retrieving({ memory, retriever }).invoke("payment", { runId: RUN_ID });
    await memory.flush();
    const entries = await store.readEntries("default", { limit: 10 });
    expect(entries.filter(({ type }) => type === "outcome")).toEqual([
      expect.objectContaining({ key: expect.stringMatching(key) }),
    ]);
  });

  it.each([
    [true, 1],
    [false, 0],
    [0.75, 0.75],
    [{ success: false }, 0],
    [{ reward: 0.25 }, 0.25],
  ])("takes evaluate's %j for a verified reward of %d", async (verdict, reward) => {
    const { memory, retriever } = await bench({ evaluate: async () => verdict });
    const chain = retrieving({ memory, retriever });
    await chain.invoke("payment", { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.outcome).toEqual({ reward, tier: "verified", source: "verified" });
  });

  it("records no verdict when evaluate knows none, and takes a person's word later", async () => {
    const { memory, retriever } = await bench({ evaluate: () => null });
    const chain = retrieving({ memory, retriever });
    await chain.invoke("payment", { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
    await memory.report(RUN_ID, { success: false });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "user" });
  });

  it.each([
    ["votes on something that was not", { success: true, helpful: ["holiday"] }],
    ["names its source by more than is kept", { success: true, source: "s".repeat(513) }],
  ])("records what was shown even when evaluate %s", async (_what, verdict) => {
    const { memory, retriever, codes } = await bench({ evaluate: () => verdict });
    const chain = retrieving({ memory, retriever });
    await chain.invoke("payment", { runId: RUN_ID });
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(codes()).toContain("OUTCOME_NOT_RECORDED");
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

  it("unwraps input and output only where the object that holds them holds nothing else", async () => {
    const seen: unknown[] = [];
    const { memory, retriever } = await bench({ evaluate: ({ input, output }) => void seen.push(input, output) });
    const chain = RunnableLambda.from(async ({ input }: { input: string; user: string }, config: RunnableConfig) => {
      await retriever.invoke(input, config);
      return { output: "answer", sources: [] };
    });
    await memory.track(chain).invoke({ input: "payment", user: "u1" });
    expect(seen).toEqual([
      { input: "payment", user: "u1" },
      { output: "answer", sources: [] },
    ]);
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

  it("settles a run that was quiet for longer than an open episode is kept", async () => {
    let now = 1_000_000;
    const { memory, retriever } = await bench({ engine: { clock: () => now, episodeTtl: 60_000 } });
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
    const { memory, showing, codes } = await bench({ engine: { clock: () => now, episodeTtl: 60_000 } });
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

  it("goes on in one new episode when it retrieves several times at once after such a pause", async () => {
    let now = 1_000_000;
    const { memory, showing } = await bench({ engine: { clock: () => now, episodeTtl: 60_000 } });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await showing("coffee").invoke(question, config);
      now += 120_000;
      await memory.engine.flush();
      await Promise.all(["restart", "scale"].map((id) => showing(id).invoke(question, config)));
    });
    await memory.track(chain).invoke("payment queue stuck");
    expect(await nothingOpen(memory)).toBe(true);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    expect((await memory.status()).episodes.recorded).toBe(2);
  });
});
