import type { Logger, Store } from "@qavr/core";
import { type Learner, memoryStore, similarity } from "@qavr/core";
import type { EndedTurn } from "@qavr/mastra";
import { describe, expect, it, vi } from "vitest";
import { heldStore } from "../../core/test/support/held-store.js";
import { bench, NOTE, on, QUESTION, remember, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import { promptText } from "./support/scripted-model.js";

const before = { thread: "before", resource: USER };

function collecting(): { logger: Logger; lines: { level: string; code: string; fields: object }[] } {
  const lines: { level: string; code: string; fields: object }[] = [];
  const write = (level: string) => (_message: string, fields: { code: string }) =>
    lines.push({ level, code: fields.code, fields });
  return { logger: { debug: write("debug"), warn: write("warn"), error: write("error") } as Logger, lines };
}

/** A store every method of which rejects. */
function brokenStore(): Store {
  const down = async (): Promise<never> => {
    throw new Error("the store is down");
  };
  return {
    ...memoryStore(),
    commit: down,
    readStates: down,
    scanStates: down,
    readEntries: down,
    head: down,
    namespaces: down,
    eraseNamespace: down,
  } as unknown as Store;
}

const no = (): never => {
  throw new Error("no");
};

/** A learner of which one part throws. */
const brokenLearner = (part: "fetchK" | "score" | "observe" | "learn"): Learner => ({
  ...(similarity() as Learner),
  id: "broken@1",
  [part]: no,
});

describe("a run whose learning fails", () => {
  it.each([
    ["store", { store: brokenStore() }],
    ["store, which throws instead of rejecting", { store: { ...memoryStore(), commit: no, readStates: no } }],
    ["store, at the end only", { store: { ...memoryStore(), commit: async () => no() } }],
    ["learner's width", { learner: brokenLearner("fetchK") }],
    ["learner's scores", { learner: brokenLearner("score") }],
    ["learner's observation", { learner: brokenLearner("observe") }],
    ["learner's lesson", { learner: brokenLearner("learn") }],
    ["namespace function", { namespace: () => "" }],
    ["context function", { context: no }],
    ["ignore function", { ignore: no }],
    [
      "rememberTurns function",
      { semanticRecall: { rememberTurns: ({ threadId }: EndedTurn) => threadId !== on.thread || no() } },
    ],
    ["collection", { collections: [{ collection: { name: "lessons", search: no } }] }],
    ["judge", { evaluate: no }],
    ["logger", { store: brokenStore(), logger: { debug: no, info: no, warn: no, error: no } }],
  ])("by its %s answers all the same, recalls as Mastra does, and saves its turn", async (_what, broken) => {
    const { logger } = collecting();
    const { memory, storage } = bench({ logger, ...broken } as never);
    await remember(memory, NOTE);
    // Something is known, so that the learner has something to do.
    await scriptedAgent(memory, [{ text: "done" }]).generate("deploy helm please", { memory: before });
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    const { text } = await agent.generate(QUESTION, { memory: on });
    expect(text).toBe("with helm");
    expect(promptText(agent.prompts[0])).toContain(NOTE);
    const store = await storage.getStore("memory");
    const saved = await store?.listMessages({ threadId: on.thread });
    expect(saved?.messages.map(({ role }) => role).sort()).toEqual(["assistant", "user"]);
  });

  it("by a store that does not answer ends all the same, and is recorded when that answers again", async () => {
    const { store, hold, release } = heldStore("commit");
    const { memory } = bench({ store, engine: { writeTimeout: 600_000 } });
    await remember(memory, NOTE);
    hold();
    expect((await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on })).text).toBe(
      "with helm",
    );
    release();
    await memory.flush();
    expect((await memory.status()).episodes).toMatchObject({ recorded: 1, open: 0 });
  });

  it("outlives a logger that writes asynchronously and fails later", async () => {
    const rejected = vi.fn();
    process.on("unhandledRejection", rejected);
    const away = async (): Promise<never> => Promise.reject(new Error("the log server is away"));
    const logger = { debug: away, info: away, warn: away, error: away };
    const { memory } = bench({ store: brokenStore(), logger });
    await remember(memory, NOTE);
    await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on });
    await new Promise((resolve) => setTimeout(resolve));
    process.off("unhandledRejection", rejected);
    expect(rejected).not.toHaveBeenCalled();
  });

  it("says so in coded lines, without anybody's text above debug level", async () => {
    const { logger, lines } = collecting();
    const { memory } = bench({ store: brokenStore(), logger });
    await remember(memory, NOTE);
    await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on });
    expect(lines.map(({ code }) => code)).toEqual(expect.arrayContaining(["RANKING_DEGRADED", "OUTCOME_NOT_RECORDED"]));
    const told = JSON.stringify(lines.filter(({ level }) => level !== "debug"));
    expect(told).not.toMatch(/helm|deployed/);
  });

  it("reaches the caller when that is asked for", async () => {
    const { memory } = bench({ store: brokenStore(), onError: "throw" });
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await remember(memory, NOTE).catch(() => undefined);
    await expect(agent.generate(QUESTION, { memory: on })).rejects.toThrow();
  });
});

describe("a vector store", () => {
  it.each([
    ["that fails", { query: async () => no(), upsert: async () => no() }],
    ["that has no index", { createIndex: no }],
  ])("%s costs the recall, not the run or its turn", async (_, broken) => {
    const { memory, vector, storage } = bench();
    await remember(memory, NOTE);
    Object.assign(vector, broken);
    const { text } = await scriptedAgent(memory, [{ text: "anyway" }]).generate(QUESTION, { memory: on });
    expect(text).toBe("anyway");
    const store = await storage.getStore("memory");
    expect((await store?.listMessages({ threadId: on.thread }))?.messages).toHaveLength(2);
  });

  it("that refuses long lists is asked its own question", async () => {
    const { messages, logger } = listener();
    const { memory, vector } = bench({ logger, evaluate: () => true });
    await remember(memory, NOTE);
    await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on }); // now something is known
    const query = vector.query.bind(vector);
    const asked: (number | undefined)[] = [];
    vector.query = async (params) => {
      asked.push(params.topK);
      if ((params.topK ?? 0) > 1) throw new Error("topK is too large");
      return query(params);
    };
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await agent.generate("which tool upgrades the service", { memory: { thread: "second", resource: USER } });
    expect(asked).toEqual([50, 1]);
    expect(promptText(agent.prompts[0])).toContain("remembered");
    expect(messages).toEqual([expect.stringContaining("refused a longer list")]);
  });

  it("that refuses its caller's own question too is not said to refuse long lists", async () => {
    const { messages, logger } = listener();
    const { memory, vector } = bench({ logger });
    await remember(memory, NOTE);
    await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on }); // now something is known
    vector.query = async () => {
      throw new Error("the vectors are down");
    };
    await scriptedAgent(memory, [{ text: "anyway" }]).generate(QUESTION, { memory: { ...on, thread: "second" } });
    expect(messages).toEqual([]);
  });

  it("that returns no numbers keeps its order", async () => {
    const { memory, vector } = bench();
    await remember(memory, NOTE);
    const query = vector.query.bind(vector);
    vector.query = async (params) => (await query(params)).map((result) => ({ ...result, score: Number.NaN }));
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await agent.generate(QUESTION, { memory: on });
    expect(promptText(agent.prompts[0])).toContain(NOTE);
  });
});

describe("reports", () => {
  it("reject when they could not be recorded", async () => {
    const { memory } = bench({ store: brokenStore() });
    await expect(memory.reportOutcome({ runId: "any", success: true })).rejects.toThrow("the store is down");
  });
});
