import type { MastraDBMessage } from "@mastra/core/memory";
import { RequestContext } from "@mastra/core/request-context";
import { createEngine, type Engine, memoryStore } from "@qavr/core";
import { exportState, replay } from "@qavr/core/maintenance";
import type { AgentRunInfo, FoundMemory, LearningOptions, QavrMemory, SemanticRecallOptions } from "@qavr/mastra";
import { describe, expect, it, vi } from "vitest";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";

const RIGHT = "service rollout by helm upgrade, the new way";
const WRONG = "service rollout with docker compose up, the old way";
const QUESTION = "service rollout with docker please";

/** A memory that has learned that one of two notes misleads. */
async function experienced(qavr: Parameters<typeof bench>[0] = {}): Promise<Bench> {
  const given = bench({ semanticRecall: { echoes: "drop" }, ...qavr });
  await remember(given.memory, WRONG, { thread: "wrong" });
  await remember(given.memory, RIGHT, { thread: "right" });
  for (let run = 0; run < 3; run++) {
    const agent = scriptedAgent(given.memory, [{ text: "done" }]);
    const { runId = "" } = await agent.generate(QUESTION, { memory: { thread: `t${run}`, resource: USER } });
    const shown = (await latest(given.memory, `t${run}`))?.exposures[0]?.items[0]?.id ?? "";
    const store = await given.storage.getStore("memory");
    const [message] = (await store?.listMessagesById({ messageIds: [shown] }))?.messages ?? [];
    await given.memory.reportOutcome({ runId, success: JSON.stringify(message).includes("helm") });
  }
  return given;
}

async function evidence(engine: Engine, namespace: string = "default"): Promise<string[]> {
  return (await exportState(engine, { namespace, collection: "messages" })).memories.map(({ id }) => id);
}

describe("memory.recall(), which Studio's search asks", () => {
  it("is ranked as learned and leaves no episode", async () => {
    const { memory } = await experienced();
    const before = await memory.status();
    const { messages } = await memory.recall({
      threadId: "t0",
      resourceId: USER,
      vectorSearchString: "rollout of the service with docker",
      threadConfig: { lastMessages: false, semanticRecall: { topK: 1, messageRange: 0 } },
    });
    expect(JSON.stringify(messages)).toContain("helm upgrade");
    expect((await memory.status()).episodes).toEqual(before.episodes);
  });

  it("is answered unranked where no namespace can be told", async () => {
    const { memory } = bench({
      namespace: ({ requestContext }) => {
        if (!requestContext) throw new Error("no request");
        return "tenant";
      },
    });
    await remember(memory, RIGHT, { thread: "right" });
    const { messages } = await memory.recall({ threadId: "right", resourceId: USER, vectorSearchString: "helm" });
    expect(JSON.stringify(messages)).toContain("helm upgrade");
  });

  it("lists messages as ever without a search", async () => {
    const { memory } = await experienced();
    const { messages } = await memory.recall({ threadId: "right", resourceId: USER });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });
});

describe("what was learned about messages", () => {
  it.each<[string, (given: Bench) => Promise<unknown>]>([
    [
      "that are deleted",
      async ({ memory, storage }) => {
        const store = await storage.getStore("memory");
        const { messages = [] } = (await store?.listMessages({ threadId: "wrong" })) ?? {};
        await memory.deleteMessages(messages.map(({ id }) => id));
      },
    ],
    ["whose thread is deleted", ({ memory }) => memory.deleteThread("wrong")],
  ])("%s is forgotten", async (_what, remove) => {
    for (const namespace of [undefined, ({ resourceId }: { resourceId: string | undefined }) => resourceId]) {
      const given = await experienced(namespace ? { namespace } : {});
      const scope = namespace ? USER : "default";
      const before = await evidence(given.memory.engine, scope);
      await remove(given);
      const after = await evidence(given.memory.engine, scope);
      expect(after.length).toBeLessThan(before.length);
    }
  });

  describe("in a namespace that only the request context says", () => {
    const tenant = ({ requestContext }: AgentRunInfo): string | undefined => requestContext?.get("tenant") as string;
    const requestContext = (): RequestContext => new RequestContext([["tenant", "acme"]] as never);
    const warn = vi.fn();

    /** A memory that has learned about the only message of a thread, and one of a later process on the same files. */
    async function learned(): Promise<{
      readonly here: QavrMemory;
      readonly later: QavrMemory;
      readonly ids: string[];
    }> {
      warn.mockClear();
      const store = memoryStore();
      // An engine each, as two processes have.
      const qavr = (): LearningOptions => ({
        namespace: tenant,
        logger: { warn },
        engine: createEngine({ store }),
        evaluate: () => true,
      });
      const { memory: here, storage, vector } = bench(qavr());
      const ask = (text: string, thread: string): Promise<unknown> =>
        scriptedAgent(here, [{ text: "ok" }]).generate(text, {
          requestContext: requestContext(),
          memory: { thread, resource: USER },
        });
      await ask(RIGHT, "note");
      await ask("how is the service rolled out", "task");
      expect(await evidence(here.engine, "acme")).toHaveLength(1);
      const messageStore = await storage.getStore("memory");
      const { messages = [] } = (await messageStore?.listMessages({ threadId: "note" })) ?? {};
      return { here, later: bench(qavr(), { storage, vector }).memory, ids: messages.map(({ id }) => id) };
    }

    it.each<[string, (given: Awaited<ReturnType<typeof learned>>) => Promise<void>]>([
      ["by the process that learned it", ({ here }) => here.deleteThread("note")],
      ["one by one, by the process that learned it", ({ here, ids }) => here.deleteMessages(ids)],
      ["with a request context", ({ later }) => later.deleteThread("note", { requestContext: requestContext() })],
      ["with the namespace", ({ later }) => later.deleteThread("note", { namespace: "acme" })],
      [
        "one by one, with the namespace",
        ({ later, ids }) => later.deleteMessages(ids, undefined, { namespace: "acme" }),
      ],
    ])("is forgotten when they are deleted %s", async (_how, remove) => {
      const given = await learned();
      await remove(given);
      expect(await evidence(given.here.engine, "acme")).toEqual([]);
      expect(warn).not.toHaveBeenCalled();
    });

    it("stays where its namespace is not known, which a line says, and is forgotten as that line advises", async () => {
      const { later, ids } = await learned();
      await later.deleteThread("note");
      expect(warn.mock.calls.map(([, fields]) => fields)).toEqual([{ code: "NOT_FORGOTTEN" }]);
      expect(await evidence(later.engine, "acme")).toHaveLength(1);
      expect(warn.mock.calls[0]?.[0]).toContain("deleteMessages(ids, undefined, { namespace })");
      await later.deleteMessages(ids, undefined, { namespace: "acme" });
      expect(await evidence(later.engine, "acme")).toEqual([]);
    });

    const changed = { format: 2, parts: [{ type: "text", text: WRONG }], content: WRONG };

    it.each<[string, (given: Awaited<ReturnType<typeof learned>>) => Promise<unknown>]>([
      ["an edit", ({ later, ids }) => later.updateMessages({ messages: [{ id: ids[0], content: changed }] as never })],
      ["a clone", ({ later }) => later.cloneThread({ sourceThreadId: "note" })],
    ])("is said to be untouched by %s, and not by a deletion", async (_what, change) => {
      await change(await learned());
      expect(warn.mock.calls.map(([, fields]) => fields)).toEqual([{ code: "NOT_REVISED" }]);
      expect(warn.mock.calls[0]?.[0]).not.toContain("delete");
    });
  });
});

describe("a message that an application edits", () => {
  it.each([
    ["reset", 0, "its text", (text: string) => ({ content: text })],
    ["reset", 0, "its parts alone", () => ({})],
    ["keep", 1, "its text", (text: string) => ({ content: text })],
  ] as const)(
    "keeps, under the policy %s, the share %d of its evidence from the next search on, where the edit gives %s",
    async (onEdit, kept, _given, rest) => {
      const given = await experienced({ onEdit });
      const store = await given.storage.getStore("memory");
      const [message] = (await store?.listMessages({ threadId: "right" }))?.messages ?? [];
      const text = "service rollout by nobody, it broke production";
      const content = { format: 2, parts: [{ type: "text", text }], ...rest(text) } as never;
      const known = async (): Promise<boolean> => (await evidence(given.memory.engine)).includes(message?.id as string);
      expect(await known()).toBe(true);
      await given.memory.updateMessages({ messages: [{ id: message?.id as string, content }] });
      expect(await known()).toBe(kept === 1);
    },
  );
});

/** The number of vectors after something was done to a thread whose turn was not to be remembered. */
async function embeddedAfter(act: (given: Bench) => Promise<unknown>): Promise<number> {
  const given = bench({ semanticRecall: { rememberTurns: () => false } });
  await remember(given.memory, RIGHT, { thread: "daily" });
  await act(given);
  const [indexName] = await given.vector.listIndexes();
  return indexName === undefined ? 0 : (await given.vector.describeIndex({ indexName })).count;
}

describe("a cloned thread", () => {
  it("has messages with what is known of the originals, and vectors of none that were not to be remembered", async () => {
    const given = await experienced();
    const { clonedMessages } = await given.memory.cloneThread({ sourceThreadId: "right" });
    const known = await evidence(given.memory.engine);
    expect(clonedMessages.filter(({ role }) => role === "user").every(({ id }) => known.includes(id))).toBe(true);
    expect(await replay(given.memory.engine)).toMatchObject({ identical: true });

    expect(await embeddedAfter(({ memory }) => memory.cloneThread({ sourceThreadId: "daily" }))).toBe(0);
  });

  it("is made also where the vector store refuses to delete those vectors, which is logged", async () => {
    const { codes, logger } = listener();
    const { memory, vector } = bench({ logger, semanticRecall: { rememberTurns: () => false } });
    await remember(memory, RIGHT, { thread: "daily" });
    vector.deleteVectors = async () => {
      throw new Error("deleteVectors is not yet implemented");
    };
    const { clonedMessages } = await memory.cloneThread({ sourceThreadId: "daily" });
    expect(clonedMessages).toHaveLength(2);
    expect(codes).toEqual(["NOT_REVISED"]);
  });
});

describe("a thread that another user takes over", () => {
  it("has no vectors of messages that were not to be remembered", async () => {
    const transfer = { threadId: "daily", resourceId: "registered" };
    expect(await embeddedAfter(({ memory }) => memory.updateThreadResourceId(transfer))).toBe(0);
  });
});

describe("a preference for newer messages", () => {
  /** Of eight memories with two equally similar messages, 300 days and 15 minutes old: how often the newer one is shown. */
  async function newerShown(recency: NonNullable<SemanticRecallOptions["recency"]>): Promise<number> {
    let newer = 0;
    for (let seed = 0; seed < 8; seed++) {
      const { memory } = bench({ semanticRecall: { recency, rememberTurns: () => false } });
      await memory.createThread({ threadId: "notes", resourceId: USER });
      const note = (id: string, days: number, colour: string): MastraDBMessage => {
        const text = `meeting room booking office ${colour}`;
        const content = { format: 2 as const, parts: [{ type: "text" as const, text }] };
        const createdAt = new Date(Date.now() - days * 86_400_000);
        return { id, role: "user", threadId: "notes", resourceId: USER, createdAt, content };
      };
      const notes = [note(`old-${seed}`, 300, "blue"), note(`new-${seed}`, 0.01, "green")];
      await memory.saveMessages({ messages: seed % 2 ? notes : notes.toReversed() });
      const agent = scriptedAgent(memory, [{ text: "ok" }]);
      await agent.generate("a meeting room booking at the office", { memory: { thread: "ask", resource: USER } });
      const [shown] = (await latest(memory, "ask"))?.exposures[0]?.items ?? [];
      if (shown?.id === `new-${seed}`) newer += 1;
    }
    return newer;
  }

  it("and labels read the time and the role of a message", async () => {
    const label = ({ metadata }: FoundMemory): string =>
      `${metadata?.role} in ${String(metadata?.created_at).slice(0, 4)}`;
    const { memory } = bench({ label });
    await remember(memory, RIGHT);
    const ask = scriptedAgent(memory, [{ text: "ok" }]);
    await ask.generate("how is the service rolled out", { memory: { thread: "ask", resource: USER } });
    const [shown] = (await latest(memory, "ask"))?.exposures[0]?.items ?? [];
    expect(shown?.label).toBe(`user in ${new Date().getUTCFullYear()}`);
  });

  it("decides between equal similarities", async () => {
    expect(await newerShown({ halfLife: 30 * 86_400_000 })).toBe(8);
  });
});
