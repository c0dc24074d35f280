import { Document } from "@langchain/core/documents";
import { RunnableLambda } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { memoryStore } from "@qavr/core";
import { prune } from "@qavr/core/maintenance";
import { type Qavr, qavr } from "@qavr/langchain";
import { Reflector } from "@qavr/langchain/reflection";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { agentClaims, type LocalMemories } from "../src/index.js";
import { collection, tempFile } from "./support/collections.js";
import { MEANINGS, MeaningModel } from "./support/embedding.js";

const NOTES = [
  { id: "cache", text: "When a deploy fails, clear the cache.", metadata: { team: "web" } },
  { id: "permissions", text: "When the deploy of a folder fails, fix its permissions." },
  { id: "ann", text: "Deploy fails on Mondays for many reasons: call Ann." },
];

async function notes(): Promise<LocalMemories> {
  const memories = collection({ name: "notes" });
  await memories.add(NOTES);
  return memories;
}

function learning(options: Parameters<typeof qavr>[0] = {}): Qavr {
  return closing(qavr({ store: memoryStore(), ...options }));
}

const first = (documents: readonly { id?: string | undefined }[]): string | undefined => documents[0]?.id;

describe("a collection in LangChain", () => {
  it("is the base of a retriever whose order follows how runs end", async () => {
    const memory = learning({ evaluate: ({ output }) => String(output).includes("permissions") });
    const retriever = memory.retriever(await notes(), { k: 1 });
    const chain = memory.track(
      RunnableLambda.from(
        async (question: string, config) => (await retriever.invoke(question, config))[0]?.pageContent ?? "",
      ),
    );
    const answers = [];
    for (let run = 0; run < 6; run++) answers.push(await chain.invoke("deploy fails"));
    expect(answers[0]).not.toContain("permissions");
    expect(answers.slice(-2)).toEqual([NOTES[1]?.text, NOTES[1]?.text]);
    const { collections } = await memory.status();
    expect(collections.map(({ collection: name }) => name)).toEqual(["notes"]);
  });

  it("is a vector store that takes documents, searches and deletes", async () => {
    const own = await notes();
    const store = learning().vectorStore(own);
    await store.addDocuments([
      new Document({ id: "new", pageContent: "Deploy fails at night: wait.", metadata: { team: "ops" } }),
    ]);
    expect(await own.get("new")).toMatchObject({ text: "Deploy fails at night: wait.", metadata: { team: "ops" } });
    const found = await store.similaritySearch("deploy fails at night", 2);
    expect([found.length, first(found), found[0]?.metadata]).toEqual([2, "new", { team: "ops" }]);
    expect(await store.similaritySearchWithScore("deploy fails", 1, { team: "web" })).toMatchObject([
      [{ id: "cache" }, expect.any(Number)],
    ]);
    await store.delete({ ids: ["new"] });
    expect(await own.get("new")).toBeUndefined();
    await expect(store.delete()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(store.addVectors([[1]], [new Document({ pageContent: "x" })])).rejects.toMatchObject({
      code: "UNSUPPORTED",
    });
    expect(first(await store.asRetriever(1).invoke("deploy clear the cache"))).toBe("cache");
  });

  it("is recalled without a framework and learns from a report", async () => {
    const memory = learning();
    const own = await notes();
    const { documents, episode } = await memory.recall(own, "deploy fails", { k: 2 });
    await episode.report({ success: false, harmful: [documents[0]?.id as string] });
    expect(first((await memory.recall(own, "deploy fails", { k: 2 })).documents)).not.toBe(first(documents));
    expect((await memory.memories({ collection: "notes" })).memories).toHaveLength(2);
  });

  it("keeps what was learned when the vectors are made anew by another model", async () => {
    const path = tempFile();
    const memory = learning();
    const old = collection({ path, name: "notes", embed: new MeaningModel(MEANINGS).embed });
    await old.add(NOTES);
    const { documents, episode } = await memory.recall(old, "deploy fails", { k: 2 });
    await episode.report({ success: false, harmful: [documents[0]?.id as string] });
    const learned = first((await memory.recall(old, "deploy fails", { k: 1 })).documents);
    await old.close();
    const renewed = collection({ path, name: "notes", embed: new MeaningModel([["deploy"], ["fails"]]).embed });
    expect(await renewed.reembed()).toBe(3);
    expect(first((await memory.recall(renewed, "deploy fails", { k: 1 })).documents)).toBe(learned);
    expect(learned).not.toBe(first(documents));
  });

  it("keeps its own order while learning is off", async () => {
    const own = await notes();
    const expected = (await own.search({ text: "deploy fails", limit: 4 })).map(({ id }) => id);
    const documents = await learning({ enabled: false }).retriever(own).invoke("deploy fails");
    expect(documents.map(({ id }) => id)).toEqual(expected);
  });
});

const CLAIM = "In the auth table, user is an email - joins with accounts need account.email";
const TASK = "count the logins of last week";

/** A model that answers each reflection with the next of these. */
const reviewer = (...answers: object[]): FakeListChatModel =>
  new FakeListChatModel({
    responses: answers.map((answer) =>
      JSON.stringify({ newClaims: [], helpfulMemories: [], harmfulMemories: [], ...answer }),
    ),
  });

describe("a reflection that saves its claims in a collection", () => {
  it("R6: keeps the claims of each agent to that agent", async () => {
    const claims = collection({ name: "claims" });
    const memory = learning();
    const reflector = new Reflector({ memory, model: reviewer({ newClaims: [CLAIM] }), saveTo: claims });
    for (const namespace of ["bigquery", "search"]) await reflector.invoke({ input: TASK, namespace });
    const textsOf = async (agent: LocalMemories): Promise<string[]> =>
      (await memory.recall(agent, TASK)).documents.map(({ pageContent }) => pageContent);
    expect(await textsOf(claims.of("bigquery"))).toEqual([CLAIM]);
    expect(await textsOf(claims.of("search"))).toEqual([CLAIM]);
    expect([await textsOf(claims.of("mail")), await textsOf(claims)]).toEqual([[], []]);
    const [own, other] = await Promise.all(["bigquery", "search"].map((agent) => claims.of(agent).list()));
    expect(own?.memories[0]?.id).not.toBe(other?.memories[0]?.id);
  });

  it("R6: takes the namespace of the collection where it names one", async () => {
    const claims = collection({ name: "claims" });
    const reflector = new Reflector({
      memory: learning(),
      model: reviewer({ newClaims: [CLAIM] }),
      saveTo: claims.of("shared"),
    });
    await reflector.invoke({ input: TASK, namespace: "bigquery" });
    expect([await claims.of("shared").size(), await claims.of("bigquery").size()]).toEqual([1, 0]);
  });

  it("R7: makes each claim a memory of its own, which is found by its task unless that is not wanted", async () => {
    const other = "The orders table of billing has one row per attempt - count the distinct order ids";
    const saved = async (indexBy: "both" | "claim"): Promise<LocalMemories> => {
      const claims = collection({ name: "claims" });
      const model = reviewer({ newClaims: [CLAIM, other] });
      await new Reflector({ memory: learning(), model, saveTo: claims, indexBy }).invoke({ input: TASK });
      return claims;
    };
    const claims = await saved("both");
    const { memories } = await claims.list();
    expect(memories.map(({ text, query }) => [text, query])).toEqual([
      [CLAIM, TASK],
      [other, TASK],
    ]);
    expect(memories[0]).toMatchObject({ metadata: { source: "reflection", qavr_namespace: "default" } });
    expect(await claims.search({ text: "last week" })).toHaveLength(2);
    const { documents } = await learning().recall(claims, "last week");
    expect(documents[0]?.metadata.query).toBe(TASK);
    expect(await (await saved("claim")).search({ text: "last week" })).toEqual([]);
  });

  it("R1: goes the whole way: learned from a failure, recalled, voted down, archived, restored", async () => {
    const claims = collection({ name: "claims" });
    const agent = "bigquery";
    const memory = learning({ namespace: agent, evaluate: () => false });
    const harmful = Array(8).fill({ harmfulMemories: ["m1"] });
    const model = reviewer({ newClaims: [CLAIM] }, ...harmful);
    new Reflector({ memory, model, saveTo: claims, reflectOn: "failure" });
    const retriever = memory.retriever(claims.of(agent), { k: 1 });
    const chain = memory.track(
      RunnableLambda.from(async (task: string, config) => {
        await retriever.invoke(task, config);
        return "no idea";
      }),
    );
    for (let run = 0; run < 9; run++) {
      await chain.invoke(TASK);
      await memory.flush();
    }
    const own = claims.of(agent);
    const page = await agentClaims(memory.engine, own);
    expect(page.claims).toMatchObject([{ agentId: agent, query: TASK, claim: CLAIM, score: -8 }]);
    const { archived } = await prune(memory.engine, own);
    expect(archived).toMatchObject([{ score: -8, harmful: 8 }]);
    expect(await own.search({ text: TASK })).toEqual([]);
    await own.restore(archived.map(({ id }) => id));
    expect(await own.search({ text: TASK })).toHaveLength(1);
  });
});
