import { describe, expect, it } from "vitest";
import { type Bench, bench, latest, scriptedAgent, USER } from "./support/bench.js";
import { promptText } from "./support/scripted-model.js";

const QUESTION = "how do I deploy the payment service for tenant 17";
const SAME = "How do I deploy the payment service for tenant 42?";

/** Asks on a thread of its own, and returns what the run was shown. */
async function ask(given: Bench, text: string, thread: string, reply: string | Error): Promise<string> {
  const agent = scriptedAgent(given.memory, [typeof reply === "string" ? { text: reply } : { error: reply }]);
  await agent.generate(text, { memory: { thread, resource: USER } }).catch(() => undefined);
  return promptText(agent.prompts[0]?.filter(({ role }) => role === "system"));
}

describe("an earlier question of the user's own", () => {
  it("gives its place to an answer where it would come without one", async () => {
    const given = bench();
    await ask(given, QUESTION, "first", "Run make deploy in the payment folder.");
    const shown = await ask(given, SAME, "second", "As before.");
    expect(shown).toContain("Run make deploy");
    expect(shown).not.toContain("tenant 17");
    const { exposures = [] } = (await latest(given.memory, "second")) ?? {};
    expect(exposures.map(({ items }) => items.length)).toEqual([1]);
  });

  it("stays where its answer comes along", async () => {
    const given = bench({}, { options: { lastMessages: 2, semanticRecall: { topK: 1, messageRange: 1 } } });
    await ask(given, QUESTION, "first", "Run make deploy in the payment folder.");
    const shown = await ask(given, SAME, "second", "As before.");
    expect(shown).toContain("tenant 17");
    expect(shown).toContain("Run make deploy");
  });

  it("may be kept and may be dropped whatever comes with it", async () => {
    const kept = bench({ echoes: "keep" });
    await ask(kept, QUESTION, "first", "Run make deploy in the payment folder.");
    expect(await ask(kept, SAME, "second", "As before.")).toContain("tenant 17");

    const dropped = bench({ echoes: "drop" }, { options: { semanticRecall: { topK: 1, messageRange: 1 } } });
    await ask(dropped, QUESTION, "first", "Run make deploy in the payment folder.");
    await ask(dropped, SAME, "second", "As before.");
    const { exposures = [] } = (await latest(dropped.memory, "second")) ?? {};
    const [item] = exposures[0]?.items ?? [];
    const store = await dropped.storage.getStore("memory");
    const [message] = (await store?.listMessagesById({ messageIds: [item?.id ?? ""] }))?.messages ?? [];
    expect(message?.role).toBe("assistant");
  });

  it("that says something else is a memory like any other", async () => {
    const given = bench();
    await ask(given, "my favourite colour is blue", "first", "Noted.");
    expect(await ask(given, "what is my favourite colour", "second", "Blue.")).toContain("blue");
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
    const given = bench({ rememberTurns: ({ threadId }) => threadId === "notes" });
    await ask(given, "roll out the billing service with docker", "daily work", "done");
    await ask(given, "roll out the billing service with helm", "notes", "noted");
    const shown = await ask(given, "roll out billing, the service", "second", "ok");
    expect([shown.includes("docker"), shown.includes("helm")]).toEqual([false, true]);
  });

  it("is shown when that is asked for", async () => {
    const given = bench({ rememberTurns: "all" });
    await ask(given, "roll out the billing service with docker", "first", new Error("down"));
    expect(await ask(given, "what about billing, roll it out", "second", "ok")).toContain("docker");
  });
});
