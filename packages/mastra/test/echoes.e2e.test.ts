import { Mastra } from "@mastra/core/mastra";
import type { MastraDBMessage } from "@mastra/core/memory";
import type { SemanticRecallOptions } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { type Bench, bench, latest, scriptedAgent, USER } from "./support/bench.js";
import { promptText, type Script } from "./support/scripted-model.js";
import { tools } from "./support/tools.js";
import { wordVector } from "./support/word-embedder.js";

const QUESTION = "how do I deploy the payment service for tenant 17";
const SAME = "How do I deploy the payment service for tenant 42?";

/** Asks on a thread of its own, and returns what the run was shown. */
async function ask(given: Bench, text: string, thread: string, reply: string | Error): Promise<string> {
  const agent = scriptedAgent(given.memory, [typeof reply === "string" ? { text: reply } : { error: reply }]);
  await agent.generate(text, { memory: { thread, resource: USER } }).catch(() => undefined);
  return promptText(agent.prompts[0]?.filter(({ role }) => role === "system"));
}

/** Stores a message of the user without a run. */
async function store({ memory }: Bench, text: string): Promise<MastraDBMessage> {
  const content = { format: 2 as const, parts: [{ type: "text" as const, text }] };
  const message = {
    id: "m-1",
    role: "user" as const,
    threadId: "early",
    resourceId: USER,
    createdAt: new Date(),
    content,
  };
  await memory.createThread({ threadId: "early", resourceId: USER });
  await memory.saveMessages({ messages: [message] });
  return message;
}

/** Roles of the messages that have vectors, the user's first. */
async function embeddedRoles({ vector }: Bench): Promise<string> {
  const [indexName] = await vector.listIndexes();
  if (indexName === undefined) return "";
  const found = await vector.query({ indexName, queryVector: wordVector("any"), topK: 50 });
  return found
    .map(({ metadata }) => String(metadata?.role))
    .toSorted()
    .reverse()
    .join();
}

describe("an earlier question of the user's own", () => {
  const FACTS: readonly (readonly [string, string])[] = [
    ["my favourite colour is green", "my favourite colour is"],
    ["payment refund card customer bank", "payment refund card customer"],
    ["Deploy service alpha to port 8080", "Deploy service alpha to port 9090"],
    ["Invoice 17 was paid by Bob", "Invoice 17 was paid by Ann?"],
    ["the temperature is -5 degrees", "the temperature is 5 degrees?"],
  ];

  it("stays unless it is to be dropped", async () => {
    const given = bench();
    await ask(given, QUESTION, "first", "Run make deploy in the payment folder.");
    expect(await ask(given, SAME, "second", "As before.")).toContain("tenant 17");
  });

  it("that is dropped gives its place to its answer, and explain names it", async () => {
    const given = bench({ semanticRecall: { echoes: "drop" } });
    await ask(given, `${QUESTION}?`, "first", "Run make deploy in the payment folder for any tenant.");
    const shown = await ask(given, SAME, "second", "As before.");
    expect(shown).toContain("Run make deploy");
    expect(shown).not.toContain("tenant 17");
    const view = await latest(given.memory, "second");
    expect(view?.exposures.map(({ items }) => items.length)).toEqual([1]);
    const store = await given.storage.getStore("memory");
    const { messages = [] } = (await store?.listMessages({ threadId: "first" })) ?? {};
    expect(view?.dropped).toEqual([messages.find(({ role }) => role === "user")?.id]);
  });

  it("that is dropped gives its place to a near memory also where the store's scores are distances", async () => {
    const given = bench({ semanticRecall: { echoes: "drop" } });
    const query = given.vector.query.bind(given.vector);
    given.vector.query = async (params) =>
      (await query(params)).map((result) => ({ ...result, score: 1 - result.score }));
    await ask(given, `${QUESTION}?`, "first", "Run make deploy in the payment folder for any tenant.");
    await ask(given, "green tea", "tea", "takes three minutes");
    await ask(given, "deploy the payment service with docker for tenants", "docker", "noted deploy");
    expect(await ask(given, SAME, "second", "As before.")).toContain("Run make deploy");
    await given.memory.reportOutcome({ threadId: "second", success: false });
    expect(await ask(given, SAME, "third", "As before.")).toContain("with docker");
  });

  it("is dropped also where the logger fails", async () => {
    const debug = (): never => {
      throw new Error("no space left for logs");
    };
    const given = bench({ semanticRecall: { echoes: "drop" }, logger: { debug } });
    await ask(given, `${QUESTION}?`, "first", "Run make deploy in the payment folder for any tenant.");
    expect(await ask(given, SAME, "second", "As before.")).toContain("Run make deploy");
  });

  it("is dropped without an answer only where it equals the present one", async () => {
    const given = bench({ semanticRecall: { echoes: "drop" } });
    await store(given, `${QUESTION}?`);
    expect(await ask(given, SAME, "second", "ok")).toContain("tenant 17");
    expect(await ask(given, `${QUESTION} `, "third", "ok")).not.toContain("tenant 17");
  });

  it.each(FACTS)("is never a statement: %s", async (fact, question) => {
    for (const messageRange of [0, 1]) {
      const given = bench(
        { semanticRecall: { echoes: "drop" } },
        { options: { semanticRecall: { topK: 2, messageRange } } },
      );
      await ask(given, fact, "first", "ok");
      await ask(given, "something else entirely", "other", "ok");
      expect(await ask(given, question, "second", "ok")).toContain(fact);
    }
  });
});

describe("a failed turn", () => {
  it("is stored, but no later run is shown it", async () => {
    const given = bench();
    await ask(given, "roll out the billing service with docker", "first", new Error("down"));
    expect(await ask(given, "roll out the billing service somehow", "second", "ok")).not.toContain("docker");
    const store = await given.storage.getStore("memory");
    expect((await store?.listMessages({ threadId: "first" }))?.messages.length).toBeGreaterThan(0);
  });

  it("is not the only kind that may be left out", async () => {
    const given = bench({ semanticRecall: { rememberTurns: ({ threadId }) => threadId === "notes" } });
    await ask(given, "roll out the billing service with docker", "daily work", "done");
    await ask(given, "roll out the billing service with helm", "notes", "noted");
    const shown = await ask(given, "roll out billing, the service", "second", "ok");
    expect([shown.includes("docker"), shown.includes("helm")]).toEqual([false, true]);
  });

  it.each<[string, SemanticRecallOptions["rememberTurns"], boolean, string]>([
    ["waits for an approval and is not to be remembered", () => false, true, ""],
    ["waits for an approval and ends well", "unfailed", true, "user,assistant"],
    ["waits for an approval and fails", "unfailed", false, ""],
  ])("that %s is embedded as asked", async (_what, rememberTurns, well, embedded) => {
    const given = bench({ semanticRecall: { rememberTurns } });
    const agent = scriptedAgent(
      given.memory,
      [{ tool: "needsApproval" }, well ? { text: "paid the invoice" } : { error: new Error("down") }],
      { tools },
    );
    new Mastra({ agents: { agent }, storage: given.storage, logger: false });
    const waiting = await agent.stream("pay the invoice", { memory: { thread: "pay", resource: USER } });
    await waiting.consumeStream();
    expect(await embeddedRoles(given)).toBe("");
    const resumed = await agent.approveToolCall({ runId: waiting.runId });
    await resumed.consumeStream();
    expect(await embeddedRoles(given)).toBe(embedded);
  });

  it.each<[string, SemanticRecallOptions["rememberTurns"], Script, string]>([
    ["not remembered", () => false, [{ tool: "works" }, { text: "done" }], ""],
    ["remembered", "unfailed", [{ tool: "works" }, { text: "done" }], "user,assistant"],
    ["that fails", "unfailed", [{ tool: "works" }, { error: new Error("down") }], ""],
  ])("saved step by step is embedded as asked: one %s", async (_what, rememberTurns, script, embedded) => {
    const given = bench({ semanticRecall: { rememberTurns } });
    const agent = scriptedAgent(given.memory, script, { tools });
    const on = { memory: { thread: "steps", resource: USER }, savePerStep: true };
    await agent.generate("roll it out in steps", on).catch(() => undefined);
    expect(await embeddedRoles(given)).toBe(embedded);
    const store = await given.storage.getStore("memory");
    expect((await store?.listMessages({ threadId: "steps" }))?.messages.length).toBeGreaterThan(0);
  });

  it("of a sub-agent is embedded as asked, too", async () => {
    const given = bench({ semanticRecall: { rememberTurns: () => false } });
    const helper = scriptedAgent(given.memory, [{ text: "rolled out" }], { id: "helper", description: "Rolls out." });
    const supervisor = scriptedAgent(
      given.memory,
      [{ tool: "agent-helper", args: { prompt: "roll it out" } }, { text: "done" }],
      { agents: { helper } },
    );
    await supervisor.generate("please delegate", { memory: { thread: "top", resource: USER } });
    expect(helper.prompts.length).toBe(1);
    expect(await embeddedRoles(given)).toBe("");
  });

  it("that was embedded before it began loses its vectors", async () => {
    const given = bench();
    const early = await store(given, "roll out with docker");
    expect(await embeddedRoles(given)).toBe("user");
    const agent = scriptedAgent(given.memory, [{ error: new Error("down") }]);
    await agent.generate([early], { memory: { thread: "early", resource: USER } }).catch(() => undefined);
    expect(await embeddedRoles(given)).toBe("");
  });

  it("that an application edits stays out of later recalls", async () => {
    const given = bench({ semanticRecall: { rememberTurns: () => false } });
    await ask(given, "roll out the billing service with docker", "daily", "done");
    const store = await given.storage.getStore("memory");
    const [first] = (await store?.listMessages({ threadId: "daily" }))?.messages ?? [];
    const content = { format: 2, parts: [{ type: "text", text: "with podman" }], content: "with podman" };
    await given.memory.updateMessages({ messages: [{ id: first?.id as string, content: content as never }] });
    expect(await embeddedRoles(given)).toBe("");
  });

  it("is shown when that is asked for", async () => {
    const given = bench({ semanticRecall: { rememberTurns: "all" } });
    await ask(given, "roll out the billing service with docker", "first", new Error("down"));
    expect(await ask(given, "what about billing, roll it out", "second", "ok")).toContain("docker");
  });
});
