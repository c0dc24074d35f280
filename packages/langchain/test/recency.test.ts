import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Document, type DocumentInterface } from "@langchain/core/documents";
import { InMemoryStore } from "@langchain/langgraph";
import { memoryStore } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";
import type { DocumentRecency } from "../src/ranking/ranking-options.js";
import { TrigramEmbeddings } from "./support/corpus.js";

const DAY = 86_400_000;
const NOW = Date.parse("2026-06-01T00:00:00Z");
const RECENCY = { halfLife: 30 * DAY };
const TEXT = "the payment queue is restarted by hand";

const aged = (id: string, created_at: unknown): Document =>
  new Document({ id, pageContent: `${TEXT} (${id})`, metadata: { created_at, written: created_at } });

async function vectorsOf(documents: readonly Document[]): Promise<MemoryVectorStore> {
  const vectors = new MemoryVectorStore(new TrigramEmbeddings());
  await vectors.addDocuments([...documents]);
  return vectors;
}

const found = (documents: readonly DocumentInterface[]): unknown[] => documents.map(({ id }) => id);

afterEach(() => {
  vi.useRealTimers();
});

describe("a preference for newer documents", () => {
  const year = [aged("a", new Date(NOW - 365 * DAY)), aged("b", new Date(NOW - DAY))];

  async function first(documents: readonly Document[], recency: DocumentRecency | undefined): Promise<unknown> {
    vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
    const memory = qavr({ store: memoryStore(), logger: {} });
    const retriever = memory.retriever(await vectorsOf(documents), { k: 1, recency });
    return found(await retriever.invoke(`${TEXT} (a)`))[0];
  }

  it("is off by default", async () => {
    expect(await first(year, undefined)).toBe("a");
  });

  it.each<[string, unknown, unknown]>([
    ["dates", new Date(NOW - 365 * DAY), new Date(NOW)],
    ["texts", new Date(NOW - 365 * DAY).toISOString(), new Date(NOW).toISOString()],
    ["Unix milliseconds", NOW - 365 * DAY, NOW],
    ["a date beside none", undefined, new Date(NOW)],
  ])("lets the newer of two similar ones win, by %s", async (_how, old, now) => {
    expect(await first([aged("a", old), aged("b", now)], RECENCY)).toBe("b");
  });

  it("reads the key that it is given, and weighs as it is told", async () => {
    expect(await first(year, { ...RECENCY, key: "written" })).toBe("b");
    expect(await first(year, { ...RECENCY, key: "missing" })).toBe("a");
    expect(await first(year, { ...RECENCY, weight: 0.001 })).toBe("a");
  });

  it("gives way to what was learned", async () => {
    vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
    const memory = qavr({ store: memoryStore(), logger: {} });
    const vectors = await vectorsOf(year);
    for (let run = 0; run < 6; run++) {
      const { documents, episode } = await memory.recall(vectors, TEXT, {
        k: 1,
        recency: { ...RECENCY, weight: 0.02 },
      });
      await episode.report({ success: documents[0]?.id === "a" });
    }
    const { documents } = await memory.recall(vectors, TEXT, { k: 1, recency: { ...RECENCY, weight: 0.02 } });
    expect(found(documents)).toEqual(["a"]);
  });

  it("orders what a compressor and a LangGraph store are given, and leaves a selection of the store's alone", async () => {
    vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
    const memory = qavr({ store: memoryStore(), logger: {} });
    expect(
      found(await memory.compressor({ topN: 1, recency: { ...RECENCY, weight: 2 } }).compressDocuments(year, TEXT)),
    ).toEqual(["b"]);
    const store = memory.vectorStore(await vectorsOf(year), { recency: { ...RECENCY, weight: 2 } });
    expect(found(await store.similaritySearch(`${TEXT} (a)`, 1))).toEqual(["b"]);
    expect(found(await memory.retriever(store, { k: 1 }).invoke(`${TEXT} (a)`))).toEqual(["b"]);
    expect(found(await store.maxMarginalRelevanceSearch!(`${TEXT} (a)`, { k: 2 }, undefined))).toEqual(["a", "b"]);

    const items = new InMemoryStore({ index: { embeddings: new TrigramEmbeddings(), dims: 64 } });
    vi.setSystemTime(NOW - 365 * DAY);
    await items.put(["notes"], "a", { text: `${TEXT} (a)` });
    vi.setSystemTime(NOW);
    await items.put(["notes"], "b", { text: `${TEXT} (b)` });
    const asked = [items, ["notes"], `${TEXT} (a)`, undefined] as const;
    expect((await memory.search(...asked, { limit: 1 })).map(({ key }) => key)).toEqual(["a"]);
    expect((await memory.search(...asked, { limit: 1, recency: RECENCY })).map(({ key }) => key)).toEqual(["b"]);
  });

  it.each([
    [{ halfLife: 0 }, "recency: halfLife must be"],
    [{}, "recency: halfLife must be a finite number above 0"],
    [{ halfLive: 1 }, "Did you mean halfLife?"],
    [{ ...RECENCY, key: "" }, "recency: key must be a string that is not empty"],
  ])("is refused as %j", async (recency, message) => {
    const memory = qavr({ store: memoryStore() });
    const vectors = await vectorsOf(year);
    expect(() => memory.retriever(vectors, { recency: recency as never })).toThrow(message);
  });
});
