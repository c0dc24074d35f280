import { SemanticRecall } from "@mastra/core/processors";
import { InMemoryStore } from "@mastra/core/storage";
import type { LogFields } from "@qavr/core";
import { createEngine, memoryStore } from "@qavr/core";
import { type LearningOptions, QavrMemory, type QavrMemoryFields, qavrRoutes } from "@qavr/mastra";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bench, remember, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import { scriptedModel } from "./support/scripted-model.js";
import { libsql } from "./support/stores.js";
import { wordEmbedder } from "./support/word-embedder.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Codes of the warnings that a memory gives when it is made and when an agent first runs with it. */
async function warnings(fields: QavrMemoryFields): Promise<string[]> {
  const { codes, logger } = listener();
  const memory = new QavrMemory({ ...fields, qavr: { store: memoryStore(), logger, ...fields.qavr } });
  for (const thread of ["a", "b"]) {
    await scriptedAgent(memory, [{ text: "hello" }]).generate("hello", { memory: { thread, resource: USER } });
  }
  return codes;
}

class PostgresStore extends InMemoryStore {}

const OBSERVED = { model: scriptedModel([{ text: "nothing new" }]).model };

describe("a memory that is made", () => {
  it("recalls semantically unless told otherwise", async () => {
    const fields = { ...libsql(), embedder: wordEmbedder() };
    expect(new QavrMemory(fields).getMergedThreadConfig({}).semanticRecall).toBe(true);
    const topK = new QavrMemory({ ...fields, options: { semanticRecall: { topK: 7, messageRange: 1 } } });
    expect(topK.getMergedThreadConfig({}).semanticRecall).toMatchObject({ topK: 7 });
    expect(await warnings(fields)).toEqual([]);
  });

  it.each<[string, QavrMemoryFields, string[]]>([
    [
      "semantic recall is switched off",
      { ...libsqlFields(), options: { semanticRecall: false } },
      ["SEMANTIC_RECALL_OFF"],
    ],
    ["there is nothing to recall with", { storage: new InMemoryStore() }, ["SEMANTIC_RECALL_OFF"]],
    ["nothing is stored", { ...libsqlFields(), options: { lastMessages: false } }, ["HISTORY_OFF"]],
    ["nothing is stored, by a number", { ...libsqlFields(), options: { lastMessages: 0 } }, ["HISTORY_OFF"]],
    [
      "observational memory is switched off too",
      { ...libsqlFields(), options: { lastMessages: false, observationalMemory: { ...OBSERVED, enabled: false } } },
      ["HISTORY_OFF"],
    ],
    // Observational memory stores the messages itself.
    ["they are observed", { ...libsqlFields(), options: { lastMessages: false, observationalMemory: OBSERVED } }, []],
    [
      "only collections are recalled",
      { storage: new InMemoryStore(), qavr: { collections: [{ collection: { name: "lessons", search: () => [] } }] } },
      [],
    ],
  ])("warns when %s", async (_when, fields, codes) => {
    expect(await warnings(fields)).toEqual(codes);
  });

  it.each<[string, boolean]>([
    ["to its logger", true],
    ["as a process warning", false],
  ])("warns once %s where a function makes it, however often that is asked", async (_how, hasLogger) => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { codes, logger } = listener();
    const store = memoryStore();
    const storage = new InMemoryStore();
    const memory = () => new QavrMemory({ storage, qavr: { store, ...(hasLogger ? { logger } : {}) } });
    const agent = scriptedAgent(memory as never, [{ text: "hello" }]);
    for (const thread of ["a", "b"]) await agent.generate("hello", { memory: { thread, resource: USER } });
    const warned = emit.mock.calls.filter(([message]) => String(message).includes("semantic recall is off"));
    expect([...codes, ...warned]).toHaveLength(1);
  });

  it("warns once when an agent runs without a thread", async () => {
    const { codes, logger } = listener();
    const memory = new QavrMemory({ ...libsqlFields(), qavr: { store: memoryStore(), logger } });
    const agent = scriptedAgent(memory, [{ text: "hello" }]);
    await agent.generate("hello", { memory: { thread: "a", resource: USER } });
    expect(codes).toEqual([]);
    for (let run = 0; run < 2; run++) await agent.generate("hello");
    expect(codes).toEqual(["RUN_WITHOUT_THREAD"]);
  });

  it("becomes a process warning where there is no logger", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    new QavrMemory({ ...libsqlFields(), options: { lastMessages: false }, qavr: { store: memoryStore() } });
    expect(emit).toHaveBeenCalledWith(expect.stringContaining("lastMessages"), {
      type: "QavrWarning",
      code: "HISTORY_OFF",
    });
  });

  it("warns once when an agent recalls by a processor of its own, which Mastra takes instead", async () => {
    const { codes, logger } = listener();
    const { memory, storage, vector } = bench({ logger });
    const recall = new SemanticRecall({
      storage: (await storage.getStore("memory")) as never,
      vector,
      embedder: wordEmbedder(),
    });
    const agent = scriptedAgent(memory, [{ text: "noted" }], { inputProcessors: [recall], outputProcessors: [recall] });
    for (const thread of ["a", "b"]) await agent.generate("deploy with helm", { memory: { thread, resource: USER } });
    expect(codes).toEqual(["SEMANTIC_RECALL_REPLACED"]);
  });

  it("warns at once, and once, of a store that cannot be opened", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const fields = libsqlFields();
    const store = `${process.execPath}/ledger.db`;
    for (let made = 0; made < 2; made++) new QavrMemory({ ...fields, qavr: { store } });
    expect(emit.mock.calls).toEqual([
      [expect.stringContaining("lies under a file"), { type: "QavrWarning", code: "STORE_UNUSABLE" }],
    ]);
    expect(() => new QavrMemory({ ...fields, qavr: { store, onError: "throw" } })).toThrow(
      expect.objectContaining({ code: "STORE_UNWRITABLE" }),
    );
  });

  it("warns once where many runs ended and none was judged", async () => {
    const { codes, logger } = listener();
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < 20; run++) {
      const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
      await engine.end(episode, { reward: 1, tier: "completed", weight: 0.3 });
    }
    for (const thread of ["a", "b"]) {
      const { memory } = bench({ engine, logger });
      await remember(memory, "deploys run with helm");
      await scriptedAgent(memory, [{ text: "helm" }]).generate("how to deploy", { memory: { thread, resource: USER } });
      await memory.flush();
    }
    expect(codes).toEqual(["NOTHING_JUDGED"]);
  });

  describe("beside a storage", () => {
    const remote = (qavr: LearningOptions): string[] => {
      const { codes, logger } = listener();
      new QavrMemory({ ...libsqlFields(), storage: new PostgresStore(), qavr: { logger, ...qavr } });
      return codes;
    };

    it("on another machine warns that its ledger would stay behind", () => {
      expect(remote({})).toEqual(["LEDGER_BESIDE_REMOTE_STORAGE"]);
    });

    it("is silent when somebody said where the ledger is", () => {
      expect(remote({ store: memoryStore() })).toEqual([]);
      expect(remote({ engine: createEngine({ store: memoryStore() }) })).toEqual([]);
      expect(remote({ enabled: false })).toEqual([]);
      vi.stubEnv("QAVR_STORE", "shared.db");
      expect(remote({})).toEqual([]);
    });

    it("that Mastra hands over later is looked at too", () => {
      const { codes, logger } = listener();
      const { vector } = libsql();
      const memory = new QavrMemory({ vector, embedder: wordEmbedder(), qavr: { logger } });
      memory.setStorage(libsql().storage);
      expect(codes).toEqual([]);
      memory.setStorage(new PostgresStore());
      memory.setStorage(new PostgresStore());
      expect(codes).toEqual(["LEDGER_BESIDE_REMOTE_STORAGE"]);
    });
  });

  it.each<[string, unknown]>([
    ["options that are none", null],
    ["a store that is none", { store: 7 }],
    ["a store and an engine", { store: memoryStore(), engine: createEngine({ store: memoryStore() }) }],
    ["an engine that is none", { engine: 7 }],
    ["a fetchK below one", { semanticRecall: { fetchK: 0 } }],
    ["a fetchK that is too large", { semanticRecall: { fetchK: 1001 } }],
    ["an empty namespace", { namespace: "" }],
    ["a context that is a number", { context: 7 }],
    ["a judge that is no function", { evaluate: true }],
    ["an ignore that is no function", { ignore: "all" }],
    ["feedback that is no function", { feedback: "thumbs" }],
    ["turns of another kind", { semanticRecall: { rememberTurns: "some" } }],
    ["echoes of another kind", { semanticRecall: { echoes: "some" } }],
    ["another way to fail", { onError: "shut" }],
    ["an unknown finish reason", { outcomes: { stopp: { success: true } } }],
    ["an outcome without a reward", { outcomes: { stop: { helpful: ["m1"] } } }],
    ["a reward outside its range", { outcomes: { stop: { reward: 2 } } }],
    ["an unknown tier", { outcomes: { stop: { reward: 1, tier: "certain" } } }],
    ["scores that are none", { scores: 3 }],
    ["a collection without a search", { collections: [{ collection: { name: "lessons" } }] }],
    ["two collections of one name", { collections: [lessons(), lessons()] }],
    ["a collection named as messages are", { collections: [{ collection: { name: "messages", search: () => [] } }] }],
    [
      "a collection named as messages are here",
      { semanticRecall: { collection: "lessons" }, collections: [lessons()] },
    ],
    ["a collection that shows nothing", { collections: [{ ...lessons(), topK: 0 }] }],
    ["a collection without a budget", { collections: [{ ...lessons(), budget: 0 }] }],
    ["a report tool without a name", { reportTool: { name: "" } }],
    ["holdout outside its range", { holdout: 2, store: memoryStore() }],
    ["a misspelt option", { evalute: () => true }],
    ["a list of options", []],
    ["a switch in words", { enabled: "false" }],
    ["a switch that is null", { enabled: null }],
    ["a logger by name", { logger: "console", engine: createEngine({ store: memoryStore() }) }],
    ["an option of the engine beside one", { holdout: 0.1, engine: createEngine({ store: memoryStore() }) }],
    ["outcomes in a list", { outcomes: [] }],
    ["a collection that is null", { collections: [null] }],
    ["a misspelt option of a collection", { collections: [{ ...lessons(), topk: 2 }] }],
    ["a collection with a number for a heading", { collections: [{ ...lessons(), heading: 7 }] }],
    ["a report tool by its bare name", { reportTool: "rate" }],
    ["a report tool that is null", { reportTool: null }],
    ["a report tool with a number for a name", { reportTool: { name: 7 } }],
    ["a report tool that no model could call", { reportTool: { name: "rate memories" } }],
    ["a report tool without a description", { reportTool: { description: "" } }],
    ["a misspelt option of the report tool", { reportTool: { nam: "rate" } }],
    ["an ignore that answers later", { ignore: async () => true }],
    ["a choice of turns that answers later", { semanticRecall: { rememberTurns: async () => false } }],
    ["a label that is found later", { label: async () => "A note" }],
    ["a namespace that answers later", { namespace: async () => "acme" }],
    ["feedback that is read later", { feedback: async () => ({ success: true }) }],
  ])("refuses %s", (_what, qavr) => {
    expect(() => new QavrMemory({ ...libsqlFields(), qavr: qavr as LearningOptions })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });

  it("refuses fields that are no object, here and in each reading call", async () => {
    const refusal = expect.objectContaining({ code: "INVALID_ARGUMENT" });
    expect(() => new QavrMemory(null as never)).toThrow(refusal);
    const { memory } = bench();
    for (const options of [null, "default", { namspace: "default" }] as never[]) {
      await expect(memory.status(options)).rejects.toEqual(refusal);
      await expect(memory.memories(options)).rejects.toEqual(refusal);
      await expect(memory.history(options)).rejects.toEqual(refusal);
    }
  });

  it("refuses names of collections that are too long for its ledger", () => {
    const name = "x".repeat(257);
    for (const qavr of [
      { semanticRecall: { collection: name } },
      { collections: [{ collection: { ...lessons().collection, name } }] },
    ]) {
      expect(() => new QavrMemory({ ...libsqlFields(), qavr })).toThrow(
        expect.objectContaining({ code: "LIMIT_EXCEEDED" }),
      );
    }
  });

  it("is told of answers that come later, also from functions that do not look asynchronous", async () => {
    const lines: LogFields[] = [];
    const hear = (_message: string, fields: LogFields): void => void lines.push(fields);
    const later = (): never => Promise.resolve(false) as never;
    const { memory, vector } = bench({
      ignore: later,
      semanticRecall: { rememberTurns: later },
      logger: { warn: hear },
    });
    await remember(memory, "deploy the service with helm upgrade");
    expect(lines).toEqual([
      expect.objectContaining({ code: "RANKING_FAILED", reason: "INVALID_ARGUMENT" }),
      expect.objectContaining({ code: "OUTCOME_NOT_RECORDED", reason: "INVALID_ARGUMENT" }),
    ]);
    const [index] = await vector.listIndexes();
    expect(await vector.describeIndex({ indexName: index as string })).toMatchObject({ count: 0 });
  });

  it("is switched off by the environment too", () => {
    vi.stubEnv("QAVR_DISABLED", "true");
    expect(new QavrMemory({ ...libsqlFields(), qavr: { store: memoryStore() } }).engine.enabled).toBe(false);
  });
});

describe("a memory that shares an engine", () => {
  it("leaves it open when it is closed itself", async () => {
    const engine = createEngine({ store: memoryStore() });
    await new QavrMemory({ ...libsqlFields(), qavr: { engine } }).close();
    expect((await engine.status()).seq).toBe(0);
  });
});

function libsqlFields(): QavrMemoryFields {
  return { ...libsql(), embedder: wordEmbedder() };
}

function lessons(): { collection: { name: string; search: () => [] } } {
  return { collection: { name: "lessons", search: () => [] } };
}

describe("routes for a front-end", () => {
  type Reply = { readonly body: unknown; readonly status: number };

  /** Calls a route's handler as Mastra's server does. */
  async function call(memory: QavrMemory, path: string, given: { query?: object; body?: unknown }): Promise<Reply> {
    const route = qavrRoutes(memory).find((each) => each.path === path) as unknown as {
      handler(context: object): Promise<Reply>;
    };
    return route.handler({
      req: { query: () => given.query ?? {}, json: async () => given.body },
      json: (body: unknown, status = 200) => ({ body, status }),
    });
  }

  it("explain runs, give the status and take outcomes of the tier `user`", async () => {
    const { memory } = bench();
    await remember(memory, "deploy the service with helm upgrade");
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    const { runId } = await agent.generate("how is the service deployed", { memory: { thread: "t", resource: USER } });
    const taken = await call(memory, "/qavr/outcome", { body: { runId, success: false, harmful: ["m1"] } });
    expect(taken).toMatchObject({ status: 200, body: { status: "committed" } });
    const explained = await call(memory, "/qavr/explain", { query: { runId } });
    expect(explained).toMatchObject({ status: 200, body: { outcome: { reward: 0, tier: "user" } } });
    const recorded = { status: 200, body: { episodes: { recorded: 1 } } };
    expect(await call(memory, "/qavr/status", {})).toMatchObject(recorded);
    // Mastra's server takes the token of its authentication from the query, too.
    expect(await call(memory, "/qavr/status", { query: { apiKey: "token" } })).toMatchObject(recorded);
    const withToken = await call(memory, "/qavr/explain", { query: { runId, apiKey: "token" } });
    expect(withToken).toMatchObject({ status: 200 });
  });

  it("keep a client's idempotency keys apart from those of scorers and runs", async () => {
    const { memory } = bench();
    await remember(memory, "deploy the service with helm upgrade");
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    const { runId } = await agent.generate("how is the service deployed", { memory: { thread: "t", resource: USER } });
    const { episode = "" } = (await memory.explain({ runId })) ?? {};
    for (const id of [runId, episode]) {
      const body = { runId, success: true, idempotencyKey: `scorer:checker:${id}` };
      const replies = [await call(memory, "/qavr/outcome", { body }), await call(memory, "/qavr/outcome", { body })];
      expect(replies.map((reply) => (reply.body as { status: string }).status)).toEqual(["committed", "duplicate"]);
    }
    const checker = memory.rewardFrom({ id: "checker", run: async (_run: object) => ({ score: 0 }) });
    await checker.run({ runId, threadId: "t" });
    expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, source: "scorer:checker" });
  });

  it.each<[string, string, { query?: object; body?: unknown }, number, string]>([
    ["a run that is not known", "explain", { query: { runId: "none" } }, 404, "UNKNOWN_EPISODE"],
    ["no run", "explain", {}, 400, "INVALID_ARGUMENT"],
    ["a misspelt namespace", "explain", { query: { runId: "r", namspace: "acme" } }, 400, "INVALID_ARGUMENT"],
    ["an empty key", "outcome", { body: { runId: "r", success: true, idempotencyKey: "" } }, 400, "INVALID_ID"],
    ["an outcome that is no object", "outcome", { body: undefined }, 400, "INVALID_ARGUMENT"],
    [
      "an outcome of a better tier",
      "outcome",
      { body: { runId: "r", tier: "verified", success: true } },
      400,
      "INVALID_ARGUMENT",
    ],
    ["a misspelt field", "outcome", { body: { runId: "r", succes: true } }, 400, "INVALID_ARGUMENT"],
  ])("refuse %s with a code", async (_what, route, given, status, code) => {
    const { memory } = bench();
    const reply = await call(memory, `/qavr/${route}`, given);
    expect(reply).toEqual({ status, body: { error: { code, message: expect.stringMatching(/\w/) } } });
  });

  it.each(["/memory", "/memory/"])("lie below a path, with or without a slash at its end: %s", (path) => {
    const paths = qavrRoutes(bench().memory, { path }).map((route) => route.path);
    expect(paths).toEqual(["/memory/explain", "/memory/status", "/memory/outcome"]);
  });

  it.each([undefined, {}, "memory"])("are refused for what is no memory: %s", (memory) => {
    expect(() => qavrRoutes(memory as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("name a misspelt option", () => {
    expect(() => bench({ stor: "x" } as never)).toThrow("Did you mean store?");
    expect(() => bench({ echoes: "drop" } as never)).toThrow("semanticRecall: { echoes: … }");
  });
});
