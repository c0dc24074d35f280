import { setTimeout as pause } from "node:timers/promises";
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { memoryStore, type Store } from "@qavr/core";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { heldStore } from "../../core/test/support/held-store.js";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { consume, type Expected, expectRun, FAILURE, SUCCESS, WEAK_FAILURE } from "./support/expected-runs.js";
import { listener } from "./support/listener.js";
import { type Script, scriptedModel, type Turn } from "./support/scripted-model.js";
import { NO_INPUT, tools } from "./support/tools.js";

const THREAD = "task";
const NOTE = "deploy the service with helm upgrade";
const QUESTION = "how is the service deployed";
const on = { thread: THREAD, resource: USER };

type Config = Partial<AgentConfig> & { readonly id?: string };

describe("a run", () => {
  let given: Bench;
  /** The message that the runs are shown. */
  let note: string;

  beforeEach(async () => {
    given = bench();
    note = await remember(given.memory, NOTE);
  });

  const expectIt = async (expected: Expected, thread: string = THREAD, shown: string = note): Promise<void> =>
    expectRun(given, await latest(given.memory, thread), expected, shown);

  /** The latest thread of a resource: Mastra chooses those of sub-agents. */
  async function threadOf(resourceId: string): Promise<string> {
    const store = await given.storage.getStore("memory");
    const found = await store?.listThreads({
      filter: { resourceId },
      orderBy: { field: "createdAt", direction: "DESC" },
    });
    return found?.threads[0]?.id ?? "";
  }

  it("inside a workflow is judged like any other", async () => {
    const agent = scriptedAgent(given.memory, [{ text: "with helm" }]);
    const ask = createStep({
      id: "ask",
      inputSchema: z.object({ question: z.string() }),
      outputSchema: z.object({ text: z.string() }),
      execute: async ({ inputData }) => ({ text: (await agent.generate(inputData.question, { memory: on })).text }),
    });
    const workflow = createWorkflow({
      id: "flow",
      inputSchema: z.object({ question: z.string() }),
      outputSchema: z.object({ text: z.string() }),
    })
      .then(ask)
      .commit();
    new Mastra({ agents: { agent }, workflows: { workflow }, storage: given.storage, logger: false });
    const run = await workflow.createRun();
    expect((await run.start({ inputData: { question: QUESTION } })).status).toBe("success");
    await expectIt(SUCCESS);
  });

  describe("of a durable agent", () => {
    it.each<[string, Script, Expected]>([
      ["succeeds weakly", [{ text: "with helm" }], SUCCESS],
      ["whose model rejects has failed", [{ error: new Error("down") }], FAILURE],
      ["whose last tool failed has weakly failed", [{ tool: "fails" }, { text: "sorry" }], WEAK_FAILURE],
    ])("%s", async (_what, script, expected) => {
      const agent = createDurableAgent({ agent: scriptedAgent(given.memory, script, { tools } as Config) });
      new Mastra({ agents: { agent } as never, storage: given.storage, logger: false });
      const { output, cleanup } = await agent.stream(QUESTION, { memory: on });
      await consume(output);
      await expect.poll(async () => (await latest(given.memory, THREAD))?.state).toBe("ended");
      cleanup();
      await expectIt(expected);
    });

    it("that waits for an approval ends when it has it", async () => {
      const script: Script = [{ tool: "needsApproval" }, { text: "with helm" }];
      const agent = createDurableAgent({ agent: scriptedAgent(given.memory, script, { tools } as Config) });
      new Mastra({ agents: { agent } as never, storage: given.storage, logger: false });
      const waiting = await agent.stream(QUESTION, { memory: on });
      await expect.poll(async () => (await latest(given.memory, THREAD))?.state).toBe("suspended");
      waiting.cleanup();
      const resumed = await agent.resume(waiting.runId, { approved: true });
      await expect.poll(async () => (await latest(given.memory, THREAD))?.state).toBe("ended");
      resumed.cleanup();
      await expectIt(SUCCESS);
    });
  });

  describe("with a task in the background", () => {
    const slow = createTool({
      id: "slow",
      description: "Takes its time.",
      inputSchema: NO_INPUT,
      background: { enabled: true },
      execute: () => pause(100, { ok: true }),
    } as never);

    /** Mastra lets the agent go on without a question when the task is done. */
    async function runToIdle(...later: Turn[]): Promise<string> {
      const script: Script = [{ tool: "slow" }, { text: "started" }, ...later];
      const agent = scriptedAgent(given.memory, script, { tools: { ...tools, slow } } as Config);
      new Mastra({ agents: { agent }, storage: given.storage, logger: false, backgroundTasks: { enabled: true } });
      const output = await agent.stream(QUESTION, { memory: on, untilIdle: true });
      await consume(output).catch(() => undefined);
      return output.runId;
    }

    it.each<[string, Turn[], Expected]>([
      ["succeeds weakly", [{ text: "with helm" }], SUCCESS],
      ["whose model rejects after it has failed", [{ error: new Error("down") }], FAILURE],
      ["whose last tool failed after it has weakly failed", [{ tool: "fails" }, { text: "sorry" }], WEAK_FAILURE],
    ])("%s, and is the latest of its thread", async (_what, later, { reward, tier }) => {
      const runId = await runToIdle(...later);
      await given.memory.flush();
      expect(await given.memory.explain({ runId })).toMatchObject({ state: "ended", outcome: { reward, tier } });
      const { status } = await given.memory.reportOutcome({ threadId: THREAD, success: false });
      expect(status).toBe("committed");
      expect((await given.memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    });

    it.each([
      ["a memory", { reward: 0, tier: "observed" }],
      ["none", undefined],
    ])("that was shown %s takes the answer after its task, not a question asked meanwhile", async (shown, outcome) => {
      if (shown === "none") given = bench();
      const { promise: asked, resolve: finish } = Promise.withResolvers<object>();
      const waits = { ...slow, execute: () => asked };
      const script: Script = [
        { tool: "slow" },
        { text: "started" },
        { text: "with helm" },
        { error: new Error("down") },
      ];
      const agent = scriptedAgent(given.memory, script, { tools: { slow: waits } } as Config);
      new Mastra({ agents: { agent }, storage: given.storage, logger: false, backgroundTasks: { enabled: true } });
      const first = await agent.stream(QUESTION, { memory: on, untilIdle: true });
      const chunks = first.fullStream.getReader();
      while ((await chunks.read()).value?.type !== "finish");
      if (shown === "none") await remember(given.memory, NOTE);
      const { runId } = await agent.generate(QUESTION, { memory: on });
      finish({ ok: true });
      while (!(await chunks.read().catch(() => ({ done: true }))).done);
      await given.memory.flush();
      const judged = (await given.memory.explain({ runId: first.runId }))?.outcome;
      expect(judged && { reward: judged.reward, tier: judged.tier }).toEqual(outcome);
      expect((await given.memory.explain({ runId }))?.outcome).toMatchObject({ reward: 1 });
    });

    it("is judged by its last answer", async () => {
      given = bench({ evaluate: ({ text }) => (text === "" ? undefined : text !== "sorry") });
      note = await remember(given.memory, NOTE);
      const runId = await runToIdle({ text: "sorry" });
      await given.memory.flush();
      expect((await given.memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
    });

    it("is judged by its last answer also where the store was away at the first", async () => {
      const inner = memoryStore();
      let failures = 0;
      const commit: Store["commit"] = (...call) =>
        failures-- > 0 ? Promise.reject(new Error("connection refused")) : inner.commit(...call);
      given = bench({
        store: { ...inner, commit },
        evaluate: ({ text }) => (text === "" ? undefined : text !== "sorry"),
      });
      note = await remember(given.memory, NOTE);
      await given.memory.flush();
      failures = 1;
      const runId = await runToIdle({ text: "sorry" });
      await given.memory.flush();
      expect(failures).toBeLessThan(0);
      expect((await given.memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
    });
  });

  it("without a question or a task of its own does not judge the run before it", async () => {
    const agent = scriptedAgent(given.memory, [{ text: "with helm" }, { error: new Error("down") }]);
    const { runId } = await agent.generate(QUESTION, { memory: on });
    await agent.generate([{ role: "system", content: "Sum up." }], { memory: on }).catch(() => undefined);
    await given.memory.flush();
    expect((await given.memory.explain({ runId }))?.outcome).toMatchObject({ reward: 1 });
  });

  it("of a sub-agent is an episode of its own: it may fail where its supervisor succeeds", async () => {
    // Mastra gives a sub-agent a resource of its own.
    const own = await remember(given.memory, NOTE, { resource: `${USER}-worker` });
    const { model } = scriptedModel([{ error: new Error("down") }]);
    const worker = new Agent({
      id: "worker",
      name: "worker",
      description: "Works.",
      instructions: "",
      model,
      maxRetries: 0,
    });
    const script = [{ tool: "agent-worker", args: { prompt: QUESTION } }, { tool: "works" }, { text: "done anyway" }];
    const supervisor = scriptedAgent(given.memory, script, { id: "supervisor", agents: { worker }, tools });
    new Mastra({ agents: { worker, supervisor }, storage: given.storage, logger: false });
    await supervisor.generate(QUESTION, { memory: on });
    const { outcomes } = await given.memory.status();
    expect([outcomes.observed, outcomes.completed]).toEqual([1, 1]);
    await expectIt(SUCCESS);
    await expectIt(FAILURE, await threadOf(`${USER}-worker`), own);
  });

  /** A network of one agent, which fails its completion check at the last attempt or passes it. */
  async function runNetwork(isComplete: boolean): Promise<void> {
    const worker = scriptedAgent(given.memory, [{ text: "with helm" }], { id: "worker", description: "Works." });
    const router = scriptedAgent(
      given.memory,
      (_prompt, call) => ({
        text: JSON.stringify(
          call % 2 === 0
            ? { primitiveId: "worker", primitiveType: "agent", prompt: QUESTION, selectionReason: "it works" }
            : { isComplete, finalResult: "with helm", completionReason: "done" },
        ),
      }),
      { id: "router", agents: { worker } },
    );
    new Mastra({ agents: { worker, router }, storage: given.storage, logger: false });
    const output = await router.network(QUESTION, { memory: on, maxSteps: 1 });
    for await (const _part of output);
  }

  /** A workflow that fails behind its agent's run, or succeeds. */
  async function runWorkflow(succeeds: boolean): Promise<void> {
    const agent = scriptedAgent(given.memory, [{ text: "with helm" }]);
    const schema = z.object({ text: z.string() });
    const ask = createStep({
      id: "ask",
      inputSchema: schema,
      outputSchema: schema,
      execute: async ({ inputData, requestContext }) => ({
        text: (await agent.generate(inputData.text, { memory: on, requestContext })).text,
      }),
    });
    const ship = createStep({
      id: "ship",
      inputSchema: schema,
      outputSchema: schema,
      execute: async ({ inputData }) => {
        if (!succeeds) throw new Error("it did not start");
        return inputData;
      },
    });
    const options = { onFinish: given.memory.onWorkflowFinish };
    const workflow = createWorkflow({ id: "flow", inputSchema: schema, outputSchema: schema, options })
      .then(ask)
      .then(ship)
      .commit();
    new Mastra({ agents: { agent }, workflows: { workflow }, storage: given.storage, logger: false });
    await (await workflow.createRun()).start({ inputData: { text: QUESTION } });
  }

  it.each<[string, boolean, Expected]>([
    ["passes its completion check", true, SUCCESS],
    ["fails it at the last attempt", false, WEAK_FAILURE],
  ])("of a network that %s is judged by that, the routing's memories too", async (_what, isComplete, expected) => {
    const { codes, logger } = listener();
    given = bench({ logger });
    await remember(given.memory, NOTE);
    await runNetwork(isComplete);
    expect(codes).toEqual([]);
    const { episodes } = await given.memory.status();
    expect(episodes.recorded).toBeGreaterThanOrEqual(2);
    const { reward, tier } = expected;
    for (const threadId of [THREAD, await threadOf(USER)]) {
      expect(await latest(given.memory, threadId)).toMatchObject({ state: "ended", outcome: { reward, tier } });
    }
  });

  it.each<[string, boolean, Expected]>([
    ["succeeds", true, SUCCESS],
    ["fails in a later step", false, FAILURE],
  ])("in a workflow that %s is judged by that", async (_what, succeeds, { reward, tier }) => {
    await runWorkflow(succeeds);
    expect((await latest(given.memory, THREAD))?.outcome).toMatchObject({ reward, tier });
  });

  it.each<[string, (succeeds: boolean) => Promise<void>, Expected]>([
    ["network", runNetwork, WEAK_FAILURE],
    ["workflow", runWorkflow, FAILURE],
  ])(
    "of a %s does not wait for a store that does not answer, and is judged when that answers",
    async (_what, run, expected) => {
      const { store, hold, release } = heldStore("commit");
      given = bench({ store, engine: { writeTimeout: 600_000 } });
      await remember(given.memory, NOTE);
      hold();
      await run(false);
      release();
      const { reward, tier } = expected;
      expect((await latest(given.memory, THREAD))?.outcome).toMatchObject({ reward, tier });
    },
  );
});
