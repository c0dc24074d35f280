import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  type Engine,
  type EpisodeView,
  type Learner,
  memoryStore,
  oar,
  type Ranking,
  type Store,
} from "../src/index.js";
import type { MemoryTable } from "../src/learners/index.js";
import { forget } from "../src/maintenance/index.js";
import { ChangeLog } from "../src/store-kit.js";
import { candidates, oneRun, request, testEngine } from "./support/test-engine.js";

/** A store whose reads of one scope can be held back: they answer late, with what was true when they were asked. */
function lateStore(inner: Store): { readonly store: Store; hold(scope: string): () => void; letNewOnesPass(): void } {
  let held: { readonly scope: string; readonly wait: Promise<void> } | undefined;
  const readStates: Store["readStates"] = async (...call) => {
    const hold = held;
    const states = await inner.readStates(...call);
    if (hold && call[1].startsWith(hold.scope)) await hold.wait;
    return states;
  };
  return {
    store: { ...inner, readStates },
    hold(scope) {
      const gate = Promise.withResolvers<void>();
      held = { scope, wait: gate.promise };
      return gate.resolve;
    },
    letNewOnesPass() {
      held = undefined;
    },
  };
}

/** A store whose reads are noted: the scope, and what of it. */
function listeningStore(inner: Store): { readonly store: Store; readonly reads: string[][] } {
  const reads: string[][] = [];
  const readStates: Store["readStates"] = (namespace, scope, ids) => {
    reads.push([scope, ...ids]);
    return inner.readStates(namespace, scope, ids);
  };
  return { reads, store: { ...inner, readStates } };
}

/** Changes of a run of the usual request. */
const WRITTEN_BY_A_RUN = [
  ["shared", "default"],
  ["memory:default", "d0", "d1", "d2"],
];

/** A store that learns of others' commits by asking for them only, as one over a network does. Notes whether an answer might lag. */
function distantStore(inner: Store): { readonly store: Store; readonly asked: boolean[]; cutOff: boolean } {
  const known = new ChangeLog();
  const distant = { asked: [] as boolean[], cutOff: false };
  let cursor = 0;
  const refresh: NonNullable<Store["refresh"]> = async (namespace, { mayLag = false } = {}) => {
    distant.asked.push(mayLag);
    if (distant.cutOff) throw new Error("connection refused");
    const changes = inner.changesSince?.(namespace, cursor);
    cursor = changes?.cursor ?? 0;
    if (changes?.written) known.add(namespace, changes.written);
    else known.forget(namespace);
  };
  return Object.assign(distant, {
    store: { ...inner, refresh, changesSince: (namespace: string, since: number) => known.since(namespace, since) },
  });
}

async function fail(engine: Engine, runs: number): Promise<void> {
  for (let run = 0; run < runs; run++) {
    // Two kinds of request, so that the mean request moves.
    const { episode } = await engine.rank(
      request({ keepOrder: true, vector: run % 2 === 0 ? [1, 0, 0, 0] : [0, 1, 0, 0] }),
    );
    await engine.end(episode, { reward: false, harmful: ["d0"] });
  }
}

const preview = (engine: Engine): Promise<Ranking> => engine.rank(request({ record: false, topK: 10 }));

describe("the states that an engine remembers", () => {
  it.each(["shared", "memory:", "stats"])(
    "are never those of a slow answer about %s that was overtaken",
    async (scope) => {
      const inner = memoryStore();
      const writer = testEngine({ store: inner, prefix: "writer" }).engine;
      // Shown, but nothing learned yet.
      await writer.end((await writer.rank(request())).episode);
      const late = lateStore(inner);
      const reader = testEngine({ store: late.store, prefix: "reader" }).engine;
      const ask = (): Promise<unknown> => (scope === "stats" ? reader.fetchSize({ topK: 3 }) : preview(reader));
      const release = late.hold(scope);
      const slow = ask();
      await turn();
      await fail(writer, 20);
      late.letNewOnesPass();
      await ask();
      release();
      await slow;
      const fresh = testEngine({ store: inner, prefix: "fresh" }).engine;
      expect(await preview(reader)).toEqual(await preview(fresh));
      expect((await preview(reader)).items.find(({ id }) => id === "d0")?.learned).toBeLessThan(0);
      expect(await reader.fetchSize({ topK: 3 })).toBe(50);
    },
  );

  it("follow a store that must ask what others have committed, which a ranking lets lag and a report does not", async () => {
    const inner = memoryStore();
    const writer = testEngine({ store: inner, prefix: "writer" }).engine;
    const distant = distantStore(inner);
    const reader = testEngine({ store: distant.store, prefix: "reader" }).engine;
    for (let round = 0; round < 3; round++) {
      await fail(writer, 5);
      const fresh = testEngine({ store: inner, prefix: "fresh" }).engine;
      expect(await preview(reader)).toEqual(await preview(fresh));
    }
    expect(new Set(distant.asked)).toEqual(new Set([true]));
    distant.asked.length = 0;
    expect((await reader.status()).taught).toBe(15);
    expect(new Set(distant.asked)).toEqual(new Set([false]));
    distant.cutOff = true;
    expect(await preview(reader)).toMatchObject({ order: "host", degraded: { code: "STORE_FAILED" } });
  });

  it("ask no more whether a namespace has learned once it has, until all of it may have changed", async () => {
    const inner = memoryStore();
    const writer = testEngine({ store: inner, prefix: "writer" }).engine;
    const distant = distantStore(inner);
    const reader = testEngine({ store: distant.store, prefix: "reader" }).engine;
    await fail(writer, 5);
    expect(await reader.fetchSize({ topK: 3 })).toBe(50);
    distant.asked.length = 0;
    await fail(writer, 1);
    expect(await reader.fetchSize({ topK: 3 })).toBe(50);
    expect(distant.asked).toEqual([]);
    await forget(writer, { namespace: "default" });
    await preview(reader);
    expect(await reader.fetchSize({ topK: 3 })).toBe(3);
  });

  it("learn of a memory that had taught nothing what others have taught it since", async () => {
    const store = memoryStore();
    const writer = testEngine({ store, prefix: "writer" }).engine;
    const reader = testEngine({ store, prefix: "reader" }).engine;
    await fail(writer, 1);
    const evidence = async (): Promise<number | undefined> =>
      (await preview(reader)).items.find(({ id }) => id === "d5")?.evidence;
    expect(await evidence()).toBe(0);
    await oneRun(writer, request({ candidates: [{ id: "d5", similarity: 0.5 }], topK: 1 }), { reward: true });
    expect(await evidence()).toBeGreaterThan(0);
  });

  it("cost no read while nothing changes, and only what changed when somebody else has changed it", async () => {
    const inner = memoryStore();
    const writer = testEngine({ store: inner, prefix: "writer" }).engine;
    const { store, reads } = listeningStore(inner);
    const { engine } = testEngine({ store });
    await fail(engine, 2);
    await preview(engine);
    reads.length = 0;
    for (let i = 0; i < 5; i++) await preview(engine);
    expect(reads).toEqual([]);
    await fail(writer, 1);
    await preview(engine);
    expect(reads).toEqual(WRITTEN_BY_A_RUN);
  });

  it("are read again after a commit of this process, not by the next ranking, and only once between two rankings", async () => {
    const inner = memoryStore();
    const { store, reads } = listeningStore(inner);
    const { engine } = testEngine({ store });
    await fail(engine, 1);
    const { episode } = await engine.rank(request({ keepOrder: true }));
    reads.length = 0;
    await engine.end(episode, { reward: true });
    await turn();
    expect(reads).toEqual(WRITTEN_BY_A_RUN);
    reads.length = 0;
    const ranked = await preview(engine);
    expect(reads).toEqual([]);
    expect(ranked).toEqual(await preview(testEngine({ store: inner, prefix: "fresh" }).engine));
    await engine.report(episode, { reward: false });
    await turn();
    const after = reads.length;
    for (let i = 0; i < 5; i++) await engine.report(episode, { reward: i % 2 });
    await turn();
    // Each looks for its episode; the states of its memories were not read since.
    expect(reads.slice(after).every(([scope]) => scope === "episode")).toBe(true);
    expect(await preview(engine)).toEqual(await preview(testEngine({ store: inner, prefix: "another" }).engine));
  });

  it("tell whether a namespace has learned, without a read by the next retrieval", async () => {
    const { store, reads } = listeningStore(memoryStore());
    const { engine } = testEngine({ store });
    const retrieve = async (): Promise<string> => {
      await engine.fetchSize({ topK: 3 });
      return (await engine.rank(request())).episode;
    };
    await engine.end(await retrieve());
    await turn();
    reads.length = 0;
    await retrieve();
    expect(reads).toEqual([]);
  });

  it("keep no outcome waiting while they are read again, and are not those of a reading that was overtaken", async () => {
    const inner = memoryStore();
    const late = lateStore(inner);
    const { engine } = testEngine({ store: late.store });
    await fail(engine, 1);
    await preview(engine);
    const release = late.hold("memory:");
    await fail(engine, 1);
    late.letNewOnesPass();
    await fail(engine, 5);
    release();
    await turn();
    expect(await preview(engine)).toEqual(await preview(testEngine({ store: inner, prefix: "fresh" }).engine));
  });

  it("take no more room when readings are overtaken again and again", async () => {
    const inner = memoryStore();
    const writer = testEngine({ store: inner, prefix: "writer" }).engine;
    const late = lateStore(inner);
    const learner = oar();
    const tables: MemoryTable[] = [];
    const createTable: typeof learner.createTable = () => {
      const table = learner.createTable();
      tables.push(table);
      return table;
    };
    const { engine } = testEngine({ store: late.store, learner: { ...learner, createTable } as Learner });
    await fail(writer, 1);
    await preview(engine);
    const [table] = tables as [MemoryTable];
    const { size } = table;
    for (let round = 0; round < 50; round++) {
      await fail(writer, 1);
      const release = late.hold("memory:");
      const slow = preview(engine);
      await turn();
      await fail(writer, 1);
      late.letNewOnesPass();
      // Notices the second run, so that what the slow one has read is out of date when it arrives.
      await engine.rank(request({ record: false, candidates: [{ id: "d9", similarity: 1 }] }));
      release();
      await slow;
      expect(await preview(engine)).toEqual(await preview(testEngine({ store: inner, prefix: "fresh" }).engine));
    }
    expect(tables).toHaveLength(1);
    expect(table.size).toBe(size);
  });

  it("are left to the next ranking where they cannot be read again, without a word", async () => {
    const inner = memoryStore();
    let broken = false;
    const readStates: Store["readStates"] = async (...call) => {
      if (broken && call[1].startsWith("memory:")) throw new Error("disk I/O error");
      return inner.readStates(...call);
    };
    const { engine, logs } = testEngine({ store: { ...inner, readStates } });
    await fail(engine, 1);
    const { episode } = await engine.rank(request());
    broken = true;
    await expect(engine.end(episode, { reward: false })).resolves.toMatchObject({ status: "committed" });
    await turn();
    broken = false;
    expect(await preview(engine)).toEqual(await preview(testEngine({ store: inner, prefix: "fresh" }).engine));
    expect(logs).toEqual([]);
  });

  it("are no longer read when the store is closed", async () => {
    const inner = memoryStore();
    const late = lateStore(inner);
    const { engine } = testEngine({ store: late.store });
    await fail(engine, 1);
    const { episode } = await engine.rank(request());
    const release = late.hold("memory:");
    await engine.end(episode, { reward: false });
    let closed = false;
    const closing = engine.close().then(() => {
      closed = true;
    });
    await turn();
    expect(closed).toBe(false);
    release();
    await closing;
  });

  it("are bounded: of very many namespaces only the latest stay, and each is ranked by its own", async () => {
    const inner = memoryStore();
    const read = new Set<string>();
    const store: Store = {
      ...inner,
      readStates: (namespace, scope, ids) => {
        read.add(namespace);
        return inner.readStates(namespace, scope, ids);
      },
    };
    const { engine } = testEngine({ store });
    // The smallest table of vectors of 512 values takes 32 KiB, and 64 MiB are kept.
    const spaces = Array.from({ length: 2_150 }, (_, i) => `tenant ${i}`);
    const vector = Float32Array.from({ length: 512 }, (_, i) => (i === 0 ? 1 : 0));
    const small = { candidates: [{ id: "a", similarity: 1 }], topK: 1, vector };
    for (const [i, namespace] of spaces.entries()) {
      await engine.end((await engine.rank({ ...small, namespace })).episode, { reward: i % 2 });
      await engine.rank({ ...small, namespace, record: false });
    }
    read.clear();
    for (const i of [2_149, 2_148, 0, 1]) {
      const [item] = (await engine.rank({ ...small, namespace: `tenant ${i}`, record: false })).items;
      expect(Math.sign(item?.utility as number)).toBe(i % 2 === 0 ? -1 : 1);
    }
    expect([...read]).toEqual(["tenant 0", "tenant 1"]);
  });

  it("are bounded: a collection that is larger than all that is kept is read again by each ranking", async () => {
    const { store, reads } = listeningStore(memoryStore());
    const learner = oar() as Learner;
    const createTable = (): MemoryTable =>
      Object.defineProperty(learner.createTable(), "size", { value: 65 * 1024 * 1024 });
    const { engine } = testEngine({ store, learner: { ...learner, createTable } });
    await fail(engine, 1);
    for (let i = 0; i < 2; i++) {
      reads.length = 0;
      expect((await preview(engine)).items.find(({ id }) => id === "d0")?.evidence).toBeGreaterThan(0);
      expect(reads.map(([scope]) => scope)).toContain("memory:default");
    }
  });
});

it("an explanation reads the labels of a collection at once, however often the run has retrieved", async () => {
  const { store, reads } = listeningStore(memoryStore());
  const { engine } = testEngine({ store });
  const labelled = candidates(10).map((candidate) => ({ ...candidate, label: `About ${candidate.id}` }));
  await engine.end((await engine.rank(request({ candidates: labelled, topK: 10 }))).episode);
  const episode = engine.open();
  for (let i = 0; i < 20; i++) await engine.rank(request({ episode, collection: i < 10 ? "default" : "other" }));
  reads.length = 0;
  const { exposures } = (await engine.explain(episode)) as EpisodeView;
  expect(reads.map(([scope, ...ids]) => [scope, ids.length])).toEqual([
    ["label:default", 7],
    ["label:other", 7],
  ]);
  const labels = exposures.map(({ notShown }) => notShown.map(({ label }) => label));
  expect(labels[9]).toEqual(["About d3", "About d4", "About d5", "About d6", "About d7", "About d8", "About d9"]);
  expect(labels[10]).toEqual(Array(7).fill(undefined));
});
