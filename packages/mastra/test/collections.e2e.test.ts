import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type Learner, memoryStore, similarity } from "@qavr/core";
import { localMemories } from "@qavr/local";
import { openLessons } from "@qavr/markdown";
import type { CollectionHit, CollectionQuery, LearningOptions, MemoryCollection } from "@qavr/mastra";
import { QavrMemory } from "@qavr/mastra";
import { describe, expect, it, vi } from "vitest";
import { bench, latest, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import { promptText, type Script } from "./support/scripted-model.js";
import { libsql } from "./support/stores.js";

/** Lessons in an array, each `step` less similar than the one before. */
function lessons(
  texts: Readonly<Record<string, string>>,
  asked: CollectionQuery[] = [],
  step = 0.01,
): MemoryCollection {
  return {
    name: "lessons",
    search(query): CollectionHit[] {
      asked.push(query);
      return Object.entries(texts)
        .map(([id, text], place) => ({ id, text, similarity: 0.9 - place * step }))
        .slice(0, query.limit);
    },
  };
}

const TEXTS = { cache: "When a deploy fails,\nclear the cache.", permissions: "On EACCES, fix the permissions." };

describe("a collection of memories", () => {
  it("is recalled beside messages, in a block under its heading with handles", async () => {
    const asked: CollectionQuery[] = [];
    const collections = [{ collection: lessons(TEXTS, asked), heading: "Lessons" }];
    const { memory } = bench({ collections, label: ({ collection, id }) => `${collection} ${id}` });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    await agent.generate("the deploy fails with EACCES", { memory: { thread: "task", resource: USER } });
    expect(promptText(agent.prompts[0])).toContain(
      "Lessons\n[m1] When a deploy fails,\n  clear the cache.\n[m2] On EACCES, fix the permissions.",
    );
    expect(asked).toEqual([{ text: "the deploy fails with EACCES", limit: 3, threadId: "task", resourceId: USER }]);
    const [exposure] = (await latest(memory, "task"))?.exposures ?? [];
    expect(exposure).toMatchObject({
      collection: "lessons",
      items: [{ id: "cache", label: "lessons cache" }, { id: "permissions" }],
    });
  });

  it("has no block in a run that is shown no memory, whose outcome counts for the lift of memory", async () => {
    const { memory } = bench({ collections: [{ collection: lessons(TEXTS), heading: "Lessons" }], memoryOff: 1 });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    await agent.generate("the deploy fails with EACCES", { memory: { thread: "task", resource: USER } });
    expect(promptText(agent.prompts[0])).not.toContain("Lessons");
    const [exposure] = (await latest(memory, "task"))?.exposures ?? [];
    expect(exposure).toMatchObject({ collection: "lessons", items: [], memoryOff: true });
    expect(await memory.status()).toMatchObject({ memoryLift: { episodes: { shown: 0, off: 1 } } });
  });

  it.each([
    [undefined, ["permissions", "cache"]],
    [0.1, ["permissions"]],
  ])("leaves out with minWorth %s what failed where another memory helps", async (minWorth, shown) => {
    const engine = createEngine({ store: memoryStore() });
    const text = "the deploy fails with EACCES";
    for (let run = 0; run < 12; run++) {
      const id = run % 2 === 0 ? "cache" : "permissions";
      const candidates = [{ id, text: TEXTS[id], similarity: 0.9 }];
      const { episode } = await engine.rank({ collection: "lessons", text, candidates, topK: 1 });
      await engine.end(episode, { reward: id === "permissions", tier: "verified" });
    }
    const collections = [{ collection: lessons(TEXTS), topK: 2, minWorth }];
    const { memory } = bench({ engine, store: undefined, collections });
    await scriptedAgent(memory, [{ text: "ok" }]).generate(text, { memory: { thread: "task", resource: USER } });
    const [exposure] = (await latest(memory, "task"))?.exposures ?? [];
    expect(exposure?.items.map(({ id }) => id)).toEqual(shown);
  });

  it("may say the group of each memory", async () => {
    const engine = createEngine({ store: memoryStore() });
    const rank = vi.spyOn(engine, "rank");
    const search = (): CollectionHit[] => [
      { id: "cache", text: TEXTS.cache, similarity: 0.9, group: "deploy" },
      { id: "tea", text: "Three minutes.", similarity: 0.8 },
    ];
    const { memory } = bench({ engine, store: undefined, collections: [{ collection: { name: "lessons", search } }] });
    await scriptedAgent(memory, [{ text: "ok" }]).generate("the deploy fails", {
      memory: { thread: "task", resource: USER },
    });
    const asked = rank.mock.calls.find(([{ collection }]) => collection === "lessons");
    expect(asked?.[0].candidates.map(({ group }) => group)).toEqual(["deploy", undefined]);
  });

  it("may be a collection of @qavr/local as it is, and learns under its name", async () => {
    const collection = localMemories({ path: ":memory:", name: "notes" });
    await collection.add([
      { id: "cache", text: "When a deploy fails, clear the cache." },
      { id: "permissions", text: "When a deploy fails, fix the permissions of the folder." },
    ]);
    const { memory } = bench({ collections: [{ collection, topK: 1 }] });
    const shown: (string | undefined)[] = [];
    for (let run = 0; run < 3; run++) {
      const agent = scriptedAgent(memory, [{ text: "ok" }]);
      await agent.generate("the deploy fails", { memory: { thread: `task-${run}`, resource: USER } });
      const { exposures = [] } = (await latest(memory, `task-${run}`)) ?? {};
      shown.push(exposures.find(({ collection: name }) => name === "notes")?.items[0]?.id);
      await memory.reportOutcome({ threadId: `task-${run}`, success: shown.at(-1) === "permissions" });
    }
    expect(shown).toEqual(["cache", "permissions", "permissions"]);
    expect((await memory.memories({ collection: "notes" })).memories).toHaveLength(2);
    await collection.close();
  });

  it("L4: may be lessons in Markdown, which count once for each run that showed them", async () => {
    const root = mkdtempSync(join(tmpdir(), "qavr-lessons-"));
    const own = openLessons(root);
    for (const title of ["Cache", "Permissions"]) {
      await own.capture({ project: ".", title, body: "When a deploy fails, look there." });
    }
    const { memory } = bench({ engine: own.engine, collections: [{ collection: own.collection, topK: 1 }] });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    await agent.generate("the deploy fails", { memory: { thread: "task", resource: USER } });
    await memory.reportOutcome({ threadId: "task", success: true });
    expect((await own.list()).map(({ reinforcements }) => reinforcements).sort()).toEqual([0, 1]);
    await own.close();
  });

  it("P9: shows what fits into its budget, and credits no more than that", async () => {
    const collection = lessons({ long: "x".repeat(50), short: "y".repeat(20), shorter: "z".repeat(10) });
    const { memory } = bench({ collections: [{ collection, budget: 35 }] });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    await agent.generate("anything", { memory: { thread: "task", resource: USER } });
    const prompt = promptText(agent.prompts[0]);
    expect([prompt.includes("xxx"), prompt.includes("yyy"), prompt.includes("zzz")]).toEqual([false, true, true]);
    const [exposure] = (await latest(memory, "task"))?.exposures ?? [];
    expect(exposure?.items.map(({ id }) => id)).toEqual(["short", "shorter"]);
    expect(exposure?.notShown).toMatchObject([{ id: "long", rank: 1, reason: "dropped" }]);
  });

  it("gives each memory one place, and none to those that say nothing", async () => {
    const hits = [
      { id: "a", text: "A", similarity: 0.9 },
      { id: "a", text: "A again", similarity: 0.8 },
      { id: "empty", similarity: 0.7 } as CollectionHit,
      { id: "b", text: "B", similarity: 0.6 },
    ];
    const collection: MemoryCollection = { name: "lessons", search: () => hits };
    const { memory } = bench({ collections: [{ collection, topK: 2 }] });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    await agent.generate("anything", { memory: { thread: "task", resource: USER } });
    expect(promptText(agent.prompts[0])).toContain("lessons\n[m1] A\n[m2] B");
    const [exposure] = (await latest(memory, "task"))?.exposures ?? [];
    expect(exposure?.items.map(({ id, handle }) => `${handle}=${id}`)).toEqual(["m1=a", "m2=b"]);
  });

  it("that finds nothing but memories without a text has failed", async () => {
    const { codes, logger } = listener();
    const collection = { name: "lessons", search: () => [{ id: "a", similarity: 1 } as CollectionHit] };
    const agent = scriptedAgent(bench({ collections: [{ collection }], logger }).memory, [{ text: "ok" }]);
    await agent.generate("anything", { memory: { thread: "task", resource: USER } });
    expect(codes).toEqual(["COLLECTION_FAILED"]);
    expect(promptText(agent.prompts[0])).not.toContain("[m1]");
  });

  it.each([
    ["that ranks its memories", 0.01],
    ["that lists them with one similarity", 0],
  ])("%s learns: the lesson that helped comes first", async (_kind, step) => {
    const { memory } = bench({ collections: [{ collection: lessons(TEXTS, [], step), topK: 1 }] });
    const operator: Script = (prompt) =>
      promptText(prompt).includes("fix the permissions") ? { text: "deployed" } : { error: new Error("EACCES") };
    const agent = scriptedAgent(memory, operator);
    const answers: string[] = [];
    for (let run = 0; run < 6; run++) {
      const on = { thread: `task-${run}`, resource: USER };
      answers.push(
        await agent.generate("the deploy fails with EACCES", { memory: on }).then(({ text }) => text, String),
      );
    }
    expect(answers[0]).toContain("EACCES");
    expect(answers.slice(4)).toEqual(["deployed", "deployed"]);
  });

  it("whose ranking fails is shown in its own order, without handles", async () => {
    const { codes, logger } = listener();
    const learner: Learner = {
      ...(similarity() as Learner),
      id: "broken@1",
      score() {
        throw new Error("no");
      },
    };
    const store = memoryStore();
    const collections = [{ collection: lessons(TEXTS), heading: "Lessons", topK: 1 }];
    const { memory } = bench({ store, collections, learner, logger });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    for (const thread of ["first", "second"]) {
      await agent.generate("the deploy fails", { memory: { thread, resource: USER } });
    }
    expect(codes).toContain("RANKING_FAILED");
    expect(codes).not.toContain("COLLECTION_FAILED");
    expect(promptText(agent.prompts[1])).toContain("Lessons\n- When a deploy fails");
  });

  it("says once that there is nothing to choose from, or that no run is judged", async () => {
    const codesOf = async (qavr: LearningOptions, runs: number): Promise<string[]> => {
      const { codes, logger } = listener();
      const { storage } = libsql();
      const memory = new QavrMemory({ storage, qavr: { store: memoryStore(), logger, ...qavr } });
      const agent = scriptedAgent(memory, [{ text: "ok" }]);
      for (let run = 0; run < runs; run++) {
        await agent.generate("the deploy fails", { memory: { thread: `task-${run}`, resource: USER } });
        await memory.flush();
      }
      return codes;
    };
    const collection = lessons(TEXTS);
    expect(await codesOf({ collections: [{ collection }], evaluate: () => true }, 12)).toEqual([
      "NOTHING_TO_CHOOSE_FROM",
    ]);
    expect(await codesOf({ collections: [{ collection, topK: 1 }] }, 21)).toEqual(["NOTHING_JUDGED"]);
  });

  it("is recalled without a vector store too", async () => {
    const { storage } = libsql();
    const memory = new QavrMemory({
      storage,
      qavr: { store: memoryStore(), collections: [{ collection: lessons(TEXTS) }] },
    });
    const agent = scriptedAgent(memory, [{ text: "ok" }]);
    await agent.generate("the deploy fails", { memory: { thread: "task", resource: USER } });
    expect(promptText(agent.prompts[0])).toContain("[m1] When a deploy fails");
    expect((await latest(memory, "task"))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });
});
