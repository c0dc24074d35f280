import {
  Annotation,
  type BaseStore,
  InMemoryStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { QavrError } from "@qavr/core";
import { createAgent, type ToolRuntime, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { QavrStore } from "../../src/langgraph/index.js";
import { calling, messageOf } from "../support/agent.js";
import { type Bench, bench, credit, nothingOpen, QUESTION, RUN_ID } from "../support/bench.js";
import { failing } from "../support/graph.js";
import { itemId, itemStore, keys, PREFIX } from "../support/item-store.js";

const State = Annotation.Root({ question: Annotation<string>, answer: Annotation<string> });
type Config = LangGraphRunnableConfig;

/** A graph whose one node searches the store that the graph hands it. */
function searching(respond: (store: BaseStore, config: Config) => Promise<string>, store: BaseStore) {
  return new StateGraph(State)
    .addNode("search", async (_state, config: Config) => ({ answer: await respond(config.store as BaseStore, config) }))
    .addEdge(START, "search")
    .compile({ store });
}

const both = { [itemId("restart")]: 1, [itemId("scale")]: 1 } as const;

describe("memory.search", () => {
  it.each([
    ["given the node's config", true],
    ["without it, since LangGraph keeps it", false],
  ])("attributes what it found to the run, %s", async (_how, passed) => {
    const setup = await bench();
    const { memory } = setup;
    const store = new QavrStore({ memory, store: await itemStore() });
    const graph = searching(async (given, config) => {
      const found = await memory.search(given, PREFIX, QUESTION, passed ? config : undefined, { limit: 2 });
      return memory.format(found);
    }, store);
    const { answer } = await memory.track(graph).invoke({ question: QUESTION }, { runId: RUN_ID });
    expect(answer).toMatch(/^\[m1\] \{"text":"restart the payment.*\n\[m2\] \{"text":"scale/);
    expect(await credit(memory)).toEqual(both);
    expect((await memory.explain(RUN_ID))?.exposures[0]).toMatchObject({ collection: "store", vectorSource: "hashed" });
    expect(setup.codes()).toEqual([]);
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("ranks and records once, though the graph batches and the store is wrapped", async () => {
    const { memory } = await bench();
    const store = new QavrStore({ memory, store: await itemStore() });
    const graph = searching(async (given, config) => {
      const found = await memory.search(given, PREFIX, QUESTION, config, { limit: 2 });
      const none = await memory.search(given, PREFIX, QUESTION, config, { limit: 2, filter: { kind: "no such kind" } });
      return [...found, ...none].map(({ handle }) => handle).join();
    }, store);
    expect(await memory.track(graph).invoke({ question: QUESTION }, { runId: RUN_ID })).toMatchObject({
      answer: "m1,m2",
    });
    expect((await memory.explain(RUN_ID))?.exposures).toHaveLength(1);
    expect((await memory.explain(RUN_ID))?.exposures[0]?.items.map(({ handle }) => handle)).toEqual(["m1", "m2"]);
  });

  it("works in a tool, with its runtime, and lets the agent vote by handle", async () => {
    const { memory } = await bench();
    const look = tool(
      async ({ query }: { query: string }, runtime: ToolRuntime) =>
        memory.format(
          await memory.search(runtime.store, PREFIX, query, runtime, {
            limit: 2,
            textOf: ({ value }) => String(value.text),
          }),
        ),
      { name: "look", description: "looks", schema: z.object({ query: z.string() }) },
    );
    const vote = { name: "report_outcome", args: { success: true, helpful: ["m2"], harmful: ["m1"] }, id: "c2" };
    const agent = createAgent({
      model: calling([{ name: "look", args: { query: QUESTION }, id: "c1" }], [vote]),
      tools: [look, memory.reportOutcomeTool()],
      store: new QavrStore({ memory, store: await itemStore() }),
    });
    const result = await memory.track(agent).invoke({ messages: [{ role: "user", content: "help" }] });
    expect(messageOf(result, "look").text).toBe(
      "[m1] restart the payment service when the payment queue is stuck\n" +
        "[m2] scale the payment workers when the payment queue grows",
    );
    expect(await credit(memory)).toEqual({ [itemId("restart")]: -1, [itemId("scale")]: 1 });
  });

  it("changes what the store itself returns inside graphs, where only its batch is called", async () => {
    const { memory } = await bench();
    const inner = await itemStore();
    const store = new QavrStore({ memory, store: inner });
    const ask = async (given: BaseStore, config: Config) => {
      const [first] = await memory.search(given, PREFIX, QUESTION, config, { limit: 1 });
      return first?.key === "restart" ? failing() : "done";
    };
    const read = searching(
      async (given) => keys(await given.search(PREFIX, { query: QUESTION, limit: 2 })).join(),
      store,
    );
    expect((await read.invoke({ question: "" })).answer).toBe("restart,scale");
    for (let run = 0; run < 4; run++) {
      await memory
        .track(searching(ask, inner))
        .invoke({ question: "" })
        .catch(() => undefined);
    }
    expect((await read.invoke({ question: "" })).answer).not.toMatch(/^restart/);
  });

  it("keeps the items of stores whose keys are alike apart", async () => {
    const { memory } = await bench();
    const store = new InMemoryStore();
    await store.put(["u1"], "a", { text: "payment" });
    await store.put(["u10"], "a", { text: "payment" });
    const [first] = await memory.search(store, ["u10"], "payment");
    await memory.report(first?.episode as string, { success: false });
    expect(await credit(memory)).toEqual({ '["u10","a"]': -1 });
  });

  it("takes only the texts that it is told to for memories' texts", async () => {
    const { memory } = await bench();
    const store = new InMemoryStore();
    await store.put(PREFIX, "one", { note: "only a text" });
    await store.put(PREFIX, "two", { note: "a text", kind: 2 });
    const texts = (await memory.search(store, PREFIX, "text")).map(({ text }) => text);
    expect(texts).toEqual(["only a text", '{"note":"a text","kind":2}']);
  });

  it.each([
    ["throws", () => failing()],
    ["returns no text", () => 7 as never],
  ])("takes the plain text of an item where textOf %s, also in searches through the store", async (_what, textOf) => {
    const { memory, codes } = await bench();
    const inner = new InMemoryStore();
    const store = new QavrStore({ memory, store: inner, textOf });
    await store.put(PREFIX, "one", { note: "only a text" });
    await store.put(PREFIX, "two", { count: 2n });
    const found = await memory.search(store, PREFIX, "text");
    expect(found.map(({ text }) => text)).toEqual(["only a text", "[object Object]"]);
    await memory.report(found[0]?.episode as string, { success: true });
    expect(keys(await store.search(PREFIX, { query: "text" }))).toEqual(["one", "two"]);
    expect(codes().filter((code) => code === "RANKING_FAILED")).toHaveLength(4);
  });

  it("says once that nobody will see how it ends, outside any tracked run", async () => {
    const setup: Bench = await bench();
    await setup.memory.search(await itemStore(), PREFIX, QUESTION);
    await setup.memory.search(await itemStore(), PREFIX, QUESTION);
    expect(setup.codes()).toEqual(["NO_OUTCOME_TRACKING"]);
  });

  it("returns the store's own items, unrecorded, where learning is off", async () => {
    const { memory } = await bench({ enabled: false });
    const store = await itemStore();
    const found = await memory.search(new QavrStore({ memory, store }), PREFIX, QUESTION, undefined, { limit: 2 });
    expect(found).toMatchObject([
      { key: "restart", handle: undefined, episode: undefined },
      { key: "scale", handle: undefined },
    ]);
    expect(memory.format(found)).toMatch(/^- \{"text":"restart/);
  });

  it("leaves the store's errors to the caller", async () => {
    const { memory } = await bench();
    const store = { search: () => Promise.reject(new Error("store is down")) };
    await expect(memory.search(store, PREFIX, QUESTION)).rejects.toThrow("store is down");
  });

  it.each([
    ["store", [null, PREFIX, QUESTION]],
    ["store", [{}, PREFIX, QUESTION]],
    ["namespace", [{ search: () => [] }, "ops", QUESTION]],
    ["namespace", [{ search: () => [] }, ["ops", 1], QUESTION]],
    ["query", [{ search: () => [] }, PREFIX, undefined]],
    ["limit", [{ search: () => [] }, PREFIX, QUESTION, undefined, { limit: 0 }]],
    ["textOf", [{ search: () => [] }, PREFIX, QUESTION, undefined, { textOf: 1 }]],
  ])("refuses a wrong %s: %j", async (what, args) => {
    const { memory } = await bench();
    const search = memory.search as (...given: unknown[]) => Promise<unknown>;
    const error = await search(...args).catch((reason: unknown) => reason);
    expect(QavrError.isInstance(error, "INVALID_ARGUMENT")).toBe(true);
    expect(String(error)).toContain(what);
  });
});
