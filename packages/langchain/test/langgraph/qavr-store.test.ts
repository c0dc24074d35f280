import {
  AsyncBatchedStore,
  BaseStore,
  InMemoryStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchOperation,
} from "@langchain/langgraph";
import { QavrError } from "@qavr/core";
import { describe, expect, it, vi } from "vitest";
import { QavrStore, type StoreOptions } from "../../src/langgraph/index.js";
import { type Bench, bench, QUESTION } from "../support/bench.js";
import { itemStore, keys, PREFIX } from "../support/item-store.js";

/** Reports, a few times over, which item helped and which misled. */
async function teach({ memory }: Bench, store: BaseStore, helpful: string, harmful: string): Promise<void> {
  for (let run = 0; run < 6; run++) {
    const found = await memory.search(store, PREFIX, QUESTION, undefined, { limit: 6 });
    const handle = (key: string) => found.find((item) => item.key === key)?.handle as string;
    await memory.report(found[0]?.episode as string, { helpful: [handle(helpful)], harmful: [handle(harmful)] });
  }
}

/** A wrapped store that has learned that `helpful` helps and `restart` misleads. */
async function taught(options: StoreOptions = {}, helpful = "clear") {
  const setup = await bench();
  const inner = await itemStore();
  await teach(setup, inner, helpful, "restart");
  const asked: Operation[][] = [];
  const batch = inner.batch.bind(inner);
  vi.spyOn(inner, "batch").mockImplementation((operations) => {
    asked.push([...operations]);
    return batch(operations);
  });
  return { ...setup, inner, asked, store: new QavrStore({ memory: setup.memory, store: inner, ...options }) };
}

describe("a wrapped LangGraph store", () => {
  it("returns what helped first, as the store's own items with the store's own scores", async () => {
    const { inner, store } = await taught();
    const plain = await inner.search(PREFIX, { query: QUESTION, limit: 6 });
    expect(keys(plain).slice(0, 3)).toEqual(["restart", "scale", "clear"]);
    const ranked = await store.search(PREFIX, { query: QUESTION, limit: 3 });
    expect(keys(ranked)[0]).toBe("clear");
    expect(keys(ranked)).not.toContain("restart");
    for (const item of ranked) expect(plain).toContainEqual(item);
  });

  it("finds what helped beyond the page that was asked for", async () => {
    const { store, asked } = await taught();
    expect(keys(await store.search(PREFIX, { query: QUESTION, limit: 1 }))).toEqual(["clear"]);
    expect(asked.at(-1)?.[0]).toMatchObject({ limit: 50, offset: 0 });
  });

  it("keeps filters, and pages that show every item exactly once", async () => {
    // The store's own last item is the best one: a wider question for a later page would bring it to the front of all.
    const { store } = await taught({ fetchK: 4 }, "suspending");
    const pages = [];
    for (let offset = 0; offset < 8; offset += 2) {
      pages.push(keys(await store.search(PREFIX, { query: QUESTION, limit: 2, offset })));
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 0]);
    expect(pages[2]?.[0]).toBe("suspending");
    expect(new Set(pages.flat()).size).toBe(6);
    const short = await store.search(PREFIX, { query: QUESTION, limit: 6, filter: { kind: "short" } });
    expect(new Set(keys(short))).toEqual(new Set(["clear", "scale", "coffee"]));
  });

  it("asks for a batch of searches, reads and writes at once, in the given order", async () => {
    const { store, asked } = await taught();
    const results = (await store.batch([
      { namespace: PREFIX, key: "coffee" },
      { namespacePrefix: PREFIX, query: QUESTION, limit: 1 },
      { namespacePrefix: PREFIX, limit: 2 },
      { namespace: ["other"], key: "new", value: { text: "x" } },
    ] as Operation[])) as unknown as [{ key: string }, { key: string }[], { key: string }[]];
    expect(results[0].key).toBe("coffee");
    expect(keys(results[1])).toEqual(["clear"]);
    expect(keys(results[2])).toEqual(["restart", "clear"]);
    expect(asked).toHaveLength(1);
    expect(await store.get(["other"], "new")).toMatchObject({ value: { text: "x" } });
  });

  it("records nothing by itself, and says once that nothing is learned that way", async () => {
    const { memory, store, codes } = await taught();
    const before = await memory.status();
    await store.search(PREFIX, { query: QUESTION });
    await store.search(PREFIX, { query: QUESTION });
    await memory.flush();
    expect(await memory.status()).toEqual(before);
    expect(codes().filter((code) => code === "SEARCH_NOT_ATTRIBUTED")).toHaveLength(1);
  });

  it("keeps what only the wrapped store can do", async () => {
    const { store, inner } = await taught();
    expect((store as unknown as InMemoryStore).indexConfig).toBe(inner.indexConfig);
    await store.put(["other"], "hidden", { text: QUESTION }, false);
    const [found] = await inner.search(["other"], { query: QUESTION });
    expect(found).toMatchObject({ key: "hidden", score: undefined });
    expect(await store.listNamespaces({ prefix: ["ops"] })).toEqual([PREFIX]);
    await store.delete(["other"], "hidden");
    expect(await store.get(["other"], "hidden")).toBeNull();
  });

  it("takes the store that a graph hands its nodes for the one inside", async () => {
    const { memory } = await bench();
    const inner = await itemStore();
    const store = new QavrStore({ memory, store: new AsyncBatchedStore(inner) });
    expect(store.inner).toBe(inner);
    expect(keys(await store.search(PREFIX, { query: QUESTION, limit: 1 }))).toEqual(["restart"]);
  });

  it("is wrapped once, and keeps its tenant, where it is wrapped again", async () => {
    const { memory } = await bench();
    const inner = await itemStore();
    const once = new QavrStore({ memory, store: inner, namespace: "tenant:a" });
    const store = new QavrStore({ memory, store: once, namespace: undefined, collection: "notes" });
    expect([store.inner, store.options]).toEqual([inner, { namespace: "tenant:a", collection: "notes" }]);
    const [found] = await memory.search(store, PREFIX, QUESTION);
    await memory.report(found?.episode as string, { success: true }, { namespace: "tenant:a" });
    const { collections } = await memory.status({ namespace: "tenant:a" });
    expect(collections.map(({ collection }) => collection)).toEqual(["notes"]);
  });

  it("is not looked into when it is of a class derived from ours", async () => {
    const { memory } = await bench();
    class CheckedStore extends QavrStore {
      override async batch<Operations extends Operation[]>(
        operations: Operations,
      ): Promise<OperationResults<Operations>> {
        const results: unknown[] = await super.batch(operations);
        return results.map((items) => (items as Item[]).filter(({ key }) => key === "scale")) as never;
      }
    }
    const store = new CheckedStore({ memory, store: await itemStore() });
    const outer = new QavrStore({ memory, store });
    for (const found of [
      await outer.search(PREFIX, { query: QUESTION }),
      await memory.search(store, PREFIX, QUESTION),
    ]) {
      expect(keys(found)).toEqual(["scale"]);
    }
  });

  it("starts and stops the wrapped store", async () => {
    const { store, inner } = await taught();
    const [start, stop] = [vi.spyOn(inner, "start"), vi.spyOn(inner, "stop")];
    await store.start();
    await store.stop();
    expect([start.mock.calls.length, stop.mock.calls.length]).toEqual([1, 1]);
  });

  it("goes on with the store's own answer when learning fails", async () => {
    const setup = await bench({ namespace: () => "" });
    const inner = await itemStore();
    const store = new QavrStore({ memory: setup.memory, store: inner });
    const plain = await inner.search(PREFIX, { query: QUESTION, limit: 3 });
    expect(await store.search(PREFIX, { query: QUESTION, limit: 3 })).toEqual(plain);
    expect(setup.codes()).toContain("RANKING_FAILED");
  });

  it.each([
    ["learning is off", { enabled: false }],
    ["nothing was learned yet", {}],
  ])("makes the same calls and gives the same answers as the store itself while %s", async (_what, options) => {
    const { memory } = await bench(options);
    const [plain, inner] = [await itemStore(), await itemStore()];
    const spies = [vi.spyOn(plain, "batch"), vi.spyOn(inner, "batch")];
    const store = new QavrStore({ memory, store: inner });
    const use = async (one: BaseStore) => [
      await one.search(PREFIX, { query: QUESTION }),
      await one.search(PREFIX, { query: QUESTION, limit: 2, offset: 3 }),
      await one.search(PREFIX, { query: QUESTION, limit: 0 }),
      await one.search(PREFIX, { query: QUESTION, offset: -1 }),
      await one.search([], { filter: { kind: "short" } }),
      await one.get(PREFIX, "coffee"),
      await one.get(PREFIX, "nothing"),
      await one.listNamespaces(),
      await one.put(PREFIX, "coffee", { text: "tea" }),
      await one.delete(PREFIX, "scale"),
    ];
    const withoutDates = (answers: unknown) =>
      JSON.stringify(answers, (key, value) => (key.endsWith("edAt") ? "" : value));
    const [expected, answered] = [await use(plain), await use(store)];
    expect(withoutDates(answered)).toBe(withoutDates(expected));
    expect(spies[1]?.mock.calls).toEqual(spies[0]?.mock.calls);
  });

  it("works by rank over a store that does not score, and over one whose scores have holes", async () => {
    const { memory } = await bench();
    const unscored = new InMemoryStore();
    const holes = await itemStore();
    for (const key of ["a", "b"]) {
      await unscored.put(PREFIX, key, { text: key });
      await holes.put(PREFIX, key, { text: key }, false);
    }
    for (const store of [unscored, holes]) {
      const found = await memory.search(store, PREFIX, "a", undefined, { limit: 10 });
      expect(keys(found)).toContain("b");
      expect(found.every(({ handle }) => handle !== undefined)).toBe(true);
    }
  });

  it.each([
    ["a memory", { memory: {} }],
    ["a store", { store: {} }],
    ["a store", { store: undefined }],
    ["a fetchK that is a number of items", { fetchK: 0 }],
    ["a textOf that is a function", { textOf: "text" }],
    ["scores that exist", { scores: "best" }],
  ])("needs %s", async (_what, fields) => {
    const { memory } = await bench();
    const make = () => new QavrStore({ memory, store: new InMemoryStore(), ...(fields as object) });
    expect(make).toThrow(QavrError);
  });

  it("passes whatever an unknown operation is to the wrapped store", async () => {
    class Odd extends BaseStore {
      override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
        return operations.map((operation) => Object.keys(operation)) as unknown as OperationResults<Op>;
      }
    }
    const { memory } = await bench();
    const odd = { vacuum: true } as unknown as SearchOperation;
    expect(await new QavrStore({ memory, store: new Odd() }).batch([odd])).toEqual([["vacuum"]]);
  });
});
