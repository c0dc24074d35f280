import { Document } from "@langchain/core/documents";
import { RunnableLambda } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { type Qavr, qavr } from "@qavr/langchain";
import { describe, expect, it, onTestFinished } from "vitest";
import type { LocalMemories } from "../src/index.js";
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
  const memory = qavr({ store: memoryStore(), ...options });
  onTestFinished(() => memory.close());
  return memory;
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

  it("finds only what is in its namespace", async () => {
    const own = await notes();
    const { documents } = await learning().recall(own.of("bigquery"), "deploy fails");
    expect(documents).toEqual([]);
  });

  it("keeps its own order while learning is off", async () => {
    const own = await notes();
    const expected = (await own.search({ text: "deploy fails", limit: 4 })).map(({ id }) => id);
    const documents = await learning({ enabled: false }).retriever(own).invoke("deploy fails");
    expect(documents.map(({ id }) => id)).toEqual(expected);
  });
});
