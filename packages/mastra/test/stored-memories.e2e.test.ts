import type { Engine } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";

const RIGHT = "service rollout by helm upgrade, the new way";
const WRONG = "service rollout with docker compose up, the old way";
const QUESTION = "service rollout with docker please";

/** A memory that has learned that one of two notes misleads. */
async function experienced(qavr: Parameters<typeof bench>[0] = {}): Promise<Bench> {
  const given = bench(qavr);
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
  return (await engine.exportState({ namespace, collection: "messages" })).memories.map(({ id }) => id);
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
});
