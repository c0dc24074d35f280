import { createRetrieverTool } from "@langchain/classic/tools/retriever";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { fakeModel } from "@langchain/core/testing";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OutcomeHandler } from "../src/index.js";
import { approval, type Call, calling, messageOf } from "./support/agent.js";
import { bench, credit, nothingOpen, RUN_ID } from "./support/bench.js";
import { failing } from "./support/graph.js";

const QUESTION = { messages: [{ role: "user" as const, content: "payment queue stuck?" }] };

const recall = (query = "payment queue stuck", id = "c1"): Call => ({ name: "recall_memories", args: { query }, id });
const report = (args: Record<string, unknown>, id = "c2"): Call => ({ name: "report_outcome", args, id });

describe("a tracked agent", () => {
  it("credits what its recall tool showed", async () => {
    const { memory, vectors } = await bench();
    const agent = memory.track(
      createAgent({ model: calling([recall()]), tools: memory.tools(vectors, { k: 2 }), name: "ops" }),
    );
    const result = await agent.invoke(QUESTION, { runId: RUN_ID });
    const message = messageOf(result, "recall_memories");
    expect(message.content).toBe(
      "[m1] restart the payment service when the payment queue is stuck\n" +
        "[m2] scale the payment workers when the payment queue grows",
    );
    expect(message.artifact?.map(({ id }) => id)).toEqual(["restart", "scale"]);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("credits what LangChain's own retriever tool returned", async () => {
    const { memory, retriever } = await bench();
    // Its declared type does not compile under exactOptionalPropertyTypes.
    const lookUp: unknown = createRetrieverTool(retriever, { name: "look_up", description: "looks things up" });
    const agent = memory.track(
      createAgent({
        model: calling([{ name: "look_up", args: { query: "payment queue stuck" }, id: "c1" }]),
        tools: [lookUp as StructuredToolInterface],
      }),
    );
    const result = await agent.invoke(QUESTION, { metadata: { qavr_namespace: "acme" } });
    expect(messageOf(result, "look_up").content).toContain("restart the payment service");
    expect(await credit(memory, "acme")).toEqual({ restart: 1, scale: 1 });
  });

  it("lets the agent's own report overrule the mere end, by handle", async () => {
    const { memory, vectors } = await bench();
    const agent = memory.track(
      createAgent({
        model: calling(
          [recall()],
          [report({ success: true, helpful: ["m1"], harmful: ["[m2]"], note: "queue was fine" })],
        ),
        tools: memory.tools(vectors, { k: 2 }),
      }),
    );
    const result = await agent.invoke(QUESTION, { runId: RUN_ID });
    expect(messageOf(result, "report_outcome").content).toBe("Recorded.");
    expect(await credit(memory)).toEqual({ restart: 1, scale: -1 });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({
      reward: 1,
      tier: "self-reported",
      note: "queue was fine",
    });
  });

  it("names the handles that the model made up, and counts the rest", async () => {
    const { memory, vectors } = await bench();
    const agent = memory.track(
      createAgent({
        model: calling([recall()], [report({ helpful: ["m1", "m9"], harmful: ["m7"] })]),
        tools: memory.tools(vectors, { k: 2 }),
      }),
    );
    const result = await agent.invoke(QUESTION);
    expect(messageOf(result, "report_outcome").content).toBe("Recorded. Ignored m9, m7: not shown in this run.");
    expect((await credit(memory)).restart).toBe(1);
  });

  it.each([
    [{ helpful: "m1", success: "yes" }, "Recorded. Ignored success: it must be true or false."],
    [
      { helpful: [1, 2] },
      "Nothing was recorded: say whether the task succeeded, or name recalled memories. Ignored helpful: it must be a list of handles.",
    ],
    [
      { helpful: ["m1"], harmful: ["m1"] },
      "Nothing was recorded: say whether the task succeeded, or name recalled memories. Ignored m1: named both as helpful and as harmful.",
    ],
    [
      { helpful: ["m1", "m2"], harmful: ["restart"] },
      "Recorded. Ignored m1, restart: named both as helpful and as harmful.",
    ],
    [{}, "Nothing was recorded: say whether the task succeeded, or name recalled memories."],
  ])(
    "answers the malformed report %j, also to an agent whose middleware would crash on a throwing tool",
    async (args, answer) => {
      const { memory, vectors } = await bench();
      const passThrough = createMiddleware({
        name: "pass-through",
        wrapToolCall: (request, handler) => handler(request),
      });
      const agent = memory.track(
        createAgent({
          model: calling([recall()], [report(args)]),
          tools: memory.tools(vectors, { k: 2 }),
          middleware: [passThrough],
        }),
      );
      expect(messageOf(await agent.invoke(QUESTION), "report_outcome").content).toBe(answer);
    },
  );

  it("answers a recall without a query", async () => {
    const { memory, vectors } = await bench();
    const agent = memory.track(
      createAgent({
        model: calling([{ name: "recall_memories", args: { text: "payment" }, id: "c1" }]),
        tools: memory.tools(vectors),
      }),
    );
    expect(messageOf(await agent.invoke(QUESTION), "recall_memories").content).toMatch(/^Say what to look for/);
  });

  it.each([[null], [[1]]])("answers a recall whose arguments are no object: %j", async (args) => {
    const { memory, vectors } = await bench();
    const call = { name: "recall_memories", args: args as never, id: "c1", type: "tool_call" as const };
    expect(JSON.stringify(await memory.recallTool(vectors).invoke(call))).toContain("Say what to look for");
  });

  it("counts a report once when its tool call is repeated", async () => {
    const { memory, retriever } = await bench();
    const reporting = memory.reportOutcomeTool();
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      const call = { ...report({ success: true }), type: "tool_call" as const };
      for (let time = 0; time < 2; time++) await reporting.invoke(call, config);
    });
    await memory.track(chain).invoke("payment queue stuck");
    expect((await memory.status()).outcomes["self-reported"]).toBe(1);
  });

  it("says so when there is nothing to report on", async () => {
    const { memory } = await bench();
    const agent = createAgent({ model: calling([report({ success: true })]), tools: [memory.reportOutcomeTool()] });
    const tracked = await memory.track(agent).invoke(QUESTION);
    expect(messageOf(tracked, "report_outcome").content).toBe(
      "Nothing was recorded: no memory was recalled in this run.",
    );
    const again = createAgent({ model: calling([report({ success: true })]), tools: [memory.reportOutcomeTool()] });
    expect(messageOf(await again.invoke(QUESTION), "report_outcome").content).toBe(
      "Nothing was recorded: this run is not tracked.",
    );
  });

  it("goes on after a tool error and lets evaluate judge by it", async () => {
    const seen: number[] = [];
    const { memory, vectors } = await bench({
      evaluate: ({ toolErrors, memories, output, error }) => {
        seen.push(toolErrors, memories.length);
        expect(error).toBeUndefined();
        expect((output as { messages: unknown[] }).messages.length).toBeGreaterThan(3);
        return toolErrors === 0;
      },
    });
    const broken = tool(
      () => {
        throw new Error("tool exploded");
      },
      { name: "broken", description: "fails", schema: z.object({}) },
    );
    const agent = memory.track(
      createAgent({
        model: calling([recall()], [{ name: "broken", args: {}, id: "c2" }]),
        tools: [broken, memory.recallTool(vectors, { k: 2 })],
      }),
    );
    // A second handler of the same memory hears everything again.
    const callbacks = [new OutcomeHandler({ memory })];
    const result = await agent.invoke(QUESTION, { runId: RUN_ID, callbacks });
    expect(messageOf(result, "broken").text).toContain("tool exploded");
    expect(seen).toEqual([1, 2]);
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
  });

  it.each<[string, (id: string) => ToolMessage]>([
    ["failed", failing],
    [
      "answered that it had failed",
      (id) => new ToolMessage({ content: "no such table", name: "look_up", status: "error", tool_call_id: id }),
    ],
  ])("does not credit what a tool retrieved before it %s", async (_, answerOf) => {
    const seen: number[] = [];
    const { memory, showing } = await bench({
      evaluate: ({ toolErrors }) => {
        seen.push(toolErrors);
        return true;
      },
    });
    const lookUp = tool(
      async (_input, config) => {
        await showing("coffee").invoke("payment");
        return answerOf((config as { toolCall?: { id?: string } }).toolCall?.id ?? "");
      },
      { name: "look_up", description: "fails", schema: z.object({}) },
    );
    const agent = memory.track(
      createAgent({
        model: calling([{ name: "look_up", args: {}, id: "c1" }], [recall("payment", "c2")]),
        tools: [lookUp, memory.recallTool(showing("restart"))],
      }),
    );
    await agent.invoke(QUESTION);
    expect(seen).toEqual([1]);
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("takes the recursion limit for a failure", async () => {
    const { memory, vectors } = await bench();
    const endless = Array.from({ length: 30 }, (_, i) => [recall("payment queue stuck", `c${i}`)]);
    const agent = memory.track(
      createAgent({ model: calling(...endless), tools: [memory.recallTool(vectors, { k: 2 })] }),
    );
    await expect(agent.invoke(QUESTION, { recursionLimit: 6 })).rejects.toThrow("Recursion limit");
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
  });

  it("lets a resumed agent report on what it was shown before the interrupt", async () => {
    const { memory, vectors } = await bench();
    const act = tool(() => "done", { name: "act", description: "acts", schema: z.object({}) });
    const agent = memory.track(
      createAgent({
        model: calling([recall()], [{ name: "act", args: {}, id: "c2" }], [report({ harmful: ["m2"] }, "c3")]),
        tools: [act, ...memory.tools(vectors, { k: 2 })],
        middleware: [approval()],
        checkpointer: new MemorySaver(),
      }),
    );
    const config = { configurable: { thread_id: "H" } };
    await agent.invoke(QUESTION, config);
    const result = await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
    expect(messageOf(result, "report_outcome").content).toBe("Recorded.");
    expect((await credit(memory)).scale).toBe(-1);
  });

  it("attributes what middleware and a nested agent retrieve without passing any config", async () => {
    const { memory, showing } = await bench();
    const look = tool(
      async () => {
        await showing("scale").invoke("payment");
        return "x";
      },
      { name: "look", description: "looks", schema: z.object({}) },
    );
    const inner = createAgent({ model: calling([{ name: "look", args: {}, id: "i1" }]), tools: [look], name: "inner" });
    const delegate = tool(
      async () => {
        await inner.invoke(QUESTION);
        return "delegated";
      },
      { name: "delegate", description: "delegates", schema: z.object({}) },
    );
    const before = createMiddleware({
      name: "memories",
      beforeAgent: async () => {
        await showing("restart").invoke("payment");
      },
    });
    const agent = memory.track(
      createAgent({
        model: calling([{ name: "delegate", args: {}, id: "o1" }]),
        tools: [delegate],
        middleware: [before],
      }),
    );
    await agent.invoke(QUESTION, { runId: RUN_ID });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    expect((await memory.explain(RUN_ID))?.exposures).toHaveLength(2);
    expect((await memory.status()).episodes).toMatchObject({ recorded: 1, open: 0 });
  });

  it("works with a model that answers at once", async () => {
    const { memory, vectors } = await bench();
    const model = fakeModel().respond(new AIMessage("no idea"));
    await memory.track(createAgent({ model, tools: memory.tools(vectors) })).invoke(QUESTION);
    expect((await memory.status()).episodes.recorded).toBe(0);
    expect(await nothingOpen(memory)).toBe(true);
  });
});
