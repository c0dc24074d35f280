import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { memoryStore, type Store } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { qavr } from "../src/index.js";
import { bench, credit, NEXT_RUN_ID, nothingOpen, QUESTION, RUN_ID } from "./support/bench.js";
import { memoryVectorStore } from "./support/corpus.js";
import { itWithAnnouncements } from "./support/framework-features.js";
import { failing, graph, State, THREAD } from "./support/graph.js";
import { tempFolder } from "./support/temp-folder.js";

const ask = () => ({ answer: interrupt("go on?") as string });
/** Asks only about the first question. */
const askFirst = ({ question }: { question: string }) => (question === QUESTION ? ask() : {});

describe("an interrupted graph", () => {
  it("waits with its episode and settles it when it is resumed", async () => {
    const tools = await bench();
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    expect(await credit(tools.memory)).toEqual({});
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    expect(await nothingOpen(tools.memory)).toBe(true);

    const out = await run.invoke(new Command({ resume: "yes" }), THREAD);
    expect(out).toMatchObject({ answer: "yes" });
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
    expect((await tools.memory.status()).episodes).toMatchObject({ suspended: 0, recorded: 1 });
  });

  itWithAnnouncements("does not wait for a later question where its store came back after the resume", async () => {
    const inner = memoryStore();
    let isAway = true;
    const commit: Store["commit"] = (...given) =>
      isAway ? Promise.reject(new Error("connection refused")) : inner.commit(...given);
    const tools = await bench({ store: { ...inner, commit } });
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    await expect.poll(tools.codes).toContain("OUTCOME_NOT_RECORDED");
    isAway = false;
    await run.invoke(new Command({ resume: "yes" }), THREAD);
    await tools.memory.flush();
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await tools.memory.status()).episodes).toMatchObject({ open: 0, suspended: 0 });
  });

  itWithAnnouncements.each([{ interruptBefore: ["respond" as const] }, { interruptAfter: ["retrieve" as const] }])(
    "settles a static interrupt too, which no error announces: %j",
    async (breakpoint) => {
      const tools = await bench();
      const compiled = graph(tools, () => ({ answer: "x" })).compile({
        checkpointer: new MemorySaver(),
        ...breakpoint,
      });
      const run = tools.memory.track(compiled);
      await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
      expect(await credit(tools.memory)).toEqual({});
      expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
      await run.invoke(null, THREAD);
      expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
    },
  );

  itWithAnnouncements("waits although the reader of its stream leaves at the question, with more to read", async () => {
    const tools = await bench();
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    const config = { ...THREAD, runId: RUN_ID, streamMode: ["updates", "values"] as ("updates" | "values")[] };
    // LangGraph tells of an interrupt in each of the modes.
    for await (const [, chunk] of await run.stream({ question: QUESTION }, config)) if ("__interrupt__" in chunk) break;
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    expect(await nothingOpen(tools.memory)).toBe(true);
    await run.invoke(new Command({ resume: "yes" }), THREAD);
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("that is interrupted again takes reports by the id of each of its runs", async () => {
    const tools = await bench();
    const ask = () => ({ answer: `${interrupt("one?")}${interrupt("two?")}` });
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    await run.invoke(new Command({ resume: "a" }), { ...THREAD, runId: NEXT_RUN_ID });
    expect(await tools.memory.explain(NEXT_RUN_ID)).toMatchObject({ state: "suspended" });
    await run.invoke(new Command({ resume: "b" }), THREAD);
    expect(await tools.memory.report(NEXT_RUN_ID, { success: false })).toMatchObject({ status: "committed" });
    expect(await credit(tools.memory)).toEqual({ restart: -1, scale: -1 });
    expect((await tools.memory.status()).episodes).toMatchObject({ suspended: 0, recorded: 1 });
  });

  it("keeps the threads apart", async () => {
    const tools = await bench();
    const respond = ({ question }: { question: string }) => {
      interrupt("go on?");
      return question === "office coffee" ? failing() : {};
    };
    const retriever = tools.memory.retriever(tools.vectors, { k: 1 });
    const run = tools.memory.track(graph({ retriever }, respond).compile({ checkpointer: new MemorySaver() }));
    const thread = (thread_id: string) => ({ configurable: { thread_id } });
    await run.invoke({ question: "restart the payment service" }, thread("A"));
    await run.invoke({ question: "office coffee" }, thread("B"));
    await expect(run.invoke(new Command({ resume: "x" }), thread("B"))).rejects.toThrow("boom");
    expect(await credit(tools.memory)).toEqual({ coffee: -1 });
    await run.invoke(new Command({ resume: "x" }), thread("A"));
    expect(await credit(tools.memory)).toEqual({ coffee: -1, restart: 1 });
  });

  it("that is interrupted again is settled where its retriever learns, by a run that retrieves nothing there", async () => {
    const { memory, vectors } = await bench();
    const retriever = memory.retriever(vectors, { k: 2, namespace: "team" });
    const ask = () => ({ answer: `${interrupt("one?")}${interrupt("two?")}` });
    const run = memory.track(graph({ retriever }, ask).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, THREAD);
    await run.invoke(new Command({ resume: "a" }), THREAD);
    await run.invoke(new Command({ resume: "b" }), { ...THREAD, runId: NEXT_RUN_ID });
    expect(await credit(memory, "team")).toEqual({ restart: 1, scale: 1 });
    expect((await memory.status({ namespace: "team" })).episodes).toMatchObject({ suspended: 0, recorded: 1 });
    await memory.report(NEXT_RUN_ID, { success: false });
    expect(await credit(memory, "team")).toEqual({ restart: -1, scale: -1 });
  });

  it("is settled by its own tenant's run, where another tenant's thread has the same name", async () => {
    const { memory, retriever } = await bench();
    const ask = () => (interrupt("go on?") === "yes" ? {} : failing());
    const run = () => memory.track(graph({ retriever }, ask).compile({ checkpointer: new MemorySaver() }));
    const [one, other] = [run(), run()];
    const of = (qavr_namespace: string) => ({ ...THREAD, metadata: { qavr_namespace } });
    await one.invoke({ question: QUESTION }, of("one"));
    await other.invoke({ question: QUESTION }, of("other"));
    await expect(one.invoke(new Command({ resume: "no" }), of("one"))).rejects.toThrow("boom");
    expect(await credit(memory, "other")).toEqual({});
    await other.invoke(new Command({ resume: "yes" }), of("other"));
    expect(await credit(memory, "one")).toEqual({ restart: -1, scale: -1 });
    expect(await credit(memory, "other")).toEqual({ restart: 1, scale: 1 });
  });

  it("ends without a verdict where no thread could ever resume it", async () => {
    const { memory } = await bench();
    // A graph without a checkpointer cannot be resumed; the handler gets its interrupts all the same.
    const handler = memory.handler;
    handler.handleChainStart({}, {}, RUN_ID);
    await handler.handleInterrupt({ runId: RUN_ID });
    await handler.handleChainEnd({}, RUN_ID);
    expect(handler.openRuns).toBe(0);
  });

  it("is found through the chain around it, which does not see the thread", async () => {
    const tools = await bench();
    const compiled = graph(tools, ask).compile({ checkpointer: new MemorySaver() });
    // The function makes the chain, not the graph, the root.
    const first = RunnableLambda.from((input: unknown) => input);
    const chain = tools.memory.track(first.pipe(compiled as unknown as RunnableLambda<unknown, unknown>));
    await chain.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    await chain.invoke(new Command({ resume: "yes" }), THREAD);
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
  });

  itWithAnnouncements("is left alone by a new input on its thread, which earns for its own memories only", async () => {
    const tools = await bench();
    const run = tools.memory.track(graph(tools, askFirst).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    await run.invoke({ question: "office coffee machine" }, { ...THREAD, runId: NEXT_RUN_ID });
    const next = await tools.memory.explain(NEXT_RUN_ID);
    expect(next?.exposures).toHaveLength(1);
    expect(next?.outcome).toMatchObject({ tier: "completed" });
    expect(await credit(tools.memory)).toEqual({ coffee: 1, restart: 1 });
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
  });

  itWithAnnouncements("is given up when a later run on its thread is interrupted and waits in its place", async () => {
    const tools = await bench();
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, THREAD);
    await run.invoke({ question: "office coffee machine" }, { ...THREAD, runId: NEXT_RUN_ID });
    await run.invoke(new Command({ resume: "yes" }), THREAD);
    expect(await tools.memory.explain(NEXT_RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
    expect((await tools.memory.status()).episodes).toMatchObject({ suspended: 0 });
    expect(await credit(tools.memory)).toEqual({ coffee: 1, restart: 1 });
  });

  it("is a part's own matter where that runs on another thread than the run as a whole", async () => {
    const tools = await bench();
    const compiled = graph(tools, () => ({ answer: "done" }));
    const whole = compiled.compile({ checkpointer: new MemorySaver() });
    const part = compiled.compile({ checkpointer: new MemorySaver(), interruptBefore: ["respond"] });
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await whole.invoke({ question }, { ...config, configurable: { thread_id: "T1" } });
      await part.invoke({ question }, { ...config, configurable: { thread_id: "its own" } });
      return "went on";
    });
    expect(await tools.memory.track(chain).invoke(QUESTION, { runId: RUN_ID })).toBe("went on");
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
  });

  it("is not made by an error that only bears its name", async () => {
    const { memory, retriever } = await bench();
    const chain = retriever.pipe(() => {
      throw Object.assign(new Error("boom"), { name: "GraphInterrupt" });
    });
    const config = { metadata: { thread_id: "T1" }, runId: RUN_ID };
    await expect(memory.track(chain).invoke(QUESTION, config)).rejects.toThrow("boom");
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "observed", reward: 0 } });

    // The application goes on after such an error in one of its parts.
    const part = RunnableLambda.from(() => {
      throw Object.assign(new Error("boom"), { name: "GraphInterrupt" });
    });
    const whole = RunnableLambda.from(async (question: string, inner: RunnableConfig) => {
      await retriever.invoke(question, inner);
      return part.invoke("", inner).catch(() => "went on");
    });
    expect(await memory.track(whole).invoke(QUESTION, { ...config, runId: NEXT_RUN_ID })).toBe("went on");
    expect(await memory.explain(NEXT_RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
  });

  it("without a thread ends without a verdict, since nothing will ever continue it", async () => {
    const { memory, retriever, codes } = await bench();
    const chain = retriever.pipe(() => {
      throw Object.assign(new Error("interrupted"), { name: "GraphInterrupt", is_bubble_up: true });
    });
    await expect(memory.track(chain).invoke(QUESTION, { runId: RUN_ID })).rejects.toThrow("interrupted");
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
    expect(await memory.status()).toMatchObject({ episodes: { suspended: 0, open: 0 }, outcomes: { observed: 0 } });
    expect(codes()).toEqual([]);
  });

  itWithAnnouncements("settles with the run that resumes it, also if that retrieved ahead of the graph", async () => {
    const tools = await bench();
    const compiled = graph(tools, ask).compile({ checkpointer: new MemorySaver() });
    const first = RunnableLambda.from(async (input: unknown, config: RunnableConfig) => {
      if (input instanceof Command) await tools.showing("coffee").invoke("office", config);
      return input;
    });
    const chain = tools.memory.track(first.pipe(compiled as unknown as RunnableLambda<unknown, unknown>));
    await chain.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    await chain.invoke(new Command({ resume: "yes" }), { ...THREAD, runId: NEXT_RUN_ID });
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1, coffee: 1 });
    const own = (await tools.memory.explain(NEXT_RUN_ID))?.exposures.flatMap(({ items }) => items.map(({ id }) => id));
    expect(own).toEqual(["coffee"]);
    expect((await tools.memory.status()).episodes).toMatchObject({ suspended: 0, open: 0 });
  });

  it("waits under thread ids that no ledger could keep as they are", async () => {
    const tools = await bench();
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    for (const thread_id of ["t".repeat(2000), "lone \uD800"]) {
      const config = { configurable: { thread_id }, metadata: { qavr_namespace: `of ${thread_id.length}` } };
      await run.invoke({ question: QUESTION }, config);
      await run.invoke(new Command({ resume: "yes" }), config);
      expect(await credit(tools.memory, `of ${thread_id.length}`)).toEqual({ restart: 1, scale: 1 });
    }
    expect(tools.codes()).toEqual([]);
  });
});

describe("a graph that is interrupted in one branch and fails in another", () => {
  it.each([
    ["the interrupt comes first", 0, 30],
    ["the failure comes first", 30, 0],
  ])("has failed, when %s", async (_when, askAfter, failAfter) => {
    const { memory, retriever } = await bench();
    const parallel = new StateGraph(State)
      .addNode("retrieve", async ({ question }) => {
        await retriever.invoke(question);
        return {};
      })
      .addNode("ask", async () => {
        await sleep(askAfter);
        return { answer: interrupt("go on?") as string };
      })
      .addNode("fail", () => sleep(failAfter).then(failing))
      .addEdge(START, "retrieve")
      .addEdge("retrieve", "ask")
      .addEdge("retrieve", "fail")
      .compile({ checkpointer: new MemorySaver() });
    const run = memory.track(parallel);
    await expect(run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID })).rejects.toThrow("boom");
    await sleep(60);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { reward: 0, tier: "observed" } });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
  });
});

describe("a run that continues in another process", () => {
  /** Processes that share a ledger file and a checkpointer, one after the other. */
  async function processes() {
    const store = join(tempFolder(), "ledger.db");
    const checkpointer = new MemorySaver();
    const vectors = await memoryVectorStore();
    return () => {
      const memory = qavr({ store, logger: {} });
      const retriever = memory.retriever(vectors, { k: 2 });
      return { memory, run: memory.track(graph({ retriever }, askFirst).compile({ checkpointer })) };
    };
  }

  it("is settled there, through the ledger they share", async () => {
    const start = await processes();
    const first = start();
    await first.run.invoke({ question: QUESTION }, THREAD);
    await first.memory.close();
    const second = start();
    await second.run.invoke(new Command({ resume: "yes" }), { ...THREAD, runId: RUN_ID });
    expect(await credit(second.memory)).toEqual({ restart: 1, scale: 1 });
    expect(await second.memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
    await second.memory.close();
  });

  itWithAnnouncements("is left alone there by a new input on its thread", async () => {
    const start = await processes();
    const first = start();
    await first.run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    await first.memory.close();
    const second = start();
    await second.run.invoke({ question: "office coffee" }, THREAD);
    expect(await credit(second.memory)).toEqual({ coffee: 1, restart: 1 });
    expect((await second.memory.explain(RUN_ID))?.outcome).toBeUndefined();
    expect((await second.memory.status()).episodes).toMatchObject({ suspended: 1, recorded: 2 });
    await second.memory.close();
  });
});
