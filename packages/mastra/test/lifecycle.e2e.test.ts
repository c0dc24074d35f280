import type { Agent, AgentConfig } from "@mastra/core/agent";
import { createScorer } from "@mastra/core/evals";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import type { EpisodeView } from "@qavr/core";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { consume, type Expected, expectRun, FAILURE, NOTHING, SUCCESS, WEAK_FAILURE } from "./support/expected-runs.js";
import { answered } from "./support/judged.js";
import { listener } from "./support/listener.js";
import { type Script, scriptedModel, searchingModel } from "./support/scripted-model.js";
import { failingWorkflow, tools } from "./support/tools.js";

const THREAD = "task";
const NOTE = "deploy the service with helm upgrade";
const QUESTION = "how is the service deployed";
const on = { thread: THREAD, resource: USER };

type Config = Partial<AgentConfig> & { readonly id?: string };
type Processors = NonNullable<AgentConfig["outputProcessors"]>;

/** A run that is aborted while the model is answering. */
function abortedSoon(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 40);
  return controller.signal;
}

const SLOW: Script = [{ text: "one two three four five six", delayMs: 20 }];

/** A tool that has nothing to run here. */
const theirs = createTool({
  id: "theirs",
  description: "Runs at the client's.",
  inputSchema: { type: "object", properties: {} } as unknown as undefined,
});

/** An answer that takes its time, as models do: Mastra orders messages by the millisecond, and a check's word follows its answer. */
const NOT_YET = { text: "not yet", delayMs: 5 };

/** A completion check that passes from its nth time on. */
const passingAt = (nth: number) => {
  let time = 0;
  return createScorer({ id: "complete", description: "Whether the task is done.", type: "agent" })
    .generateScore(() => (++time >= nth ? 1 : 0))
    .generateReason(() => "as it is");
};

/** An agent that works towards a goal, for as many attempts as it has. */
const withGoal = (nth: number): Config =>
  ({ goal: { judge: scriptedModel([{ text: "no" }]).model, maxRuns: 2, scorer: passingAt(nth) } }) as Config;

const pursue = async (agent: Agent): Promise<void> => {
  await agent.setObjective("know how the service is deployed", { threadId: THREAD, resourceId: USER });
  return stream(agent);
};

const throwing = (): never => {
  throw new Error("the application's own");
};

const decline = (agent: Agent, runId: string) => agent.declineToolCall({ runId });
const generate = (agent: Agent): Promise<unknown> => agent.generate(QUESTION, { memory: on });
const stream = async (agent: Agent): Promise<void> => consume(await agent.stream(QUESTION, { memory: on }));

describe("a run", () => {
  let given: Bench;
  /** The message that the runs are shown. */
  let note: string;

  beforeEach(async () => {
    given = bench();
    note = await remember(given.memory, NOTE);
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

  const expectIt = (episode: EpisodeView | undefined, expected: Expected): Promise<void> =>
    expectRun(given, episode, expected, note);

  it.each<[string, Expected, Script, ((agent: Agent) => Promise<unknown>)?, Config?]>([
    ["that is generated succeeds weakly", SUCCESS, [{ text: "with helm" }]],
    ["that is streamed succeeds weakly", SUCCESS, [{ text: "with helm" }], stream],
    ["that used a tool succeeds weakly", SUCCESS, [{ tool: "works" }, { text: "with helm" }]],
    ["whose last tool failed has weakly failed", WEAK_FAILURE, [{ tool: "fails" }, { text: "sorry" }]],
    [
      "whose last tool returned that it failed, as those of MCP do, has weakly failed",
      WEAK_FAILURE,
      [{ tool: "failsQuietly" }, { text: "sorry" }],
    ],
    [
      "whose last tool was a workflow that failed has weakly failed",
      WEAK_FAILURE,
      [{ tool: "workflow-flow", args: { inputData: {} } }, { text: "sorry" }],
      generate,
      { workflows: { flow: failingWorkflow } },
    ],
    ["whose provider's tool failed has weakly failed", WEAK_FAILURE, [], generate, { model: searchingModel() }],
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
      "whose streamed structured output is invalid has failed",
      FAILURE,
      [{ text: "no JSON" }],
      async (agent) =>
        consume(
          await agent.stream(QUESTION, { memory: on, structuredOutput: { schema: z.object({ a: z.number() }) } }),
        ),
    ],
    [
      "that gave a tool what it does not take has weakly failed",
      WEAK_FAILURE,
      [{ tool: "strict", args: { count: "many" } }, { text: "sorry" }],
    ],
    [
      "that used up its steps has weakly failed",
      WEAK_FAILURE,
      [{ tool: "works" }],
      (agent) => agent.generate(QUESTION, { memory: on, maxSteps: 2 }),
    ],
    [
      "that its own completion check never passed has weakly failed",
      WEAK_FAILURE,
      [NOT_YET],
      (agent) =>
        agent.generate(QUESTION, { memory: on, maxSteps: 2, isTaskComplete: { scorers: [passingAt(Infinity)] } }),
    ],
    [
      "that its own completion check never passed has weakly failed, whatever the application said to it",
      WEAK_FAILURE,
      [NOT_YET],
      (agent) =>
        agent.generate(QUESTION, {
          memory: on,
          maxSteps: 2,
          isTaskComplete: { scorers: [passingAt(Infinity)] },
          onIterationComplete: () => ({ feedback: "go on" }),
        }),
    ],
    [
      "that its own completion check passed at the second time succeeds weakly",
      SUCCESS,
      [NOT_YET, { text: "with helm" }],
      (agent) => agent.generate(QUESTION, { memory: on, maxSteps: 3, isTaskComplete: { scorers: [passingAt(2)] } }),
    ],
    ["that did not reach its goal has weakly failed", WEAK_FAILURE, [NOT_YET], pursue, withGoal(Infinity)],
    ["that reached its goal succeeds weakly", SUCCESS, [{ text: "with helm" }], pursue, withGoal(2)],
    [
      "that calls a tool of its client says nothing",
      NOTHING,
      [{ tool: "works" }, { tool: "theirs" }],
      (agent) => agent.generate(QUESTION, { memory: on, clientTools: { theirs } }),
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
    await expectIt(await ledgerOf(script, run, config), expected);
  });

  it("that succeeds at the second try has one outcome", async () => {
    const busy = Object.assign(new Error("503"), { isRetryable: true, statusCode: 503, name: "AI_APICallError" });
    await expectIt(await ledgerOf([{ error: busy }, { text: "with helm" }], generate, { maxRetries: 2 }), SUCCESS);
    expect((await given.memory.status()).outcomes.completed).toBe(1);
  });

  it("that falls back to another model has one outcome", async () => {
    const primary = scriptedModel([{ error: new Error("down") }]).model;
    const backup = scriptedModel([{ text: "with helm" }]).model;
    const model = [
      { model: primary, maxRetries: 0 },
      { model: backup, maxRetries: 0 },
    ] as unknown as NonNullable<AgentConfig["model"]>;
    await expectIt(await ledgerOf([], generate, { model }), SUCCESS);
  });

  it.each([
    [
      "by an input processor that throws",
      {
        inputProcessors: [
          {
            id: "guard",
            processInput: () => {
              throw new Error("no");
            },
          },
        ],
      },
    ],
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
    await expectIt(await ledgerOf([{ text: "with helm" }], stream, config as unknown as Config), { state: "open" });
  });

  it.each<[string, Expected, object, object?]>([
    ["prepareStep", { state: "open" }, {}, { prepareStep: throwing }],
    ["onStepFinish", { state: "open" }, {}, { onStepFinish: throwing }],
    ["onFinish", SUCCESS, {}, { onFinish: throwing }],
    ["processInput", { state: "open" }, { inputProcessors: [{ id: "own", processInput: throwing }] }],
    ["processInputStep", { state: "open" }, { inputProcessors: [{ id: "own", processInputStep: throwing }] }],
    ["processOutputStep", { state: "open" }, { outputProcessors: [{ id: "own", processOutputStep: throwing }] }],
    ["processOutputStream", SUCCESS, { outputProcessors: [{ id: "own", processOutputStream: throwing }] }],
    ["processOutputResult", { state: "open" }, { outputProcessors: [{ id: "own", processOutputResult: throwing }] }],
  ])(
    "is heard of as the reference says where the application's %s throws, and takes a report",
    async (_where, expected, config, options) => {
      const run = (agent: Agent): Promise<unknown> => agent.generate(QUESTION, { memory: on, ...options });
      await expectIt(await ledgerOf([{ text: "with helm" }], run, config as Config), expected);
      await given.memory.reportOutcome({ threadId: THREAD, success: false });
      expect((await given.memory.status()).outcomes.user).toBe(1);
    },
  );

  it.each<[string, (agent: Agent) => Promise<unknown>]>([
    ["streamed", async (agent) => consume(await agent.stream(QUESTION, { memory: on, abortSignal: abortedSoon() }))],
    ["generated", (agent) => agent.generate(QUESTION, { memory: on, abortSignal: abortedSoon() })],
  ])("that is aborted while it is %s says nothing", async (_how, run) => {
    await expectIt(await ledgerOf(SLOW, run), NOTHING);
  });

  it.each<[string, (output: Awaited<ReturnType<Agent["stream"]>>) => Promise<unknown> | undefined]>([
    [
      "leaves",
      async (output) => {
        for await (const _text of output.textStream) break;
      },
    ],
    ["cancels", (output) => output.fullStream.cancel()],
    ["never comes", () => undefined],
  ])("whose reader %s goes on to its end", async (_how, read) => {
    const abandoned = async (agent: Agent): Promise<void> => {
      await read(await agent.stream(QUESTION, { memory: on }));
      await expect.poll(async () => (await latest(given.memory, THREAD))?.state).toBe("ended");
    };
    await expectIt(await ledgerOf([{ text: "one two three", delayMs: 5 }], abandoned), SUCCESS);
  });

  it("whose row of outcomes names a memory that was not shown is recorded without an outcome", async () => {
    const { codes, logger } = listener();
    const { memory } = await answered({ logger, outcomes: { stop: { success: true, helpful: ["m9"] } } });
    expect(await latest(memory, THREAD)).toMatchObject({ state: "ended", exposures: [{ items: [{ handle: "m1" }] }] });
    expect((await latest(memory, THREAD))?.outcome).toBeUndefined();
    expect((await memory.status()).episodes).toMatchObject({ open: 0, recorded: 1 });
    expect(codes).toContain("OUTCOME_NOT_RECORDED");
  });

  it("whose process is gone teaches nothing: its episode is abandoned when its time is over", async () => {
    let now = Date.now();
    given = bench({ engine: { clock: () => now } });
    note = await remember(given.memory, NOTE);
    const lost = (agent: Agent): Promise<unknown> => agent.generate(QUESTION, { memory: on });
    const guard = [{ id: "guard", processInput: ({ abort }: { abort(why: string): never }) => abort("no") }];
    await ledgerOf([{ text: "with helm" }], lost, { inputProcessors: guard } as never);
    now += 2 * 3_600_000;
    await given.memory.flush();
    await expectIt(await latest(given.memory, THREAD), { state: "abandoned" });
    expect((await given.memory.status()).taught).toBe(0);
  });

  it.each([
    ["approved", SUCCESS, "needsApproval", (agent: Agent, runId: string) => agent.approveToolCall({ runId })],
    ["declined, which teaches nothing", NOTHING, "needsApproval", decline],
    ["answered", SUCCESS, "asks", (agent: Agent, runId: string) => agent.resumeStream({ go: true }, { runId })],
  ] as const)("that is suspended waits, and ends when it is %s", async (_how, expected, tool, resume) => {
    let waiting: string | undefined;
    const suspended = async (agent: Agent): Promise<void> => {
      const first = await agent.stream(QUESTION, { memory: on });
      await consume(first);
      const episode = await latest(given.memory, THREAD);
      await expectIt(episode, { state: "suspended" });
      waiting = episode?.episode;
      await consume(await resume(agent, first.runId));
    };
    const episode = await ledgerOf([{ tool }, { text: "with helm" }], suspended);
    await expectIt(episode, expected);
    expect(episode?.episode).toBe(waiting);
  });

  it("whose last call was declined is told so to evaluate, and one that then used a tool succeeds weakly", async () => {
    const ends: string[] = [];
    given = bench({ evaluate: ({ finishReason }) => void ends.push(finishReason) });
    note = await remember(given.memory, NOTE);
    const declined = async (agent: Agent): Promise<void> => {
      const first = await agent.stream(QUESTION, { memory: on });
      await consume(first);
      await consume(await decline(agent, first.runId));
    };
    await ledgerOf([{ tool: "needsApproval" }, { text: "as you wish" }], declined);
    await ledgerOf([{ tool: "needsApproval" }, { tool: "works" }, { text: "with helm" }], declined);
    expect(ends).toEqual(["stop", "tool-declined", "stop"]);
  });

  it("that nobody resumes stays suspended and says nothing", async () => {
    await expectIt(await ledgerOf([{ tool: "asks" }], stream), { state: "suspended" });
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
});
