import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseStore,
  Command,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createAgent, createMiddleware, tool, toolStrategy } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { qavrMiddleware, withAgents } from "../../src/agents/index.js";
import { QavrStore } from "../../src/langgraph/index.js";
import { abortedWith } from "../support/aborted-with.js";
import { ASKED, approval, type Call, recording, systemPrompts } from "../support/agent.js";
import { type Bench, bench, credit, nothingOpen, RUN_ID } from "../support/bench.js";
import { itWithAbortedStreams, itWithEventsOfVersion3, itWithJoiningAgents } from "../support/framework-features.js";
import { failing } from "../support/graph.js";
import { itemId, itemStore, PREFIX } from "../support/item-store.js";

const THREAD = { configurable: { thread_id: "T" } };
const NOTHING = z.object({});
const both = { restart: 1, scale: 1 } as const;

const act = (work: () => unknown = () => "acted", name: string = "act") =>
  tool(async () => String(await work()), { name, description: "acts", schema: NOTHING });
/** Answers with a Command, as tools that change the agent's state do. */
const noting = (name: string, status: "success" | "error" | undefined) =>
  tool(
    async (_, { toolCall }: { toolCall?: { id?: string } }) => {
      const message = new ToolMessage({
        content: "noted",
        tool_call_id: toolCall?.id as string,
        ...(status && { status }),
      });
      return new Command({ update: { messages: [message] } });
    },
    { name, description: "notes", schema: NOTHING },
  ) as unknown as ReturnType<typeof act>;
const calls = (...names: string[]): Call[] => names.map((name, i) => ({ name, args: {}, id: `${name}-${i}` }));

/** A tracked agent that is shown two memories. */
function agentOf({ memory, vectors }: Bench, steps: Call[][] = [], tools = [act()]) {
  return withAgents(memory, { base: vectors, k: 2 }).agent({ model: recording(...steps), tools });
}

describe("how the run of an agent with memories may end", () => {
  it.each([["stopped"], [new RangeError("gone")]])(
    "aborted for a reason of the caller's own, while one of its parallel tools is done: nothing is learned: %s",
    async (reason) => {
      const setup = await bench();
      const controller = new AbortController();
      const abort = async () => {
        await sleep(20);
        controller.abort(reason);
        await sleep(50);
      };
      const agent = agentOf(setup, [calls("act", "abort")], [act(), act(abort, "abort")]);
      const config = { runId: RUN_ID, signal: controller.signal };
      await expect(agent.invoke(ASKED, config)).rejects.toThrow(/stopped|gone/);
      await expect.poll(() => setup.memory.handler.openRuns).toBe(0);
      await setup.memory.flush();
      expect(await setup.memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
      expect(await credit(setup.memory)).toEqual({});
    },
  );

  it("with a stream that was read to its end: it has ended", async () => {
    const setup = await bench();
    for await (const _chunk of await agentOf(setup).stream(ASKED)) {
      // Read on.
    }
    expect(await credit(setup.memory)).toEqual(both);
    expect(await nothingOpen(setup.memory)).toBe(true);
  });

  itWithAbortedStreams("with a stream that its reader left: it is aborted, and no failure", async () => {
    const setup = await bench();
    const agent = agentOf(setup, [calls("act"), calls("act")], [act(() => sleep(20))]);
    for await (const _chunk of await agent.stream(ASKED)) break;
    await expect.poll(() => setup.memory.handler.openRuns).toBe(0);
    await setup.memory.flush();
    const { episodes, outcomes } = await setup.memory.status();
    expect(episodes).toMatchObject({ open: 0, recorded: 1, abandoned: 0 });
    expect(outcomes).toMatchObject({ completed: 0, observed: 0 });
  });

  itWithEventsOfVersion3("aborted in a tool while its events are read: nothing is learned or stays open", async () => {
    const setup = await bench();
    const agent = agentOf(setup, [calls("act")], [act(() => sleep(200))]);
    const signal = abortedWith(new RangeError("gone"), 60);
    const stream = await agent.streamEvents(ASKED, { version: "v3", runId: RUN_ID, signal });
    // LangChain rejects a call's output as well.
    const called = (async () => {
      for await (const { output } of stream.toolCalls) await output;
    })();
    await expect(called).rejects.toThrow("gone");
    await expect(stream.output).rejects.toThrow("gone");
    await expect.poll(() => setup.memory.handler.openRuns).toBe(0);
    expect(await setup.memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(await credit(setup.memory)).toEqual({});
  });

  const broken = tool(failing, { name: "broken", description: "fails", schema: NOTHING }) as unknown as ReturnType<
    typeof act
  >;

  it.each([
    ["after tools that succeeded: it has succeeded", [calls("act")], 1],
    ["after a tool that succeeded where another had failed: it has succeeded", [calls("broken"), calls("act")], 1],
    ["after a tool that failed: it has failed", [calls("act"), calls("broken")], 0],
    ["after tools that all failed: it has failed", [calls("broken", "broken")], 0],
    ["after tools of which one failed: its result is unknown", [calls("act", "broken")], undefined],
    ["after a tool that does not exist: its result is unknown", [calls("unheard")], undefined],
    ["after a Command where a tool had failed: it has succeeded", [calls("broken"), calls("note")], 1],
    ["after a Command and a tool that failed: its result is unknown", [calls("note", "broken")], undefined],
    ["after a Command that says that it failed: it has failed", [calls("refuse")], 0],
    [
      "with a report on memories after a tool that failed: it has failed",
      [calls("broken"), [{ name: "report_outcome", args: { helpful: ["m1"] }, id: "r" }]],
      0,
    ],
  ])("%s", async (_how, steps, reward) => {
    const setup = await bench();
    const memories = { base: setup.vectors, k: 2, reportTool: true };
    const agent = withAgents(setup.memory, memories).agent({
      model: recording(...steps),
      tools: [act(), broken, noting("note", undefined), noting("refuse", "error")],
    });
    await agent.invoke(ASKED, { runId: RUN_ID });
    const expected = reward === undefined ? undefined : expect.objectContaining({ reward, tier: "completed" });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toEqual(expected);
  });

  it.each([
    ["after a tool that failed: it has failed", [], 0],
    ["after a tool that succeeded where another had failed: it has succeeded", [calls("act")], 1],
  ])("with a structured response %s", async (_how, steps, reward) => {
    const setup = await bench();
    const agent = withAgents(setup.memory, { base: setup.vectors, k: 2 }).agent({
      model: recording(calls("broken"), ...steps, [{ name: "answer", args: { fixed: true }, id: "s" }]),
      tools: [act(), broken],
      responseFormat: toolStrategy({ title: "answer", type: "object", properties: { fixed: { type: "boolean" } } }),
    });
    const { structuredResponse } = await agent.invoke(ASKED, { runId: RUN_ID });
    expect(structuredResponse).toEqual({ fixed: true });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward, tier: "completed" });
  });

  it("after a call that a middleware answered itself, where a tool had failed: it has succeeded", async () => {
    const setup = await bench();
    const answering = createMiddleware({
      name: "answering",
      async wrapToolCall(request, handler) {
        const { name, id } = request.toolCall;
        const message = { content: "answered", tool_call_id: id as string };
        if (name !== "broken") return new ToolMessage(message);
        try {
          return await handler(request);
        } catch {
          return new ToolMessage({ ...message, status: "error" });
        }
      },
    });
    const agent = withAgents(setup.memory, { base: setup.vectors, k: 2 }).agent({
      model: recording(calls("broken"), calls("act")),
      tools: [act(), broken],
      middleware: [answering],
    });
    await agent.invoke(ASKED, { runId: RUN_ID });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });

  it.each([
    ["and did nothing else: its result is unknown", [], undefined],
    ["and another one succeeded: it has succeeded", [calls("other")], 1],
  ])("after a person rejected a tool call %s", async (_what, after, reward) => {
    const setup = await bench();
    const agent = withAgents(setup.memory, { base: setup.vectors, k: 2 }).agent({
      model: recording(calls("act"), ...after),
      tools: [act(), act(undefined, "other")],
      middleware: [approval()],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ASKED, { ...THREAD, runId: RUN_ID });
    await agent.invoke(new Command({ resume: { decisions: [{ type: "reject" }] } }), THREAD);
    expect((await setup.memory.explain(RUN_ID))?.outcome?.reward).toBe(reward);
  });

  it("in a chat whose earlier turn ended after a failed tool: that says nothing about this turn", async () => {
    const setup = await bench();
    const model = recording(calls("broken")).respond(new AIMessage("done again"));
    const agent = withAgents(setup.memory, { base: setup.vectors, k: 2 }).agent({
      model,
      tools: [broken],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ASKED, THREAD);
    await agent.invoke(ASKED, { ...THREAD, runId: RUN_ID });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });
});

describe("an agent with memories inside another run", () => {
  it("is part of it, as a subgraph: its memories are credited once, by the graph's end", async () => {
    const setup = await bench({ evaluate: ({ output }) => (output as { messages: unknown[] }).messages.length > 99 });
    const inner = createAgent({
      model: recording(),
      middleware: [qavrMiddleware({ memory: setup.memory, base: setup.vectors, k: 2 })],
    });
    const outer = new StateGraph(MessagesAnnotation)
      .addNode("agent", async (state) => ({ messages: (await inner.invoke(state)).messages.slice(-1) }))
      .addEdge(START, "agent")
      .compile();
    await setup.memory.track(outer).invoke(ASKED, { runId: RUN_ID });
    expect((await setup.memory.explain(RUN_ID))?.exposures).toHaveLength(1);
    expect(await credit(setup.memory)).toEqual({ restart: -1, scale: -1 });
    expect((await setup.memory.status()).episodes).toMatchObject({ recorded: 1, open: 0 });
  });

  itWithJoiningAgents("is part of it, in a tool, both tracked: one episode, whose handles go on", async () => {
    const setup = await bench();
    const model = recording();
    const inner = withAgents(setup.memory, { base: setup.vectors, k: 1, query: () => "office coffee" }).agent({
      model,
    });
    const delegate = act(async () => (await inner.invoke(ASKED)).messages.length);
    await agentOf(setup, [calls("act")], [delegate]).invoke(ASKED, { runId: RUN_ID });
    expect(systemPrompts(model)[0]).toContain("[m3] the office coffee machine");
    expect((await setup.memory.explain(RUN_ID))?.exposures).toHaveLength(2);
    expect(await credit(setup.memory)).toEqual({ ...both, coffee: 1 });
    expect((await setup.memory.status()).episodes).toMatchObject({ recorded: 1, open: 0 });
  });

  itWithJoiningAgents("is not credited by the success of a run that went on without it", async () => {
    const setup = await bench({ evaluate: () => true });
    const model = recording();
    model.alwaysThrow(new Error("inner model is down"));
    const inner = withAgents(setup.memory, { base: setup.vectors, k: 1, query: () => "office coffee" }).agent({
      model,
    });
    const delegate = act(async () => (await inner.invoke(ASKED)).messages.length);
    await agentOf(setup, [calls("act")], [delegate]).invoke(ASKED);
    expect(await credit(setup.memory)).toEqual(both);
  });

  it("is part of it, in a tool that hands its config on", async () => {
    const setup = await bench();
    const inner = withAgents(setup.memory, { base: setup.vectors, k: 1, query: () => "office coffee" }).agent({
      model: recording(),
    });
    const delegate = tool(
      async (_input, config: RunnableConfig) => String((await inner.invoke(ASKED, config)).messages.length),
      { name: "act", description: "acts", schema: NOTHING },
    );
    await agentOf(setup, [calls("act")], [delegate]).invoke(ASKED, { runId: RUN_ID });
    expect((await setup.memory.explain(RUN_ID))?.exposures).toHaveLength(2);
    expect(await credit(setup.memory)).toEqual({ ...both, coffee: 1 });
    expect((await setup.memory.status()).episodes).toMatchObject({ recorded: 1, open: 0 });
  });

  it("waits with its memories when it is interrupted there, and is settled by the run that resumes the graph", async () => {
    const setup = await bench();
    const model = recording(calls("act"));
    const middleware = [qavrMiddleware({ memory: setup.memory, base: setup.vectors, k: 2 }), approval()];
    const inner = createAgent({ model, tools: [act()], middleware });
    const compiled = new StateGraph(MessagesAnnotation)
      .addNode("agent", async (state) => ({ messages: (await inner.invoke(state)).messages.slice(-1) }))
      .addEdge(START, "agent")
      .compile({ checkpointer: new MemorySaver() });
    const graph = setup.memory.track(compiled);
    await graph.invoke(ASKED, { ...THREAD, runId: RUN_ID });
    expect(await setup.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    await graph.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), THREAD);
    const [before, after] = systemPrompts(model);
    expect(after).toBe(before);
    expect(await credit(setup.memory)).toEqual(both);
    expect((await setup.memory.status()).episodes).toMatchObject({ recorded: 1, suspended: 0, open: 0 });
  });
});

describe("a graph's store", () => {
  it("is part of the run in subgraphs and attempts that a retry policy replaced, like any retrieval", async () => {
    const setup = await bench();
    const store = new QavrStore({ memory: setup.memory, store: await itemStore() });
    const attempts = ["office coffee machine", "restart the payment service"];
    const look = async (_state: unknown, config: LangGraphRunnableConfig) => {
      const query = attempts.shift() as string;
      await setup.memory.search(config.store as BaseStore, PREFIX, query, config, { limit: 1 });
      return query.startsWith("office") ? failing() : {};
    };
    const subgraph = new StateGraph(MessagesAnnotation)
      .addNode("look", look, { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } })
      .addEdge(START, "look")
      .compile();
    const graph = new StateGraph(MessagesAnnotation).addNode("sub", subgraph).addEdge(START, "sub").compile({ store });
    await setup.memory.track(graph).invoke(ASKED);
    expect(await credit(setup.memory)).toEqual({ [itemId("restart")]: 1 });
  });

  it("ranks in the memory's own namespace, since a batch may serve the runs of several", async () => {
    const setup = await bench();
    const inner = await itemStore();
    const store = new QavrStore({ memory: setup.memory, store: inner });
    const [wrong] = await setup.memory.search(inner, PREFIX, "payment queue stuck", undefined, { limit: 1 });
    for (let run = 0; run < 4; run++) await setup.memory.report(wrong?.episode as string, { success: false });
    const keysSeen: string[] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("look", async (_state, config: LangGraphRunnableConfig) => {
        for (const given of [config.store as BaseStore, store]) {
          const found = await given.search(PREFIX, { query: "payment queue stuck", limit: 1 });
          keysSeen.push(...found.map(({ key }) => key));
        }
        return {};
      })
      .addEdge(START, "look")
      .compile({ store });
    await setup.memory.track(graph).invoke(ASKED, { metadata: { qavr_namespace: "acme" } });
    expect(wrong?.key).toBe("restart");
    expect(keysSeen).toHaveLength(2);
    expect(keysSeen).not.toContain("restart");
  });
});
