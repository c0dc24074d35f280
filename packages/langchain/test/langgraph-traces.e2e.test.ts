import { setTimeout as sleep } from "node:timers/promises";
import { RunnableLambda } from "@langchain/core/runnables";
import { Command, entrypoint, MemorySaver, START, StateGraph, task } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { abortedWith } from "./support/aborted-with.js";
import { bench, credit, nothingOpen, RUN_ID } from "./support/bench.js";
import { childOf } from "./support/child-of.js";
import { itWithAbortedStreams, itWithErrorHandlers } from "./support/framework-features.js";
import { failing, graph, State } from "./support/graph.js";
import { retrieving } from "./support/retrieving.js";

describe("a tracked graph", () => {
  it("credits what a node retrieved without passing its config on", async () => {
    const tools = await bench();
    const run = tools.memory.track(graph(tools, () => ({ answer: "done" })).compile());
    expect(await run.invoke({ question: "payment queue stuck" }, { runId: RUN_ID })).toMatchObject({ answer: "done" });
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
    expect((await tools.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(tools.codes()).not.toContain("NO_OUTCOME_TRACKING");
  });

  it("stays a graph", async () => {
    const tools = await bench();
    const compiled = graph(tools, () => ({})).compile({ checkpointer: new MemorySaver() });
    const tracked = tools.memory.track(compiled);
    expect(Object.keys(tracked.nodes)).toEqual(Object.keys(compiled.nodes));
    await tracked.invoke({ question: "payment" }, { configurable: { thread_id: "T" } });
    expect((await tracked.getState({ configurable: { thread_id: "T" } })).next).toEqual([]);
  });

  it.each([
    ["aborted", () => ({ signal: AbortSignal.timeout(30) })],
    ["timed out", () => ({ timeout: 30 })],
    ["aborted with an error of the caller's own", () => ({ signal: abortedWith(new RangeError("gone"), 30) })],
    ["aborted with a text", () => ({ signal: abortedWith("gone", 30) })],
  ])("learns nothing when it is %s, also not from the nodes that go on in the background", async (_what, config) => {
    const tools = await bench();
    const slow = async () => {
      await sleep(100);
      await tools.retriever.invoke("payment");
      return {};
    };
    const run = tools.memory.track(graph(tools, slow).compile());
    await expect(run.invoke({ question: "payment queue stuck" }, { ...config(), runId: RUN_ID })).rejects.toThrow();
    await sleep(200);
    expect(await credit(tools.memory)).toEqual({});
    const status = await tools.memory.status();
    expect(status.outcomes).toMatchObject({ completed: 0, observed: 0 });
    expect(status.episodes.recorded).toBe(1);
    expect((await tools.memory.explain(RUN_ID))?.outcome).toBeUndefined();
    expect(await nothingOpen(tools.memory)).toBe(true);
  });

  it("knows the run's abort, whatever its reason, from LangGraph's context alone", async () => {
    const { memory, vectors } = await bench();
    const chain = RunnableLambda.from(async (question: string) => {
      await memory.recall(vectors, question, { k: 2 });
      await sleep(50);
    });
    const signal = abortedWith(new RangeError("gone"), 20);
    await expect(memory.track(chain).invoke("payment", { runId: RUN_ID, signal })).rejects.toThrow("gone");
    await sleep(50);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect((await memory.explain(RUN_ID))?.outcome).toBeUndefined();
  });

  it("takes a tool that hands over for no failed tool", async () => {
    const judged: number[] = [];
    const { memory, retriever } = await bench({
      evaluate: ({ toolErrors }) => {
        judged.push(toolErrors);
        return true;
      },
    });
    const { handler } = memory;
    const toolId = "22222222-2222-4222-8222-222222222223";
    handler.handleChainStart({}, {}, RUN_ID);
    handler.handleToolStart({}, "", toolId, RUN_ID);
    await retriever.invoke("payment queue stuck", { callbacks: childOf(memory, toolId) });
    await handler.handleToolError(Object.assign(new Error(), { name: "ParentCommand", is_bubble_up: true }), toolId);
    await handler.handleChainEnd({}, RUN_ID);
    expect(judged).toEqual([0]);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("takes a failing branch of a parallel step for a failure, although its sibling is aborted", async () => {
    const { memory, retriever } = await bench();
    const parallel = new StateGraph(State)
      .addNode("retrieve", async () => {
        await retriever.invoke("payment queue stuck");
        await sleep(30);
        return {};
      })
      .addNode("fail", failing)
      .addEdge(START, "retrieve")
      .addEdge(START, "fail")
      .compile();
    await expect(memory.track(parallel).invoke({ question: "" })).rejects.toThrow("boom");
    await sleep(60);
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("does not credit the attempts that a retry policy replaced", async () => {
    const { memory, showing } = await bench();
    const attempts = ["coffee", "restart"];
    const retried = new StateGraph(State)
      .addNode(
        "retrieve",
        async () => {
          const id = attempts.shift() as string;
          await showing(id).invoke("payment");
          return id === "coffee" ? failing() : {};
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, "retrieve")
      .compile();
    await memory.track(retried).invoke({ question: "" });
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  itWithErrorHandlers.each([
    ["fails", failing],
    ["overruns its time", () => sleep(200)],
  ])("does not credit what a node retrieved that %s, where its error handler goes on", async (_what, then) => {
    const { memory, showing } = await bench();
    const look = async () => {
      await showing("coffee").invoke("payment");
      await then();
      return {};
    };
    const recover = async () => {
      await showing("restart").invoke("payment");
      return { answer: "recovered" };
    };
    const handled = new StateGraph(State)
      .addNode("look", look, { timeout: 100, errorHandler: recover })
      .addEdge(START, "look")
      .compile();
    expect(await memory.track(handled).invoke({ question: "" })).toMatchObject({ answer: "recovered" });
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("credits what a node or a task showed that caught an error of something else and went on", async () => {
    const { memory, showing } = await bench();
    const trying = async (id: string) => {
      await showing(id).invoke("payment queue stuck");
      return RunnableLambda.from(failing)
        .invoke("the first model")
        .catch(() => "the second model");
    };
    const nodes = new StateGraph(State)
      .addNode("try", async () => ({ answer: await trying("restart") }))
      .addEdge(START, "try")
      .compile();
    expect((await memory.track(nodes).invoke({ question: "payment" })).answer).toBe("the second model");
    const attempt = task("attempt", trying);
    const tasks = entrypoint("tasks", async (id: string) => attempt(id));
    expect(await memory.track(tasks).invoke("scale")).toBe("the second model");
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("takes a hand-off to the parent graph for no failure", async () => {
    const { memory, retriever } = await bench();
    const inner = new StateGraph(State)
      .addNode("hand-off", async () => {
        await retriever.invoke("payment queue stuck");
        return new Command({ graph: Command.PARENT, goto: "after", update: { answer: "handed" } });
      })
      .addEdge(START, "hand-off")
      .compile();
    const outer = new StateGraph(State)
      .addNode("inner", inner, { ends: ["after"] })
      .addNode("after", () => ({}))
      .addEdge(START, "inner")
      .compile();
    await memory.track(outer).invoke({ question: "" });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it.each([
    ["part of the run, where it is handed the config", true],
    ["run of its own, where it is not", false],
  ])("takes a chain inside a node that is tracked itself for a %s", async (_what, handed) => {
    const { memory, retriever } = await bench();
    const chain = retrieving({ memory, retriever });
    const whole = new StateGraph(State)
      .addNode("ask", async ({ question }, config) => {
        await chain.invoke(question, handed ? config : {});
        return {};
      })
      .addEdge(START, "ask")
      .compile();
    await memory.track(whole).invoke({ question: "payment queue stuck" }, { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.exposures.length ?? 0).toBe(handed ? 1 : 0);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  itWithAbortedStreams("teaches nothing when the consumer of its stream leaves, since that aborts it", async () => {
    const tools = await bench();
    const slow = async () => {
      await sleep(20);
      return {};
    };
    const longer = graph(tools, slow).addNode("also", slow).addNode("last", slow);
    const run = tools.memory.track(longer.addEdge("respond", "also").addEdge("also", "last").compile());
    for await (const _chunk of await run.stream({ question: "payment queue stuck" }, { runId: RUN_ID })) break;
    await expect.poll(() => tools.memory.handler.openRuns).toBe(0);
    await tools.memory.flush();
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(await credit(tools.memory)).toEqual({});
    await tools.memory.report(RUN_ID, { success: true });
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
  });
});
