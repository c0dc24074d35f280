import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Document } from "@langchain/core/documents";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { memoryStore } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { type Qavr, qavr } from "../src/index.js";
import { memoryVectorStore } from "./support/corpus.js";
import { LOCAL_STORES, type LocalStore } from "./support/local-stores.js";
import { PASSING } from "./support/passing.js";
import { type Call, recordCalls } from "./support/recorded-store.js";
import { tempFolder } from "./support/temp-folder.js";

const QUESTION = "payment queue stuck";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const memories: [string, () => Qavr | Promise<Qavr>][] = [
  ...PASSING,
  [
    "only another namespace has evidence",
    async () => {
      const memory = qavr({ store: memoryStore(), logger: {} });
      const { episode } = await memory.recall(await memoryVectorStore(), QUESTION, { namespace: "elsewhere" });
      await episode.report({ success: true, harmful: ["m1"] });
      return memory;
    },
  ],
];

/** Far enough from each other that no two are equally near to anything. */
const ADDED = { a: "refund it", b: "charge back", c: "void a payment", d: "invoice", e: "due date" };

/** The form of a filter for each store; undefined for stores without one. */
function filterOf({ name }: LocalStore): object | undefined {
  if (/^(HNSWLib|MemoryVectorStore|FakeVectorStore)$/.test(name)) {
    return (document: Document) => document.metadata.kind === "short";
  }
  return name === "LibSQL" || name.startsWith("PGVector") ? { kind: "short" } : undefined;
}

/** One use of a store, by the store itself or through something that wraps it. */
type Step = (asked: {
  readonly store: VectorStoreInterface;
  readonly retriever: (options: object) => { invoke(query: string): Promise<unknown> };
  readonly vector: number[];
  readonly folder: string;
}) => unknown;

/** Every method, in the shapes that stores take. */
function steps(local: LocalStore): [string, Step][] {
  const filter = filterOf(local);
  const added = (id: keyof typeof ADDED): Document =>
    new Document({ id, pageContent: ADDED[id], metadata: { kind: "short" } });
  return [
    ["a retriever", ({ retriever }) => retriever({}).invoke(QUESTION)],
    ["a retriever of k", ({ retriever }) => retriever({ k: 3 }).invoke(QUESTION)],
    ["a retriever with a filter", ({ retriever }) => retriever({ k: 2, filter }).invoke(QUESTION)],
    ["the store's retriever", ({ store }) => store.asRetriever(2).invoke(QUESTION)],
    [
      "the store's retriever with a filter",
      ({ store }) => store.asRetriever({ k: 2, filter } as never).invoke(QUESTION),
    ],
    [
      "the store's retriever for diversity",
      ({ store }) => store.asRetriever({ k: 2, searchType: "mmr" }).invoke(QUESTION),
    ],
    ["similaritySearch", ({ store }) => store.similaritySearch(QUESTION)],
    ["similaritySearch of k", ({ store }) => store.similaritySearch(QUESTION, 3, filter)],
    ["similaritySearchWithScore", ({ store }) => store.similaritySearchWithScore(QUESTION)],
    ["similaritySearchWithScore of k", ({ store }) => store.similaritySearchWithScore(QUESTION, 2, filter)],
    [
      "similaritySearchVectorWithScore",
      ({ store, vector }) => store.similaritySearchVectorWithScore(vector, 2, filter),
    ],
    [
      "maxMarginalRelevanceSearch",
      ({ store }) => store.maxMarginalRelevanceSearch?.(QUESTION, { k: 2, fetchK: 5 }, undefined),
    ],
    ["addDocuments", ({ store }) => store.addDocuments([added("a")])],
    ["addDocuments with ids", ({ store }) => store.addDocuments([added("b"), added("c")], { ids: ["b", "c"] })],
    ["addVectors", ({ store, vector }) => store.addVectors([vector], [added("d")], { ids: ["d"] })],
    ["addVectors of nothing", ({ store }) => store.addVectors([], [])],
    ["addVectors of too many", ({ store, vector }) => store.addVectors([vector, vector], [added("e")])],
    ["delete by ids", ({ store }) => store.delete({ ids: ["1", "b"] })],
    ["delete of a folder", ({ store, folder }) => store.delete({ directory: join(folder, "nothing") })],
    ["delete of nothing", ({ store }) => store.delete({})],
    ["delete without a word", ({ store }) => store.delete()],
    ["a search after all that", ({ store }) => store.similaritySearchWithScore("refund", 5)],
    ["save", ({ store, folder }) => (store as { save?(folder: string): unknown }).save?.(folder)],
    ["what kind of search for diversity there is", ({ store }) => typeof store.maxMarginalRelevanceSearch],
    ["whether it can be saved", ({ store }) => typeof (store as { save?: unknown }).save],
  ];
}

/** The result of a step, errors included; random ids and folders are masked. */
async function outcomeOf(step: Step, asked: Parameters<Step>[0]): Promise<unknown> {
  const outcome: unknown = await Promise.resolve()
    .then(() => step(asked))
    .catch(({ name, message }: Error) => {
      // The wrapper's one word of its own is the name of its type.
      const type = asked.store._vectorstoreType();
      return `${name}: ${message.replaceAll(asked.folder, "FOLDER").replace(`retriever, ${type} `, "retriever, TYPE ")}`;
    });
  return Array.isArray(outcome) && outcome.every((id) => typeof id === "string" && UUID.test(id))
    ? outcome.map(() => "a new id")
    : outcome;
}

const inFolder = (calls: readonly Call[], folder: string): unknown =>
  calls.map((call) =>
    call.map((argument) =>
      typeof argument === "string"
        ? argument.replaceAll(folder, "FOLDER")
        : typeof (argument as { directory?: unknown })?.directory === "string"
          ? "a folder"
          : argument,
    ),
  );

describe.each(LOCAL_STORES.map((store): [string, LocalStore] => [store.name, store]))("%s", (_name, local) => {
  it.each(memories)("gets its own calls and gives its own answers where %s", async (_when, start) => {
    const memory = await start();
    const [plain, inner] = [await local.create(), await local.create()];
    const wrapped = memory.vectorStore(inner) as VectorStoreInterface;
    const vector = await plain.embeddings.embedQuery(QUESTION);
    const [expected, actual] = [recordCalls(plain), recordCalls(inner)];
    const own = {
      store: plain,
      retriever: (options: object) => plain.asRetriever(options),
      vector,
      folder: tempFolder(),
    };
    const ours = {
      store: wrapped,
      retriever: (options: object) => memory.retriever(inner, options),
      vector,
      folder: tempFolder(),
    };
    for (const [what, step] of steps(local)) {
      const answer = await outcomeOf(step, own);
      expect(await outcomeOf(step, ours), what).toStrictEqual(answer);
      expect(inFolder(actual, ours.folder), what).toEqual(inFolder(expected, own.folder));
    }
    expect(expected.length).toBeGreaterThan(20);
    expect(await readdir(ours.folder)).toEqual(await readdir(own.folder));
  });
});
