import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Agent, AgentConfig } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import type { LibSQLVector } from "@mastra/libsql";
import type { EpisodeView, NamespaceStatus } from "@qavr/core";
import {
  type LearningOptions,
  type QavrMemoryFields,
  type QavrVector,
  qavrVector,
  type ToolCaller,
} from "@qavr/mastra";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { answerOf } from "./support/answer-of.js";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { consume } from "./support/expected-runs.js";
import { quietObservability } from "./support/judged.js";
import { listener } from "./support/listener.js";
import type { Script } from "./support/scripted-model.js";
import { libsql, temporaryFolder } from "./support/stores.js";
import { DIMENSION, wordVector } from "./support/word-embedder.js";

const INDEX = "documents";
const QUESTION = "deploy fails with EACCES";
const query = { indexName: INDEX, queryVector: wordVector(QUESTION), topK: 1 };
const on = (thread: string) => ({ memory: { thread, resource: USER } });
const searches: Script = [{ tool: "search" }, { text: "done" }];

type Config = Partial<AgentConfig> & { readonly id?: string };

/** How a tool says on whose behalf it asks. */
const CALLERS = {
  "the tool's context": (context: ToolCaller) => context,
  "the request context": ({ requestContext }: ToolCaller) => requestContext,
};

describe.each(Object.entries(CALLERS))("a query inside a run that is told by %s", (by, callerOf) => {
  let vector: LibSQLVector;
  let given: Bench;
  let documents: QavrVector;

  beforeEach(async () => {
    vector = libsql().vector;
    await vector.createIndex({ indexName: INDEX, dimension: DIMENSION });
    const texts = ["when a deploy fails with EACCES clear the cache", "on EACCES fix the permissions"];
    await vector.upsert({ indexName: INDEX, ids: ["cache", "permissions"], vectors: texts.map(wordVector) });
    use({});
  });

  function use(qavr: LearningOptions, fields: Partial<QavrMemoryFields> = {}): void {
    given = bench(qavr, fields);
    documents = qavrVector(vector, { memory: given.memory });
  }

  /** Searches several times after a gate opens. */
  const search = (
    settings: {
      readonly requireApproval?: boolean;
      readonly delay?: () => Promise<unknown>;
      readonly times?: number;
    } = {},
  ) =>
    createTool({
      id: "search",
      description: "Searches.",
      inputSchema: { type: "object", properties: {} } as unknown as undefined,
      ...(settings.requireApproval ? { requireApproval: true } : {}),
      execute: async (_input: unknown, context: unknown) => {
        await settings.delay?.();
        const asked = documents.inRun(callerOf(context as ToolCaller));
        for (let time = 1; time < (settings.times ?? 1); time++) await asked.query(query);
        return (await asked.query(query)).map(({ id }) => id);
      },
    } as never);

  const agentOf = (script: Script, config: Config = {}): Agent =>
    scriptedAgent(given.memory, script, { tools: { search: search() }, ...config } as Config);

  const collections = (episode: EpisodeView | undefined): string[] =>
    (episode?.exposures ?? []).map(({ collection }) => collection);

  const expectIn = async (thread: string): Promise<void> => {
    const episode = await latest(given.memory, thread);
    expect(collections(episode)).toEqual([INDEX]);
    expect(episode).toMatchObject({ state: "ended", outcome: { reward: 1, tier: "completed" } });
  };

  it.each<[string, Partial<QavrMemoryFields>, object]>([
    ["whose memory recalls no messages", { vector: undefined as never, embedder: undefined as never, options: {} }, {}],
    ["for which recall is switched off", {}, { options: { semanticRecall: false } }],
  ])("belongs to a run %s", async (_what, fields, memory) => {
    const { codes, logger } = listener();
    use({ logger }, fields);
    for (const thread of ["task", "again"]) {
      await agentOf(searches).generate(QUESTION, { memory: { thread, resource: USER, ...memory } });
      await expectIn(thread);
    }
    expect(codes).toEqual([]);
  });

  it("belongs to a supervisor that has delegated before, and to a sub-agent that searches itself", async () => {
    const worker = agentOf(searches, { id: "worker", description: "Works." });
    const delegates: Script = [{ tool: "agent-worker", args: { prompt: QUESTION } }, ...(searches as [])];
    await agentOf(delegates, { id: "supervisor", agents: { worker } } as Config).generate(QUESTION, on("task"));
    await expectIn("task");
    const { episodes, outcomes } = await given.memory.status();
    expect([episodes.recorded, outcomes.completed]).toEqual([2, 2]);
  });

  it.each([
    ["that had been shown nothing", 0],
    ["that had been shown something", 1],
  ])("belongs to a run that waited for its approval, and %s", async (_what, shown) => {
    if (shown > 0) await remember(given.memory, "deploy with helm");
    const agent = agentOf(searches, { tools: { search: search({ requireApproval: true }) } } as Config);
    new Mastra({ agents: { agent }, storage: given.storage, logger: false });
    const waiting = await agent.stream(QUESTION, on("task"));
    await consume(waiting);
    const before = await latest(given.memory, "task");
    expect(before?.state).toBe(shown > 0 ? "suspended" : undefined);
    await consume(await agent.approveToolCall({ runId: waiting.runId }));
    const episode = await latest(given.memory, "task");
    expect(episode).toMatchObject({ state: "ended", outcome: { reward: 1, tier: "completed" } });
    expect(collections(episode)).toEqual([...(shown > 0 ? ["messages"] : []), INDEX]);
    expect((await given.memory.explain({ runId: waiting.runId }))?.episode).toBe(episode?.episode);
    expect((await given.memory.status()).episodes).toMatchObject({ recorded: 1, open: 0, abandoned: 0 });
  });

  it("belongs to its own run where one that is not searching shares the request context", async () => {
    const requestContext = new RequestContext();
    const slow = agentOf([{ text: "one two three four", delayMs: 60 }]).generate(QUESTION, {
      ...on("slow"),
      requestContext,
    });
    await agentOf(searches).generate(QUESTION, { ...on("task"), requestContext });
    await slow;
    await expectIn("task");
    expect(collections(await latest(given.memory, "slow"))).toEqual([]);
  });

  it.each(["before the model", "while it streams", "at its end"])(
    "belongs to its own run after another on the request context was blocked %s",
    async (when) => {
      const requestContext = new RequestContext();
      const block = ({ part, abort }: { part?: { type: string }; abort(why: string): never }): unknown =>
        !part || part.type === "text-delta" ? abort("no") : part;
      const hook = {
        "before the model": "processInput",
        "while it streams": "processOutputStream",
        "at its end": "processOutputResult",
      }[when] as string;
      const guard = [{ id: "guard", [hook]: block }];
      const processors = hook === "processInput" ? { inputProcessors: guard } : { outputProcessors: guard };
      await agentOf([{ text: "blocked" }], processors as unknown as Config).generate(QUESTION, {
        ...on("blocked"),
        requestContext,
      });
      await agentOf(searches).generate(QUESTION, { ...on("task"), requestContext });
      await expectIn("task");
    },
  );

  it.each<[string, LearningOptions, object]>([
    ["is ignored", { ignore: () => true }, {}],
    ["is read only", {}, { options: { readOnly: true } }],
  ])("is ranked and leaves nothing where the run %s", async (_why, qavr, memory) => {
    use(qavr);
    await agentOf(searches).generate(QUESTION, { memory: { thread: "task", resource: USER, ...memory } });
    await given.memory.flush();
    expect((await given.memory.status()).episodes).toMatchObject({ recorded: 0, open: 0 });
  });

  it("is learned in the namespace that the request context says where no run is found", async () => {
    use({ namespace: ({ requestContext }) => requestContext?.get("tenant") as string });
    const requestContext = new RequestContext([["tenant", "acme"]] as never);
    await agentOf(searches).generate(QUESTION, { requestContext });
    const [shown] = await documents.inRun(callerOf({ requestContext })).query(query);
    await documents.reportOutcome(shown as never, { success: true });
    await given.memory.flush();
    expect((await given.memory.status({ namespace: "acme" })).outcomes.user).toBe(1);
    expect((await given.memory.status({ namespace: "default" })).episodes).toMatchObject({ recorded: 0, open: 0 });
  });

  it("is the store's own where the namespace cannot be told", async () => {
    const warn = vi.fn();
    use({
      logger: { warn },
      namespace: ({ requestContext }) => (requestContext as RequestContext).get("tenant") as string,
    });
    const results = await documents.inRun(callerOf({})).query(query);
    expect(results.map(({ id }) => id)).toEqual(["cache"]);
    expect(await documents.query(query)).toEqual(await vector.query(query));
    expect(warn).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ code: "RANKING_FAILED" }));
  });

  it("never goes to another tenant's namespace where two runs share the request context", async () => {
    use({ namespace: ({ resourceId }) => resourceId });
    const requestContext = new RequestContext();
    const both = ["acme", "umbrella"].map((resource) =>
      agentOf(searches, { tools: { search: search({ delay: () => pause(40) }) } } as Config).generate(QUESTION, {
        memory: { thread: `of-${resource}`, resource },
        requestContext,
      }),
    );
    await Promise.all(both);
    await given.memory.flush();
    for (const namespace of ["acme", "umbrella"]) {
      const episode = await given.memory.explain({ threadId: `of-${namespace}`, namespace });
      // Without other facts, the latter may be the only one still searching.
      if (by === "the tool's context" || episode) expect(collections(episode)).toEqual([INDEX]);
      expect((await given.memory.status({ namespace })).episodes).toMatchObject({ open: 0 });
    }
  });

  it("stays its own run's when the engine has given that up, beside another tenant's on the request context", async () => {
    let now = Date.now();
    use({ namespace: ({ resourceId }) => resourceId, engine: { clock: () => now, episodeTtl: 60_000 } });
    const requestContext = new RequestContext();
    let other: Promise<unknown> | undefined;
    const delay = async (): Promise<void> => {
      now += 120_000;
      await given.memory.flush();
      const slow = scriptedAgent(given.memory, [{ text: "one two three four", delayMs: 100 }]);
      other = slow.generate(QUESTION, { memory: { thread: "other", resource: "umbrella" }, requestContext });
      // Mastra embeds a turn for the owner that the request context names, so the task's turn must not end before this recall.
      await expect.poll(() => slow.prompts).toHaveLength(1);
    };
    await agentOf(searches, { tools: { search: search({ delay, times: 2 }) } } as Config).generate(QUESTION, {
      memory: { thread: "task", resource: "acme" },
      requestContext,
    });
    await other;
    const of = (threadId: string, namespace: string): Promise<EpisodeView | undefined> =>
      given.memory.explain({ threadId, namespace });
    expect(collections(await of("task", "acme"))).toEqual([INDEX, INDEX]);
    expect(collections(await of("other", "umbrella"))).toEqual([]);
  });

  it("is found by its run's trace also where the engine has given that run up", async () => {
    let now = Date.now();
    use({ engine: { clock: () => now, episodeTtl: 60_000 } });
    const delay = async (): Promise<void> => {
      now += 120_000;
      await given.memory.flush();
    };
    const agent = agentOf(searches, { tools: { search: search({ delay }) } } as Config);
    new Mastra({ agents: { agent }, storage: given.storage, logger: false, observability: quietObservability() });
    const { traceId = "" } = await agent.generate(QUESTION, on("task"));
    expect(await given.memory.reportOutcome({ traceId, success: false })).toMatchObject({ status: "committed" });
    expect(await latest(given.memory, "task")).toMatchObject({ outcome: { reward: 0, tier: "user" } });
  });
});

describe("a query by a tool that was approved in another process", () => {
  const FIXTURE = fileURLToPath(new URL("fixtures/suspended-search.mjs", import.meta.url));

  it.each(["tool", "request"])("belongs to the run that waited, told by the %s context", async (by) => {
    const folder = temporaryFolder();
    const { runId } = await answerOf<{ runId: string }>(FIXTURE, "start", folder, by);
    const { episode, status } = await answerOf<{ episode: EpisodeView; status: NamespaceStatus }>(
      FIXTURE,
      "resume",
      folder,
      by,
      runId,
    );
    expect(episode).toMatchObject({ state: "ended", outcome: { reward: 1 }, exposures: [{ collection: INDEX }] });
    expect(status.episodes).toMatchObject({ recorded: 1, open: 0, suspended: 0, abandoned: 0 });
  });
});

describe("queries outside any run", () => {
  it.each([
    ["a request context that both runs share", true],
    ["request contexts of their own", false],
  ])(
    "are said to be those of a run that was let go of, where more were open than are kept, with %s",
    async (_which, isShared) => {
      const { vector } = libsql();
      await vector.createIndex({ indexName: INDEX, dimension: DIMENSION });
      await vector.upsert({ indexName: INDEX, ids: ["a"], vectors: [wordVector("clear the cache")] });
      const warn = vi.fn();
      const { memory } = bench({ logger: { warn }, engine: { maxOpenEpisodes: 1 } });
      const documents = qavrVector(vector, { memory });
      const requestContext = new RequestContext();
      let other: Promise<unknown> | undefined;
      const search = createTool({
        id: "search",
        description: "Searches.",
        inputSchema: { type: "object", properties: {} } as unknown as undefined,
        execute: async (_input: unknown, context: unknown) => {
          const slow = scriptedAgent(memory, [{ text: "one two three four", delayMs: 100 }]);
          other = slow.generate(QUESTION, { ...on("other"), ...(isShared ? { requestContext } : {}) });
          await expect.poll(() => slow.prompts).toHaveLength(1);
          for (let time = 0; time < 2; time++) await documents.inRun(context as ToolCaller).query(query);
          return [];
        },
      } as never);
      await scriptedAgent(memory, searches, { tools: { search } }).generate(QUESTION, {
        ...on("task"),
        requestContext,
      });
      await other;
      const said = warn.mock.calls.filter(([, { code }]) => code === "QUERY_OUTSIDE_RUN").map(([message]) => message);
      expect(said).toEqual([expect.stringContaining("more runs were open than engine.maxOpenEpisodes")]);
      await memory.flush();
      expect(await latest(memory, "task")).not.toMatchObject({ state: "open" });
    },
  );

  it("on the request context of a run that has ended leave the thread's name to that run", async () => {
    const { vector } = libsql();
    await vector.createIndex({ indexName: INDEX, dimension: DIMENSION });
    await vector.upsert({ indexName: INDEX, ids: ["a"], vectors: [wordVector("clear the cache")] });
    const { memory } = bench();
    await remember(memory, "when a deploy fails clear the cache");
    const requestContext = new RequestContext();
    const agent = scriptedAgent(memory, [{ text: "done" }]);
    const { runId } = await agent.generate(QUESTION, { ...on("task"), requestContext });
    const documents = qavrVector(vector, { memory });
    const [shown] = await documents.inRun(requestContext).query(query);
    await documents.reportOutcome(shown as never, { success: true });
    await memory.reportOutcome({ threadId: "task", success: false });
    expect(await memory.explain({ runId: runId as string })).toMatchObject({ outcome: { reward: 0, tier: "user" } });
    expect(await latest(memory, "task")).toMatchObject({ state: "ended", exposures: [{ collection: "messages" }] });
  });

  it("are said to teach nothing, once, unless somebody reports about them", async () => {
    const { vector } = libsql();
    await vector.createIndex({ indexName: INDEX, dimension: DIMENSION });
    await vector.upsert({ indexName: INDEX, ids: ["a"], vectors: [wordVector("clear the cache")] });
    const warn = vi.fn();
    const { memory } = bench({ logger: { warn } });
    const silent = qavrVector(vector, { memory });
    const reported = qavrVector(vector, { memory });
    for (let at = 0; at < 3; at++) {
      const [shown] = await reported.query(query);
      await reported.reportOutcome(shown as never, { success: true });
    }
    await silent.query(query);
    expect(warn).not.toHaveBeenCalled();
    for (let at = 0; at < 3; at++) await silent.query(query);
    expect(warn.mock.calls.map(([, fields]) => fields)).toEqual([{ code: "QUERY_OUTSIDE_RUN" }]);
  });
});
