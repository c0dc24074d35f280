import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { noopLogger } from "@mastra/core/logger";
import type { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { createHonoServer } from "@mastra/deployer/server";
import { scriptedModel } from "@qavr/bench/mastra";
import { exportState } from "@qavr/core/maintenance";
import type { QavrMemory } from "@qavr/mastra";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ASKED = "service rollout with docker please";
const RESOURCE = "operator";
const OWN = `agentId=operator&resourceId=${RESOURCE}`;

/** The parts of answers that the tests read. */
interface Answer {
  readonly [field: string]: unknown;
  readonly text?: string;
  readonly error?: string;
  readonly runId?: string;
  readonly threads?: readonly { readonly id: string; readonly title?: string }[];
  readonly messages?: readonly { readonly id: string; readonly role: string; readonly content: unknown }[];
  readonly results?: readonly { readonly content: string; readonly threadId: string }[];
}

const folder = mkdtempSync(join(tmpdir(), "qavr-studio-"));
let memory: QavrMemory;
let call: (method: string, route: string, body?: object) => Promise<Response>;

const get = async (route: string): Promise<Answer> => (await call("GET", route)).json() as Promise<Answer>;
const post = async (route: string, body: object): Promise<Answer> =>
  (await call("POST", route, body)).json() as Promise<Answer>;

/** Says something on a thread and waits for the answer. */
const generate = (thread: string, messages: string): Promise<Answer> =>
  post("agents/operator/generate", { messages, memory: { thread, resource: RESOURCE } });

/** The request of Studio's chat: the agent answers on the thread. */
const send = (threadId: string, contents: string): Promise<Answer> =>
  post("agents/operator/send-message", {
    message: { contents },
    resourceId: RESOURCE,
    threadId,
    ifIdle: { streamOptions: { maxSteps: 15 } },
  });

const messagesOf = async (threadId: string): Promise<string> =>
  JSON.stringify((await get(`memory/threads/${threadId}/messages?${OWN}&includeSystemReminders=true`)).messages);

/** The project as the server runs it that `mastra dev` starts. */
beforeAll(async () => {
  process.env.EXAMPLE_DATA = folder;
  const { mastra }: { mastra: Mastra } = await import("../src/mastra/index.js");
  mastra.setLogger({ logger: noopLogger as never });
  memory = (await mastra.getAgent("operator").getMemory()) as unknown as QavrMemory;
  const server = await createHonoServer(mastra, { tools: {} });
  call = async (method, route, body) =>
    server.request(`/api/${route}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  await generate("note-old", "service rollout with docker compose up, the old way");
  await generate("note-new", "service rollout by helm upgrade, the new way");
});

afterAll(async () => {
  await memory.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("over the routes that Studio calls", () => {
  it("an agent that is generated with fails once and learns", async () => {
    expect((await generate("generated-1", ASKED)).error).toBe("the rollout failed");
    expect((await generate("generated-2", ASKED)).text).toBe("Rolled out with helm.");
    expect((await memory.explain({ threadId: "generated-1" }))?.outcome).toMatchObject({ reward: 0, tier: "observed" });
    expect((await memory.explain({ threadId: "generated-2" }))?.outcome).toMatchObject({
      reward: 1,
      tier: "completed",
    });
  });

  it("an agent that is streamed recalls as learned and is credited", async () => {
    const on = { thread: "streamed", resource: RESOURCE };
    const answer = await call("POST", "agents/operator/stream", { messages: ASKED, memory: on });
    expect(await answer.text()).toContain("helm");
    expect((await memory.explain({ threadId: "streamed" }))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });

  it("what is said in Studio's chat recalls as learned, is credited, and stands in its thread", async () => {
    await send("chat", ASKED);
    await expect.poll(async () => (await memory.explain({ threadId: "chat" }))?.state).toBe("ended");
    const episode = await memory.explain({ threadId: "chat" });
    expect(episode?.exposures[0]?.items).toHaveLength(1);
    expect(episode?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    await expect.poll(() => messagesOf("chat")).toContain("Rolled out with helm.");
    expect(await messagesOf("chat")).toContain(ASKED);
  });

  it("what was said in Studio's chat before takes no place when it is said again", async () => {
    const question = "which printer has a paper jam today";
    const shownTo = async (thread: string): Promise<string | undefined> => {
      await send(thread, question);
      await expect.poll(async () => (await memory.explain({ threadId: thread }))?.state).toBe("ended");
      const id = (await memory.explain({ threadId: thread }))?.exposures[0]?.items[0]?.id;
      const store = await memory.storage.getStore("memory");
      const found = await store?.listMessagesById({ messageIds: id === undefined ? [] : [id] });
      return JSON.stringify(found?.messages[0]?.content);
    };
    await shownTo("printer-1");
    expect(await shownTo("printer-2")).not.toContain("paper jam");
  });

  it("the memory says what it is and how it is set", async () => {
    expect(await get("memory/status?agentId=operator")).toEqual({ result: true, memoryType: "local" });
    const { config } = await get("memory/config?agentId=operator");
    expect(config).toMatchObject({ lastMessages: 10, semanticRecall: { topK: 1, messageRange: 0 } });
  });

  it("threads are listed, renamed, cloned and deleted, and what was learned about theirs is forgotten", async () => {
    await generate("coffee", "the coffee machine is descaled on Mondays");
    const note = (await get(`memory/threads/coffee/messages?${OWN}`)).messages?.[0]?.id;
    await generate("about-coffee", "when is the coffee machine descaled");
    const known = async (): Promise<boolean> => {
      const { memories } = await exportState(memory.engine, { namespace: "default", collection: "messages" });
      return memories.some(({ id }) => id === note);
    };
    expect(await known()).toBe(true);

    const { threads = [] } = await get(`memory/threads?${OWN}`);
    expect(threads.map(({ id }) => id)).toEqual(expect.arrayContaining(["note-old", "chat", "coffee"]));
    await call("PATCH", `memory/threads/coffee?${OWN}`, { title: "Coffee", resourceId: RESOURCE });
    expect(await get(`memory/threads/coffee?${OWN}`)).toMatchObject({ title: "Coffee" });
    const { thread } = (await post(`memory/threads/coffee/clone?${OWN}`, {})) as { thread?: { id: string } };
    expect(await messagesOf(thread?.id ?? "")).toContain("descaled");
    for (const id of [thread?.id, "coffee"]) {
      expect((await call("DELETE", `memory/threads/${id}?${OWN}`)).status).toBe(200);
    }
    expect(await known()).toBe(false);
  });

  it("messages are found across threads by what they mean", async () => {
    const { results = [], ...found } = await get(
      `memory/search?${OWN}&threadId=chat&searchQuery=${encodeURIComponent("the new way by helm")}&memoryConfig=${encodeURIComponent('{"lastMessages":0}')}`,
    );
    expect(found).toMatchObject({ searchType: "semantic", searchScope: "resource" });
    expect(results.map(({ content, threadId }) => `${threadId}: ${content}`)).toEqual([
      "note-new: service rollout by helm upgrade, the new way",
    ]);
  });

  it("a thumb about a trace is a person's word about its run", async () => {
    await generate("thumbed", ASKED);
    const [, answer] = (await get(`memory/threads/thumbed/messages?${OWN}`)).messages ?? [];
    const { metadata } = (answer?.content ?? {}) as { metadata?: { traceId?: string } };
    const feedback = { traceId: metadata?.traceId, feedbackSource: "user", feedbackType: "thumbs", value: -1 };
    expect(await post("observability/feedback", { feedback })).toEqual({ success: true });
    expect((await memory.explain({ threadId: "thumbed" }))?.outcome).toMatchObject({ reward: 0, tier: "user" });
  });

  it("a request context from outside neither credits nor ends another's run that is under way", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const waits = createTool({
      id: "waits",
      description: "Waits.",
      inputSchema: { type: "object", properties: {} } as never,
      execute: () => gate.then(() => ({ ok: true })),
    });
    const model = scriptedModel((_prompt, role) => (role === "user" ? { tool: "waits" } : { text: "done" }));
    const agent = new Agent({ id: "victim", name: "victim", instructions: "", model, memory, tools: { waits } });
    const running = agent.generate(ASKED, { memory: { thread: "victim", resource: RESOURCE } });
    await expect.poll(async () => (await memory.explain({ threadId: "victim" }))?.exposures.length).toBe(1);
    const { episode = "" } = (await memory.explain({ threadId: "victim" })) ?? {};

    const qavr = { episode };
    const MastraMemory = { thread: { id: "victim" }, resourceId: RESOURCE, memoryConfig: {} };
    await post("agents/operator/generate", { messages: ASKED, requestContext: { qavr, MastraMemory } });
    const elsewhere = { thread: "attack", resource: "attacker" };
    await post("agents/operator/generate", { messages: ASKED, requestContext: { qavr }, memory: elsewhere });
    expect(await memory.explain({ episode })).toMatchObject({ state: "open" });
    expect((await memory.explain({ threadId: "victim" }))?.episode).toBe(episode);
    open();
    await running;
    expect(await memory.explain({ episode })).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
  });

  it("traces show what was recalled and why", async () => {
    const recalls = async (): Promise<readonly object[]> => {
      const { spans = [] } = (await get("observability/traces?perPage=50")) as {
        spans?: { traceId: string; threadId: string }[];
      };
      const traceId = spans.find(({ threadId }) => threadId === "streamed")?.traceId;
      if (traceId === undefined) return [];
      const trace = (await get(`observability/traces/${traceId}`)) as {
        spans: { name: string; attributes: { qavr?: object } }[];
      };
      return trace.spans.flatMap(({ attributes }) => (attributes.qavr ? [attributes.qavr] : []));
    };
    // Traces are kept in batches.
    await expect
      .poll(recalls, { timeout: 20_000 })
      .toEqual([
        expect.objectContaining({ order: "learned", shown: 1, items: [expect.objectContaining({ handle: "m1" })] }),
      ]);
  });
});
