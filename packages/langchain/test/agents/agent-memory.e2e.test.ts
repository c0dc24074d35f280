import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { memoryStore, QavrError } from "@qavr/core";
import { type AgentMiddleware, createMiddleware, modelRetryMiddleware } from "langchain";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  type AgentMemory,
  agentMemory,
  procedureMiddleware,
  qavrMiddleware,
  rankedSkills,
  rankedTools,
  withAgents,
} from "../../src/agents/index.js";
import { ASKED, calling, messageOf, recording, systemPrompts } from "../support/agent.js";
import { bench, credit, nothingOpen } from "../support/bench.js";
import { memoryVectorStore } from "../support/corpus.js";
import { itWithRetriedPrompts } from "../support/framework-features.js";

describe("memory.agent", () => {
  it("makes an agent that is shown memories and learns from how its runs end", async () => {
    const memory = agentMemory({ store: memoryStore(), logger: {}, memories: await memoryVectorStore() });
    const model = recording();
    const agent = memory.agent({ model, systemPrompt: "You are kind.", tools: [] });
    await agent.invoke(ASKED);
    expect(systemPrompts(model)[0]).toMatch(/^You are kind\.\n\n<memories>[\s\S]*\[m4\] [\s\S]*<\/memories>$/);
    expect(Object.keys(await credit(memory))).toHaveLength(4);
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("takes the middleware's options in place of a store", async () => {
    const base = (await memoryVectorStore()).asRetriever(3);
    const memory = agentMemory({ store: memoryStore(), logger: {}, memories: { base, k: 1, reportTool: true } });
    const agent = memory.agent({ model: calling([{ name: "report_outcome", args: { success: false }, id: "c1" }]) });
    const result = await agent.invoke(ASKED);
    expect(messageOf(result, "report_outcome").text).toBe("Recorded.");
    expect(await credit(memory)).toEqual({ restart: -1 });
  });

  it("takes a retriever that the memory made, with its own options", async () => {
    const { memory, showing } = await bench();
    const model = recording();
    await withAgents(memory, showing("coffee")).agent({ model }).invoke(ASKED);
    expect(systemPrompts(model)[0]?.match(/\[m\d\] .*/g)).toEqual([
      "[m1] the office coffee machine needs descaling every month",
    ]);
    expect(await credit(memory)).toEqual({ coffee: 1 });
  });

  it("may show each kind of agent memories of its own, and stays one memory", async () => {
    const { memory, showing } = await bench();
    const [ops, office] = [withAgents(memory, showing("restart")), withAgents(memory, showing("coffee"))];
    for (const agents of [ops, office]) await agents.agent({ model: recording() }).invoke(ASKED);
    expect(await credit(office)).toEqual({ restart: 1, coffee: 1 });
    expect([office.handler, "agent" in memory]).toEqual([memory.handler, false]);
  });

  it("watches its agents also without any memories to show", async () => {
    const { memory, vectors } = await bench();
    const recall = { name: "recall_memories", args: { query: "payment queue stuck" }, id: "c1" };
    const agent = withAgents(memory).agent({ model: calling([recall]), tools: memory.tools(vectors, { k: 1 }) });
    await agent.invoke(ASKED);
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("puts its middleware behind the application's own, so that a guard runs before any retrieval", async () => {
    const { memory, vectors } = await bench();
    const model = recording();
    const guard = createMiddleware({
      name: "guard",
      beforeAgent: { canJumpTo: ["end"], hook: () => ({ jumpTo: "end" as const }) },
    });
    await withAgents(memory, vectors)
      .agent({ model, middleware: [guard] })
      .invoke(ASKED);
    expect(model.callCount).toBe(0);
    expect((await memory.status()).episodes.recorded).toBe(0);
  });

  describe("retries of the model", () => {
    class RateLimited extends Error {}
    // Its declared type does not compile under exactOptionalPropertyTypes.
    const retrying = (options: object): AgentMiddleware =>
      (modelRetryMiddleware as (options: object) => AgentMiddleware)({ initialDelayMs: 0, maxRetries: 1, ...options });

    itWithRetriedPrompts.each([
      ["classes", [RateLimited]],
      ["a function", (error: Error) => error instanceof RateLimited],
    ])("know the model's errors by %s", async (_how, retryOn) => {
      const { memory, vectors } = await bench();
      const model = fakeModel().respond(new RateLimited("429")).respond(new AIMessage("done"));
      const agent = withAgents(memory, { base: vectors, k: 1 }).agent({ model, middleware: [retrying({ retryOn })] });
      expect((await agent.invoke(ASKED)).messages.at(-1)?.text).toBe("done");
      expect(systemPrompts(model)[1]).toContain("[m1] restart");
      expect(await credit(memory)).toEqual({ restart: 1 });
    });

    itWithRetriedPrompts("hand the model's error to onFailure", async () => {
      const { memory, vectors } = await bench();
      const onFailure = (error: Error) => error.constructor.name;
      const model = fakeModel().alwaysThrow(new RateLimited("429"));
      const agent = withAgents(memory, { base: vectors, k: 1 }).agent({ model, middleware: [retrying({ onFailure })] });
      expect((await agent.invoke(ASKED)).messages.at(-1)?.text).toBe("RateLimited");
    });

    it("leave the error as it was for the agent's caller", async () => {
      const { memory, vectors } = await bench();
      const error = Object.freeze(new RateLimited("429"));
      const agent = withAgents(memory, vectors).agent({ model: fakeModel().alwaysThrow(new RateLimited("429")) });
      await expect(agent.invoke(ASKED)).rejects.toThrow(RateLimited);
      const frozen = withAgents(memory, vectors).agent({ model: fakeModel().alwaysThrow(error) });
      await expect(frozen.invoke(ASKED)).rejects.toMatchObject({ cause: error });
    });
  });

  it("keeps the types of createAgent", () => {
    () => {
      const memory = {} as AgentMemory;
      const agent = memory.agent({ model: recording(), responseFormat: z.object({ city: z.string() }) });
      expectTypeOf(agent.invoke(ASKED)).resolves.toHaveProperty("structuredResponse");
      expectTypeOf<Awaited<ReturnType<typeof agent.invoke>>["structuredResponse"]>().toEqualTypeOf<{ city: string }>();
      // @ts-expect-error An agent has a model.
      memory.agent({ tools: [] });
    };
  });
});

describe("the middleware's options", () => {
  it.each([
    ["name", { name: "two words" }],
    ["name", { name: "" }],
    ["maxTokens", { maxTokens: 0 }],
    ["maxTokens", { maxTokens: "many" }],
    ["maxTokens", { maxTokens: 50 }],
    ["maxCharacters", { maxCharacters: 1.5 }],
    ["countTokens", { countTokens: 4 }],
    ["query", { query: "fixed" }],
    ["introduction", { introduction: "" }],
    ["reportTool", { reportTool: "yes" }],
    ["k", { k: 0 }],
  ])("are refused when they could only fail later: %s in %j", async (option, fields) => {
    const { memory, vectors } = await bench();
    const make = () => qavrMiddleware({ memory, base: vectors, ...(fields as object) });
    expect(make).toThrow(QavrError);
    expect(make).toThrow(option);
  });

  it("need a memory and something that holds memories", async () => {
    const { memory } = await bench();
    expect(() => qavrMiddleware({ memory: {} as never, base: {} as never })).toThrow("memory must be");
    expect(() => qavrMiddleware({ memory, base: undefined as never })).toThrow("needs base");
    expect(() => withAgents(memory, null as never)).toThrow("needs base");
  });

  it.each(Object.entries({ qavrMiddleware, rankedTools, rankedSkills, procedureMiddleware, withAgents }))(
    "must be an object, and a memory one that qavr() made: %s()",
    (_, make) => {
      const refusal = expect.objectContaining({ code: "INVALID_ARGUMENT" });
      for (const given of [undefined, null, 7, {}]) expect(() => make(given as never)).toThrow(refusal);
      expect(() => agentMemory(null as never)).toThrow(refusal);
    },
  );

  it("count as absent where they are undefined", async () => {
    const { memory, vectors } = await bench();
    const fields = { name: undefined, maxTokens: undefined, query: undefined } as never;
    expect(qavrMiddleware({ memory, base: vectors, ...(fields as object) }).name).toBe("qavr_memories");
  });
});
