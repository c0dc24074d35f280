import { type Learner, memoryStore, type Store } from "@qavr/core";
import { compact, replay, revoke } from "@qavr/core/maintenance";
import { routedStore } from "@qavr/core/store";
import { beta } from "@qavr/learners";
import { sqliteStore } from "@qavr/sqlite";
import { expect, it } from "vitest";
import { createApi } from "../src/dashboard/api.js";
import { appEngine, newPath, runApp, START } from "./support/ledgers.js";

it("the dashboard shows the namespaces of the stores that answer, and all of them once the others are back", async () => {
  const south = memoryStore();
  let isAway = false;
  const store = routedStore({
    stores: {
      north: memoryStore(),
      south: {
        ...south,
        namespaces: async (page) => {
          if (isAway) throw new Error("connection refused");
          return south.namespaces(page);
        },
      },
    },
    by: (namespace) => (namespace === "far" ? "south" : "north"),
  });
  const engine = appEngine(store);
  for (const namespace of ["near", "far"]) await runApp(engine, { runs: 2, namespace });
  const api = createApi(store, "two stores");
  const status = (): Promise<unknown> => api.answer("status", new URLSearchParams("namespace=near"));
  isAway = true;
  expect(await status()).toMatchObject({ namespace: "near", otherNamespaces: [] });
  isAway = false;
  expect(await status()).toMatchObject({ namespace: "near", otherNamespaces: ["far"] });
});

/** Ways to open one more handle of a new ledger. In memory a compaction changes no state. */
const LEDGERS: readonly [string, () => () => Store][] = [
  [
    "file",
    () => {
      const path = newPath();
      return () => sqliteStore(path);
    },
  ],
  [
    "ledger in memory",
    () => {
      const store = memoryStore();
      return () => store;
    },
  ],
];

it.each(LEDGERS)(
  "the dashboard shows the present state of a %s after a revocation and a compaction elsewhere",
  async (_, create) => {
    const open = create();
    const [shown, inner] = [open(), open()];
    await runApp(appEngine(inner), { runs: 10 });
    const api = createApi(shown, "a ledger");
    const ask = (question: string): Promise<unknown> => api.answer(question, new URLSearchParams());
    const store: Store = {
      ...inner,
      async atHead(...given) {
        // A page asks between the entry and the change of the states.
        await Promise.all([ask("status"), ask("storage")]);
        return inner.atHead(...given);
      },
    };
    const engine = appEngine(store, { clock: () => START + 86_400_000 });
    await revoke(engine, { namespace: "default", source: "checker" });
    expect(await ask("status")).toMatchObject({ runs: { taught: 0 } });
    const before = await ask("version");
    await compact(engine, { namespace: "default", olderThan: 0 });
    expect(await ask("storage")).toMatchObject({ entries: 1 });
    expect(await ask("version")).not.toEqual(before);
    await engine.close();
    await shown.close();
  },
);

it("the dashboard looks once per question whether the ledger has changed, and reads nothing else for a question that it has answered", async () => {
  const inner = memoryStore();
  await runApp(appEngine(inner), { runs: 2 });
  const pages: unknown[] = [];
  const readEntries: Store["readEntries"] = async (namespace, page) => {
    pages.push(page);
    return inner.readEntries(namespace, page);
  };
  const api = createApi({ ...inner, readEntries }, "a ledger");
  const look = { after: 0, limit: 1 };
  for (const question of ["status", "memories"]) await api.answer(question, new URLSearchParams());
  expect(pages.filter((page) => JSON.stringify(page) === JSON.stringify(look))).toHaveLength(2);
  pages.length = 0;
  await api.answer("status", new URLSearchParams());
  expect(pages).toEqual([look]);
});

it("the dashboard reads the counts again after it could not read them", async () => {
  const inner = memoryStore();
  await runApp(appEngine(inner), { runs: 2 });
  let isAway = false;
  const readStates: Store["readStates"] = async (...given) => {
    if (isAway) throw new Error("connection refused");
    return inner.readStates(...given);
  };
  const api = createApi({ ...inner, readStates }, "a ledger");
  const status = (): Promise<unknown> => api.answer("status", new URLSearchParams());
  await api.answer("version", new URLSearchParams());
  isAway = true;
  await expect(status()).rejects.toMatchObject({ code: "STORE_FAILED" });
  isAway = false;
  expect(await status()).toMatchObject({ runs: { recorded: 2 } });
});

it("the dashboard knows the memories after the application has learned them again with another learner", async () => {
  const store = memoryStore();
  await runApp(appEngine(store), { runs: 5 });
  const api = createApi(store, "a ledger");
  const ask = (question: string): Promise<unknown> => api.answer(question, new URLSearchParams());
  expect(await ask("status")).toMatchObject({ learner: "oar@2" });
  const engine = appEngine(store, { learner: beta() as Learner, createId: () => crypto.randomUUID() });
  await replay(engine, { write: true });
  await runApp(engine, { runs: 1 });
  expect(await ask("memories")).toMatchObject({ of: expect.any(Number) });
  expect(await ask("status")).toMatchObject({ learner: "beta@1", memories: expect.anything() });
});
