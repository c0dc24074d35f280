import { Agent, type AgentConfig } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { Mastra } from "@mastra/core/mastra";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import type { EpisodeView } from "@qavr/core";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { type Script, scriptedModel } from "./support/scripted-model.js";
import { tools } from "./support/tools.js";

const THREAD = "task";
const NOTE = "deploy the service with helm upgrade";
const QUESTION = "how is the service deployed";
const on = { thread: THREAD, resource: USER };

/** What the ledger should say of a run: its state, what it was shown, and the outcome that counts. */
interface Expected {
  readonly state: EpisodeView["state"];
  readonly reward?: number | null;
  readonly tier?: string;
}

const SUCCESS: Expected = { state: "ended", reward: 1, tier: "completed" };
const WEAK_FAILURE: Expected = { state: "ended", reward: 0, tier: "completed" };
const FAILURE: Expected = { state: "ended", reward: 0, tier: "observed" };
const NOTHING: Expected = { state: "ended" };

type Config = Partial<AgentConfig> & { readonly id?: string };
type Processors = NonNullable<AgentConfig["outputProcessors"]>;

async function consume(output: { readonly fullStream: AsyncIterable<unknown> }): Promise<void> {
  for await (const _part of output.fullStream);
}

const generate = (agent: Agent): Promise<unknown> => agent.generate(QUESTION, { memory: on });
const stream = async (agent: Agent): Promise<void> => consume(await agent.stream(QUESTION, { memory: on }));

describe("a run", () => {
  let given: Bench;

  beforeEach(async () => {
    given = bench();
    await remember(given.memory, NOTE);
  });

  /** Runs an agent and returns what the ledger knows of the thread's run. */
  async function ledgerOf(
    script: Script,
    run: (agent: Agent) => Promise<unknown> = generate,
    config: Config = {},
  ): Promise<EpisodeView | undefined> {
    const agent = scriptedAgent(given.memory, script, { tools, ...config } as Config);
    new Mastra({ agents: { agent }, storage: given.storage, logger: false });
    await run(agent).catch(() => undefined);
    return latest(given.memory, THREAD);
  }

  function expectRun(episode: EpisodeView | undefined, { state, reward, tier }: Expected): void {
    expect(episode?.state).toBe(state);
    expect(episode?.exposures.map(({ items }) => items.length)).toEqual([1]);
    expect(episode?.outcome).toEqual(tier === undefined ? undefined : expect.objectContaining({ reward, tier }));
  }

  it.each<[string, Expected, Script, ((agent: Agent) => Promise<unknown>)?, Config?]>([
    ["that is generated succeeds weakly", SUCCESS, [{ text: "with helm" }]],
    ["that is streamed succeeds weakly", SUCCESS, [{ text: "with helm" }], stream],
    ["that used a tool succeeds weakly", SUCCESS, [{ tool: "works" }, { text: "with helm" }]],
    ["whose last tool failed has weakly failed", WEAK_FAILURE, [{ tool: "fails" }, { text: "sorry" }]],
    [
      "that recovered from a failed tool succeeds weakly",
      SUCCESS,
      [{ tool: "fails" }, { tool: "works" }, { text: "done" }],
    ],
    [
      "with a failed tool among the last has weakly failed",
      WEAK_FAILURE,
      [{ tools: [{ tool: "fails" }, { tool: "works" }] }, { text: "hm" }],
    ],
    [
      "that called a tool which does not exist is judged by its end",
      WEAK_FAILURE,
      [{ tool: "nosuch" }, { text: "ok then" }],
    ],
    ["whose model rejects has failed", FAILURE, [{ error: new Error("model down") }]],
    ["whose model rejects while streaming has failed", FAILURE, [{ error: new Error("model down") }], stream],
    ["whose stream breaks has failed", FAILURE, [{ streamError: new Error("mid stream") }], stream],
    [
      "whose structured output is invalid has failed",
      FAILURE,
      [{ text: "no JSON" }],
      (agent) => agent.generate(QUESTION, { memory: on, structuredOutput: { schema: z.object({ a: z.number() }) } }),
    ],
    [
      "that used up its steps has weakly failed",
      WEAK_FAILURE,
      [{ tool: "works" }],
      (agent) => agent.generate(QUESTION, { memory: on, maxSteps: 2 }),
    ],
    [
      "whose caller throws in onFinish keeps its outcome",
      SUCCESS,
      [{ text: "with helm" }],
      (agent) =>
        agent.generate(QUESTION, {
          memory: on,
          onFinish: () => {
            throw new Error("the caller's own");
          },
        }),
    ],
    [
      "whose answer is blocked step by step says nothing",
      NOTHING,
      [{ text: "with helm" }],
      generate,
      { outputProcessors: [{ id: "guard", processOutputStep: ({ abort }) => abort("blocked") }] as Processors },
    ],
    [
      "that is blocked once and retried succeeds weakly",
      SUCCESS,
      [{ text: "bad" }, { text: "good" }],
      generate,
      {
        maxProcessorRetries: 2,
        outputProcessors: [
          {
            id: "guard",
            processOutputStep: ({ abort, text, messageList }) =>
              text === "bad" ? abort("again", { retry: true }) : messageList,
          },
        ] as Processors,
      } as Config,
    ],
  ])("%s", async (_what, expected, script, run, config) => {
    expectRun(await ledgerOf(script, run, config), expected);
  });

  it("that succeeds at the second try has one outcome", async () => {
    const busy = Object.assign(new Error("503"), { isRetryable: true, statusCode: 503, name: "AI_APICallError" });
    expectRun(await ledgerOf([{ error: busy }, { text: "with helm" }], generate, { maxRetries: 2 }), SUCCESS);
    expect((await given.memory.status()).outcomes.completed).toBe(1);
  });

  it("that falls back to another model has one outcome", async () => {
    const primary = scriptedModel([{ error: new Error("down") }]).model;
    const backup = scriptedModel([{ text: "with helm" }]).model;
    const model = [
      { model: primary, maxRetries: 0 },
      { model: backup, maxRetries: 0 },
    ] as unknown as NonNullable<AgentConfig["model"]>;
    expectRun(await ledgerOf([], generate, { model }), SUCCESS);
  });

  it.each([
    [
      "before the model",
      { inputProcessors: [{ id: "guard", processInput: ({ abort }: { abort(why: string): never }) => abort("no") }] },
    ],
    [
      "while it streams",
      {
        outputProcessors: [
          {
            id: "guard",
            processOutputStream: async ({ part, abort }: never) =>
              (part as { type: string }).type === "text-delta" ? (abort as (why: string) => never)("no") : part,
          },
        ],
      },
    ],
    [
      "by an earlier processor at its end",
      {
        outputProcessors: [
          { id: "guard", processOutputResult: ({ abort }: { abort(why: string): never }) => abort("no") },
        ],
      },
    ],
  ])("that is blocked %s is not heard of again, and taught nothing", async (_when, config) => {
    const episode = await ledgerOf([{ text: "with helm" }], stream, config as unknown as Config);
    expect(episode?.state).toBe("open");
    expect(episode?.outcome).toBeUndefined();
  });

  it("that is aborted says nothing", async () => {
    const abortive = async (agent: Agent): Promise<void> => {
      const controller = new AbortController();
      const output = await agent.stream(QUESTION, { memory: on, abortSignal: controller.signal });
      setTimeout(() => controller.abort(), 40);
      await consume(output);
    };
    expectRun(await ledgerOf([{ text: "one two three four five six", delayMs: 20 }], abortive), NOTHING);
  });

  it("whose reader leaves goes on to its end", async () => {
    const leaving = async (agent: Agent): Promise<void> => {
      const output = await agent.stream(QUESTION, { memory: on });
      for await (const _text of output.textStream) break;
      await output.finishReason;
    };
    expectRun(await ledgerOf([{ text: "one two three", delayMs: 5 }], leaving), SUCCESS);
  });

  it.each([
    ["approved", "needsApproval", (agent: Agent, runId: string) => agent.approveToolCall({ runId })],
    ["declined", "needsApproval", (agent: Agent, runId: string) => agent.declineToolCall({ runId })],
    ["answered", "asks", (agent: Agent, runId: string) => agent.resumeStream({ go: true }, { runId })],
  ])("that is suspended waits, and ends when it is %s", async (_how, tool, resume) => {
    let waiting: EpisodeView | undefined;
    const suspended = async (agent: Agent): Promise<void> => {
      const first = await agent.stream(QUESTION, { memory: on });
      await consume(first);
      waiting = await latest(given.memory, THREAD);
      await consume(await resume(agent, first.runId));
    };
    const episode = await ledgerOf([{ tool }, { text: "with helm" }], suspended);
    expectRun(waiting, { state: "parked" });
    expectRun(episode, SUCCESS);
    expect(episode?.episode).toBe(waiting?.episode);
  });

  it("that nobody resumes stays parked and says nothing", async () => {
    expectRun(await ledgerOf([{ tool: "asks" }], stream), { state: "parked" });
  });

  it("without a thread recalls nothing and leaves nothing", async () => {
    const before = (await given.memory.status()).episodes;
    const agent = scriptedAgent(given.memory, [{ text: "with helm" }]);
    await agent.generate(QUESTION);
    expect((await given.memory.status()).episodes).toEqual(before);
  });

  it("of a read-only memory recalls as learned and teaches nothing", async () => {
    const agent = scriptedAgent(given.memory, [{ text: "with helm" }]);
    await agent.generate(QUESTION, { memory: { ...on, options: { readOnly: true } } });
    expect(await latest(given.memory, THREAD)).toBeUndefined();
    expect(agent.offered[0]).toEqual([]);
  });

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
    expectRun(await latest(given.memory, THREAD), SUCCESS);
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
      expectRun(await latest(given.memory, THREAD), expected);
    });
  });

  it("of a sub-agent is an episode of its own: it may fail where its supervisor succeeds", async () => {
    // Mastra gives a sub-agent a resource of its own.
    await remember(given.memory, NOTE, { resource: `${USER}-worker` });
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
    expectRun(await latest(given.memory, THREAD), SUCCESS);
  });

  it("of a network teaches by the ends of the agents that it calls, not by its routing", async () => {
    const worker = scriptedAgent(given.memory, [{ text: "with helm" }], { id: "worker", description: "Works." });
    const router = scriptedAgent(
      given.memory,
      (_prompt, call) => ({
        text: JSON.stringify(
          call === 0
            ? { primitiveId: "worker", primitiveType: "agent", prompt: QUESTION, selectionReason: "it works" }
            : { isComplete: true, finalResult: "with helm", completionReason: "done" },
        ),
      }),
      { id: "router", agents: { worker } },
    );
    new Mastra({ agents: { worker, router }, storage: given.storage, logger: false });
    const output = await router.network(QUESTION, { memory: on });
    for await (const _part of output);
    const { outcomes, episodes } = await given.memory.status();
    expect([episodes.recorded, outcomes.completed]).toEqual([1, 1]);
  });
});
