import type { RequestContext } from "@mastra/core/request-context";
import type { LibSQLVector } from "@mastra/libsql";
import { createVectorQueryTool } from "@mastra/rag";
import { createEngine, memoryStore } from "@qavr/core";
import { type QavrVector, qavrVector } from "@qavr/mastra";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { promptText } from "./support/scripted-model.js";
import { libsql } from "./support/stores.js";
import { DIMENSION, wordEmbedder, wordVector } from "./support/word-embedder.js";

const INDEX = "documents";
const TEXTS = {
  cache: "when a deploy fails with EACCES clear the cache",
  permissions: "on EACCES fix the permissions",
  tea: "green tea takes three minutes",
};
const QUESTION = "deploy fails with EACCES";
const query = { indexName: INDEX, queryVector: wordVector(QUESTION), topK: 1 };

/** A model's answer that calls the tool. */
const ASKS = { tool: "search", args: { queryText: QUESTION, topK: 1 } };

/** Mastra's own tool, asking inside the run of the agent that calls it. */
const searching = (documents: QavrVector): ReturnType<typeof createVectorQueryTool> =>
  createVectorQueryTool({
    id: "search",
    indexName: INDEX,
    model: wordEmbedder() as never,
    vectorStore: ({ requestContext }) => documents.inRun(requestContext as RequestContext),
  });

describe("a wrapped vector store", () => {
  let vector: LibSQLVector;

  beforeEach(async () => {
    vector = libsql().vector;
    await vector.createIndex({ indexName: INDEX, dimension: DIMENSION });
    await vector.upsert({
      indexName: INDEX,
      ids: Object.keys(TEXTS),
      vectors: Object.values(TEXTS).map(wordVector),
      metadata: Object.values(TEXTS).map((text) => ({ text })),
    });
  });

  it.each([{}, { memoryOff: 1 }])("learns from reports about its results, with %o", async (options) => {
    const documents = qavrVector(vector, { store: memoryStore(), ...options });
    const [wrong] = await documents.query(query);
    expect(wrong?.id).toBe("cache");
    await documents.reportOutcome(wrong as never, { success: false });
    const [right] = await documents.query(query);
    expect(right?.id).toBe("permissions");
    await documents.reportOutcome(right as never, { success: true });
    expect((await documents.query(query)).map(({ id }) => id)).toEqual(["permissions"]);
  });

  it("reads scores that rise from the best result on as distances, as LanceDB's are", async () => {
    const ask = vector.query.bind(vector);
    vi.spyOn(vector, "query").mockImplementation(async (params) =>
      (await ask(params)).map((result) => ({ ...result, score: 1 - result.score })),
    );
    const documents = qavrVector(vector, { store: memoryStore() });
    const [wrong] = await documents.query(query);
    expect(wrong?.id).toBe("cache");
    await documents.reportOutcome(wrong as never, { success: false });
    expect((await documents.query(query)).map(({ id }) => id)).toEqual(["permissions"]);
  });

  it("learns of ids that are numbers, as Qdrant's may be, and returns them as they are", async () => {
    const numbers = Object.keys(TEXTS);
    const ask = vector.query.bind(vector);
    vi.spyOn(vector, "query").mockImplementation(async (params) =>
      (await ask(params)).map((result) => ({ ...result, id: numbers.indexOf(result.id) as never })),
    );
    const documents = qavrVector(vector, { store: memoryStore() });
    const [wrong] = await documents.query(query);
    expect(wrong?.id).toBe(0);
    await documents.reportOutcome(wrong as never, { harmful: ["0"] });
    expect((await documents.query(query)).map(({ id }) => id)).toEqual([1]);
  });

  it.each([
    // A collection of MongoDB that other programs fill has such ids.
    [
      "objects with a text form",
      (id: string) =>
        new (class ObjectId {
          toString = () => `oid-${id}`;
        })(),
    ],
    ["bigints", (id: string) => BigInt(id.length)],
    // OpenSearch returns them for documents that other programs wrote.
    ["empty", () => ""],
    ["missing", () => undefined],
  ])("learns of results whose ids are %s, and returns them as they are", async (_, toId) => {
    const ids = Object.keys(TEXTS).map(toId);
    const ask = vector.query.bind(vector);
    vi.spyOn(vector, "query").mockImplementation(async (params) =>
      (await ask(params)).map((result) => ({
        ...result,
        id: ids[Object.keys(TEXTS).indexOf(result.id)] as never,
      })),
    );
    const documents = qavrVector(vector, { store: memoryStore() });
    expect(await documents.query({ ...query, topK: 3 })).toEqual(await vector.query({ ...query, topK: 3 }));
    const [wrong] = await documents.query(query);
    expect(wrong?.metadata?.text).toBe(TEXTS.cache);
    await documents.reportOutcome(wrong as never, { success: false });
    const [right] = await documents.query(query);
    expect(right?.metadata?.text).toBe(TEXTS.permissions);
    expect(right?.id).toBe(ids[1]);
  });

  it("hands on an episode and a handle in the metadata when that is asked for", async () => {
    const documents = qavrVector(vector, { store: memoryStore(), annotate: true });
    const [result] = await documents.query(query);
    const { episode, handle } = result?.metadata?.qavr ?? {};
    expect(handle).toBe("m1");
    expect((await documents.reportOutcome(episode, { helpful: ["m1"] })).status).toBe("committed");
    expect(result?.metadata).toMatchObject({ text: TEXTS.cache });
  });

  it("names memories by the application's label", async () => {
    const engine = createEngine({ store: memoryStore() });
    const documents = qavrVector(vector, {
      engine,
      annotate: true,
      label: ({ collection, id, text, metadata }) => `${collection}/${id}: ${text === metadata?.text && text}`,
    });
    const [result] = await documents.query(query);
    await documents.reportOutcome(result as never, { success: true });
    const { exposures } = (await engine.explain(result?.metadata?.qavr.episode)) ?? {};
    expect(exposures?.[0]?.items[0]?.label).toBe(`${INDEX}/cache: ${TEXTS.cache}`);
  });

  it("refuses a switch in words", () => {
    const options = { store: memoryStore(), annotate: "yes" as never };
    expect(() => qavrVector(vector, options)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("finds the namespace of an episode that it is told of by id, in this process and with a word in another", async () => {
    const store = memoryStore();
    const options = { store, annotate: true, namespace: () => "acme" };
    const first = qavrVector(vector, options);
    const second = qavrVector(vector, { engine: createEngine({ store }), annotate: true });
    const [result] = await first.query(query);
    const { episode } = result?.metadata?.qavr ?? {};
    expect((await first.reportOutcome(episode, { success: true })).status).toBe("committed");
    await expect(second.reportOutcome(episode, { success: true })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    const elsewhere = { episode, namespace: "acme" };
    expect((await second.reportOutcome(elsewhere, { success: false })).status).toBe("committed");
    for (const wrong of [7, { episode, namspace: "acme" }] as never[]) {
      await expect(second.reportOutcome(wrong, { success: false })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("finds the namespace of an agent's run by the id of its episode", async () => {
    const { memory } = bench({ namespace: ({ resourceId = "nobody" }) => resourceId });
    const documents = qavrVector(vector, { memory });
    const agent = scriptedAgent(memory, [ASKS, { text: "done" }], { tools: { search: searching(documents) } });
    await agent.generate(QUESTION, { memory: { thread: "task", resource: USER } });
    const { episode = "" } = (await latest(memory, "task")) ?? {};
    expect((await documents.reportOutcome(episode, { success: false })).status).toBe("committed");
    expect((await memory.status({ namespace: USER })).outcomes.user).toBe(1);
  });

  it("is the store itself in everything else, and changes nothing in it", async () => {
    const documents = qavrVector(vector, { store: memoryStore() });
    expect(documents.id).toBe(vector.id);
    expect(documents.constructor).toBe(vector.constructor);
    expect(bench({}, { vector }).memory.vector?.constructor.name).toBe("LibSQLVector");
    expect(await documents.describeIndex({ indexName: INDEX })).toMatchObject({ count: 3, dimension: DIMENSION });
    expect(await documents.listIndexes()).toEqual([INDEX]);
    await documents.updateVector({ indexName: INDEX, id: "tea", update: { metadata: { text: "black tea" } } });
    await documents.deleteVector({ indexName: INDEX, id: "tea" });
    expect(await vector.describeIndex({ indexName: INDEX })).toMatchObject({ count: 2 });
    const [own] = await vector.query(query);
    expect((await documents.query(query))[0]).toEqual(own);
  });

  it("belongs to the run of an agent whose tool asks it, beside what its memory recalls", async () => {
    const { memory } = bench();
    const documents = qavrVector(vector, { memory });
    const script = [ASKS, { error: new Error("no help") }];
    const agent = scriptedAgent(memory, script, { tools: { search: searching(documents) } });
    await agent.generate(QUESTION, { memory: { thread: "task", resource: USER } }).catch(() => undefined);
    const episode = await latest(memory, "task");
    expect(episode).toMatchObject({
      outcome: { reward: 0, tier: "observed" },
      exposures: [{ collection: INDEX, items: [{ id: "cache" }] }],
    });
    expect((await documents.query(query))[0]?.id).toBe("permissions");
  });

  it("reads each result's group from its metadata", async () => {
    await vector.upsert({
      indexName: INDEX,
      ids: ["rollout", "leaf"],
      vectors: ["deploy fails again", "tea fails"].map(wordVector),
      metadata: [{ tool: "deploy" }, { tool: 7 }],
    });
    const engine = createEngine({ store: memoryStore() });
    const rank = vi.spyOn(engine, "rank");
    await qavrVector(vector, { engine, groupKey: "tool" }).query({ ...query, topK: 5 });
    const [{ candidates }] = rank.mock.calls[0] as Parameters<typeof engine.rank>;
    const groups = Object.fromEntries(candidates.map(({ id, group }) => [id, group]));
    expect(groups).toMatchObject({ rollout: "deploy", leaf: "7", cache: undefined });
  });

  it("of one memory serves another one, which ranks it once", async () => {
    const { memory: first } = bench();
    const { memory } = bench({}, { storage: first.storage as never, vector: first.vector as never });
    await remember(first, "deploy the service with helm upgrade");
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await agent.generate("how is the service deployed", { memory: { thread: "task", resource: USER } });
    expect(promptText(agent.prompts[0])).toContain("helm upgrade");
    expect((await latest(memory, "task"))?.exposures).toHaveLength(1);
  });

  it("does not rank what a memory around it ranks", async () => {
    const { storage, vector: messages } = libsql();
    const { memory } = bench({}, { storage, vector: qavrVector(messages, { store: memoryStore() }) });
    const agent = scriptedAgent(memory, [{ text: "noted" }]);
    await agent.generate("deploy with helm", { memory: { thread: "a", resource: USER } });
    await agent.generate("how to deploy", { memory: { thread: "b", resource: USER } });
    expect((await latest(memory, "b"))?.exposures[0]?.collection).toBe("messages");
  });

  it.each([
    ["no vector store", () => qavrVector({} as never)],
    ["a memory that is none", () => qavrVector(vector, { memory: {} as never })],
    ["a collection without a name", () => qavrVector(vector, { collection: "" })],
    ["options that are none", () => qavrVector(vector, null as never)],
    ["a misspelt option", () => qavrVector(vector, { anotate: true } as never)],
    [
      "a switch in words beside a memory",
      () => qavrVector(vector, { memory: bench().memory, enabled: "false" as never }),
    ],
  ])("refuses %s", (_what, make) => {
    expect(make).toThrow(expect.objectContaining({ code: expect.stringMatching(/^INVALID_/) }));
  });

  it("refuses reports about what it never returned", async () => {
    const documents = qavrVector(vector, { store: memoryStore() });
    await expect(documents.reportOutcome({ id: "cache", score: 1 }, { success: true })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
    });
  });

  it("says that a report takes one result, for the list of a query's results", async () => {
    const documents = qavrVector(vector, { store: memoryStore() });
    const results = await documents.query(query);
    await expect(documents.reportOutcome(results as never, { success: true })).rejects.toThrow(/one of its results/);
  });
});
