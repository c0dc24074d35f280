import { AgentExecutor } from "@langchain/classic/agents";
import { RunnableLambda } from "@langchain/core/runnables";
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  modelCallLimitMiddleware,
  modelRetryMiddleware,
  tool,
  toolCallLimitMiddleware,
} from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type QavrMiddlewareFields, qavrMiddleware } from "../../src/agents/index.js";
import { ASKED, calling, recording } from "../support/agent.js";
import { type Bench, bench, credit, RUN_ID } from "../support/bench.js";

const showing = ({ memory, vectors }: Bench, fields: Partial<Omit<QavrMiddlewareFields, "memory">> = {}) =>
  qavrMiddleware({ memory, base: vectors, k: 2, ...fields });

/** The middleware retrieves at the start of a run; what comes after it may end the run before a model is called. */
describe("an agent with the middleware and a guard", () => {
  it.each([
    ["ends it", { canJumpTo: ["end" as const], hook: () => ({ jumpTo: "end" as const }) }],
    [
      "fails it",
      () => {
        throw new Error("not in this house");
      },
    ],
  ])(
    "neither earns nor is blamed for memories that no model was called with, when a guard %s",
    async (_how, beforeModel) => {
      const judged: unknown[] = [];
      const setup = await bench({
        evaluate: ({ error, memories }) => {
          judged.push(memories);
          return error === undefined;
        },
      });
      const model = recording();
      const guard = createMiddleware({ name: "guard", beforeModel });
      const agent = setup.memory.track(createAgent({ model, middleware: [showing(setup), guard] }));
      await agent.invoke(ASKED, { runId: RUN_ID }).catch(() => undefined);
      expect(model.calls).toEqual([]);
      expect(judged).toEqual([[]]);
      expect(await setup.memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
      expect(await credit(setup.memory)).toEqual({});
    },
  );

  it.each([
    ["", {}],
    [", also where both begin with the same handle", { namespace: "coffee" }],
  ])(
    "earns for those of the models that were called, where a guard ends a part of the run%s",
    async (_where, place) => {
      const setup = await bench();
      const guard = createMiddleware({
        name: "guard",
        beforeModel: { canJumpTo: ["end"], hook: () => ({ jumpTo: "end" as const }) },
      });
      const coffee = showing(setup, { k: 1, query: () => "coffee machine", ...place });
      const part = createAgent({ model: recording(), middleware: [coffee, guard] });
      const ask = tool(() => part.invoke(ASKED).then(() => "asked"), {
        name: "act",
        description: "",
        schema: z.object({}),
      });
      const model = calling([{ name: "act", args: {}, id: "c1" }]);
      const agent = createAgent({ model, tools: [ask], middleware: [showing(setup)] });
      await setup.memory.track(agent).invoke(ASKED);
      expect(await credit(setup.memory)).toEqual({ restart: 1, scale: 1 });
      expect(await credit(setup.memory, "coffee")).toEqual({});
    },
  );
});

describe("an agent with the middleware and a limit", () => {
  // Their declared types do not compile under exactOptionalPropertyTypes.
  type Limit = (options: object) => AgentMiddleware;
  const modelCalls = modelCallLimitMiddleware as unknown as Limit;
  const modelRetries = modelRetryMiddleware as unknown as Limit;
  const toolCalls = toolCallLimitMiddleware as unknown as Limit;
  const act = tool(() => "acted", { name: "act", description: "acts", schema: z.object({}) });
  const model = () => recording(...[1, 2, 3].map((step) => [{ name: "act", args: {}, id: `c${step}` }]));

  it.each([
    ["model calls", modelCalls({ runLimit: 2 })],
    ["tool calls", toolCalls({ runLimit: 1, exitBehavior: "end" })],
    ["calls of one tool", toolCalls({ toolName: "act", runLimit: 1, exitBehavior: "end" })],
    // An agent all of whose calls are refused ends there (langchain 1.5.14).
    ["tool calls, in the default behaviour,", toolCalls({ runLimit: 1 })],
    ["calls of one tool, in the default behaviour,", toolCalls({ toolName: "act", runLimit: 1 })],
  ])("has failed where the limit of its %s cuts it off with a note for an answer", async (_what, limit) => {
    const setup = await bench();
    const middleware = [showing(setup), limit];
    const agent = setup.memory.track(createAgent({ model: model(), tools: [act], middleware }));
    await agent.invoke(ASKED, { runId: RUN_ID });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "completed" });
    expect(await credit(setup.memory)).toEqual({ restart: -1, scale: -1 });
  });

  it("has failed where an executor stops it", async () => {
    const setup = await bench();
    const look = tool(async (_, config) => (await setup.retriever.invoke("payment queue stuck", config)).length, {
      name: "look",
      description: "looks",
      schema: z.object({}),
    });
    const agent = RunnableLambda.from(() => ({ tool: "look", toolInput: {}, log: "" })) as never;
    const executor = AgentExecutor.fromAgentAndTools({ agent, tools: [look], maxIterations: 2 });
    await setup.memory.track(executor).invoke({ input: "payment queue stuck" });
    expect(await credit(setup.memory)).toEqual({ restart: -1, scale: -1 });
  });

  it("has failed where its model did at each attempt", async () => {
    const setup = await bench();
    const down = recording();
    down.alwaysThrow(new Error("down"));
    const middleware = [showing(setup), modelRetries({ maxRetries: 1, initialDelayMs: 1 })];
    await setup.memory.track(createAgent({ model: down, middleware })).invoke(ASKED, { runId: RUN_ID });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "completed" });
  });

  it("has succeeded within its limits", async () => {
    const setup = await bench();
    const middleware = [showing(setup), modelCalls({ runLimit: 4 })];
    await setup.memory.track(createAgent({ model: model(), tools: [act], middleware })).invoke(ASKED);
    expect(await credit(setup.memory)).toEqual({ restart: 1, scale: 1 });
  });
});
