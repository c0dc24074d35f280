import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { memoryStore } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Qavr, qavr, type RankingOptions } from "../src/index.js";
import { toSimilarities } from "../src/ranking/similarities.js";
import { LOCAL_STORES, type LocalStore } from "./support/local-stores.js";

const QUESTION = "payment queue stuck";
/** The corpus by cosine similarity to the question. */
const NEAREST = ["restart", "scale", "clear", "public", "the", "suspending"];

afterEach(() => {
  vi.restoreAllMocks();
});

const words = (documents: readonly { pageContent: string }[]): string[] =>
  documents.map(({ pageContent }) => pageContent.split(" ")[0] as string);

const start = (options: object = {}): Qavr => qavr({ store: memoryStore(), logger: {}, onError: "throw", ...options });

/** Runs that are shown one memory, which misleads unless it starts with `good`. */
async function teach(
  memory: Qavr,
  vectors: VectorStoreInterface,
  good: string,
  options: RankingOptions = {},
): Promise<void> {
  const retriever = memory.retriever(vectors, { ...options, k: 1 });
  const chain = memory.track(
    RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      const [first] = await retriever.invoke(question, config);
      if (!first?.pageContent.startsWith(good)) throw new Error("that did not work");
    }),
  );
  for (let run = 0; run < 12; run++) await chain.invoke(QUESTION).catch(() => undefined);
}

describe.each(LOCAL_STORES.map((store): [string, LocalStore] => [store.name, store]))("%s", (_name, local) => {
  it("gives scores of the direction that the table says", async () => {
    const store = await local.create();
    const pairs = await store.similaritySearchWithScore(QUESTION, 6);
    const scores = pairs.map(([, score]) => score);
    expect(words(pairs.map(([document]) => document))).toEqual(NEAREST);
    if (local.scores === "none") {
      expect(scores).toEqual(new Array(6).fill(undefined));
      return;
    }
    const nearestFirst =
      local.scores === "similarity" ? (a: number, b: number) => b - a : (a: number, b: number) => a - b;
    expect(scores).toEqual([...scores].sort(nearestFirst));
    expect(new Set(scores).size).toBe(6);
    // One score alone, where the list cannot tell.
    const [first] = pairs[0]!;
    const similarity = toSimilarities([0.25], "auto", [first], store)[0];
    expect(similarity).toBe(local.scores === "similarity" ? 0.25 : 0.75);
  });

  it("keeps its order, and what worked comes first, without a word on the console", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const memory = start();
    const vectors = await local.create();
    await teach(memory, vectors, "scale");
    expect(words(await memory.retriever(vectors, { k: 1 }).invoke(QUESTION))).toEqual(["scale"]);
    const untaught = memory.retriever(vectors, { k: 3, namespace: "elsewhere" });
    expect(words(await untaught.invoke(QUESTION))).toEqual(NEAREST.slice(0, 3));
    const other = await memory.retriever(vectors, { k: 1 }).invoke("descaling the coffee machine every month");
    expect(words(other)).toEqual(["the"]);
    expect(warn).not.toHaveBeenCalled();
  });

  it("has its direction overridden where somebody knows better", async () => {
    const memory = start();
    const vectors = await local.create();
    const seen: number[] = [];
    const scores: RankingOptions["scores"] = (score, place) => {
      seen.push(score);
      return -place;
    };
    await teach(memory, vectors, "scale", { scores });
    const found = await memory.retriever(vectors, { k: 1, scores }).invoke(QUESTION);
    expect(words(found)).toEqual(["scale"]);
    expect(seen.length > 0).toBe(local.scores !== "none");
    expect((await memory.explain(found[0]!))?.similarity).toBe(local.scores === "none" ? 1 - 1 / 6 : -1);
  });

  it(`is known by ${local.ids === "text" ? "a hash of its texts" : local.ids === "own" ? "the store's own ids" : "the ids it was given"}`, async () => {
    const memory = start();
    const vectors = await local.create();
    const { documents, episode } = await memory.recall(vectors, QUESTION, { k: 1 });
    await episode.report({ success: true });
    const [id] = (await memory.status()).collections.flatMap(({ best }) => best.map((known) => known.id));
    if (local.ids === "text") expect(id).toMatch(/^text:[0-9a-v]{16}$/);
    else expect(id).toBe(documents[0]?.id);
    if (local.ids === "added") expect(id).toBe("restart");
  });
});

describe("a store that promises no order", () => {
  it("is not cut before it is put in order", async () => {
    const libsql = LOCAL_STORES.find(({ name }) => name === "LibSQL")!;
    const vectors = await libsql.create();
    const search = vectors.similaritySearchVectorWithScore.bind(vectors);
    // The nearest, in the order of their rows.
    vi.spyOn(vectors, "similaritySearchVectorWithScore").mockImplementation(async (...asked) =>
      (await search(...asked)).sort(([a], [b]) => Number(b.id) - Number(a.id)),
    );
    const memory = start();
    await teach(memory, vectors, "scale");
    const untaught = "suspending permits at the front desk";
    // Nothing is known of any candidate, so that the store's own order stands.
    const fresh = { collection: "fresh" };
    expect(words(await memory.retriever(vectors, { ...fresh, k: 1 }).invoke(untaught))).toEqual(["suspending"]);
    const [[document, score]] = (await memory.vectorStore(vectors, fresh).similaritySearchWithScore(untaught, 1)) as [
      [never, number],
    ];
    expect(words([document])).toEqual(["suspending"]);
    expect(score).toBeLessThan(0.5);
  });

  it("is not cut at random either where ranking fails", async () => {
    const libsql = LOCAL_STORES.find(({ name }) => name === "LibSQL")!;
    const vectors = await libsql.create();
    const search = vectors.similaritySearchVectorWithScore.bind(vectors);
    const memory = start({ onError: "open" });
    await teach(memory, vectors, "scale");
    vi.spyOn(vectors, "similaritySearchVectorWithScore").mockImplementation(async (...asked) =>
      (await search(...asked)).sort(([a], [b]) => Number(b.id) - Number(a.id)),
    );
    vi.spyOn(memory.engine, "rank").mockRejectedValue(new Error("broken"));
    expect(words(await memory.retriever(vectors, { k: 1 }).invoke("suspending permits at the front desk"))).toEqual([
      "suspending",
    ]);
  });
});
