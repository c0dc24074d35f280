import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type Engine, memoryStore, type Store } from "@qavr/core";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Measurement } from "../src/speed/measure.js";
import { buildVectorIndex } from "../src/speed/vector-index.js";
import { measureEngineOutcomes } from "../src/stores/engine-outcome.js";
import { createHistory, HISTORY, type History, type HistoryShape, historyIndex } from "../src/stores/history.js";
import { MEMORY_SCOPE, OUTCOME, OUTCOME_BYTES, outcomeWorkload } from "../src/stores/outcome-workload.js";
import { countOutcomeWrites } from "../src/stores/outcome-writes.js";
import { fillMemories, readPart } from "../src/stores/reading.js";
import { recording } from "../src/stores/recording.js";
import { lossLines } from "../src/stores/report.js";
import { measureThroughput, type Throughput } from "../src/stores/throughput.js";

describe("an outcome of the workload", () => {
  it("writes the bytes that it says, under a key of its own", async () => {
    const store = memoryStore();
    const { entries, reduce } = outcomeWorkload("a", 100, 1);
    const batch = entries(3);
    expect(new Set(batch.map(({ key }) => key)).size).toBe(3);
    let bytes = 0;
    await store.commit("n", batch, function* (entry) {
      const writes = yield* reduce(entry);
      bytes += entry.payload.length;
      for (const { value } of writes) bytes += value?.length ?? 0;
      return writes;
    });
    expect(bytes).toBe(3 * OUTCOME_BYTES);
    expect(await store.scanStates("n", "episode", { limit: 10 })).toHaveLength(3);
    const memories = await store.scanStates("n", MEMORY_SCOPE, { limit: 100 });
    expect(memories.length).toBeGreaterThanOrEqual(OUTCOME.shown);
  });

  it("does the same to the same entry, however often it is asked", () => {
    const { entries, reduce } = outcomeWorkload("a", 100, 1);
    const [entry] = entries(1);
    const run = () => {
      const reduction = reduce({ ...(entry as NonNullable<typeof entry>), seq: 1 });
      const asked = reduction.next().value;
      return [asked, reduction.next([]).value];
    };
    expect(run()).toEqual(run());
  });
});

describe("measureThroughput", () => {
  it("counts every outcome of every client, and compares round by round with the floor", async () => {
    const commits = [0, 0];
    const commit = (place: number) => async (): Promise<void> => {
      commits[place] = (commits[place] as number) + 1;
      await new Promise((resolve) => setTimeout(resolve, place === 0 ? 1 : 4));
    };
    const [floor, other] = await measureThroughput(
      [
        { name: "floor", clients: 1, batch: 1, commit: commit(0) },
        { name: "other", floor: "floor", clients: 2, batch: 10, commit: commit(1) },
      ],
      { rounds: 3, duration: 40 },
    );
    expect(floor).toMatchObject({ name: "floor", rounds: expect.objectContaining({ length: 3 }) });
    expect(floor?.ratio).toBeUndefined();
    expect(other?.ratio?.n).toBe(3);
    expect(other?.ratio?.mean).toBeCloseTo(
      [0, 1, 2].reduce((sum, round) => sum + (other?.rounds[round] ?? 0) / (floor?.rounds[round] ?? 1), 0) / 3,
      10,
    );
    expect(commits.every((count) => count > 4)).toBe(true);
  });
});

describe("the cases of the stores bench", () => {
  let server: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), "qavr-bench-stores-"));
  beforeAll(async () => {
    server = await startServer({ settings: { fsync: "off" } });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it("all record, also side by side, and name a floor of as many clients and outcomes per commit", async () => {
    const { cases, close } = await recording(folder, server.url());
    for (const { name, floor, clients, batch, commit } of cases) {
      const receipts = await Promise.all(Array.from({ length: clients }, (_, client) => commit(client, batch)));
      if (floor === undefined) continue;
      const statuses = (receipts as { status: string }[][]).flat().map(({ status }) => status);
      expect(statuses, name).toEqual(Array(clients * batch).fill("committed"));
      const base = cases.find((other) => other.name === floor);
      expect(base?.batch).toBe(batch);
      if (clients <= 8) expect(base?.clients).toBe(clients);
    }
    expect(cases.filter(({ name }) => name.startsWith("PostgreSQL")).length).toBeGreaterThan(8);
    await close();
  });
});

/** Ends a run that was shown two memories. */
async function runOnce(engine: Engine, run: number, reward?: number): Promise<string> {
  const candidates = [0, 1].map((place) => ({ id: `run${run}-${place}`, similarity: 0.5 - 0.1 * place }));
  const { episode } = await engine.rank({ vector: [1, run, 2, 3], candidates, topK: 2 });
  await engine.end(episode, reward === undefined ? undefined : { reward, tier: "verified" });
  return episode;
}

describe("counting what outcomes write", () => {
  it("finds the memories, their bands, the episode, the collection and the counts, and leaves the exposure out", async () => {
    const { store, writes } = countOutcomeWrites(memoryStore());
    const engine = createEngine({ store });
    const episode = await runOnce(engine, 0);
    expect(writes()).toEqual({ outcomes: 0, states: 0, bytes: 0 });
    await engine.report(episode, { reward: 1, tier: "verified" });
    expect(writes()).toMatchObject({ outcomes: 1, states: 2 + 2 + 1 + 2 });
    const memories = await store.readStates("default", "memory:default", ["run0-0", "run0-1"]);
    const [record] = await store.readStates("default", "episode", [episode]);
    const bytes = [...memories, record].reduce((sum, state) => sum + (state as Uint8Array).length, 0);
    expect(writes().bytes).toBeGreaterThan(bytes);
  });

  it("sums over outcomes, from the last reset on", async () => {
    const { store, writes, reset } = countOutcomeWrites(memoryStore());
    const engine = createEngine({ store });
    await runOnce(engine, 0, 1);
    const { states } = writes();
    await runOnce(engine, 1, 0);
    expect(writes()).toMatchObject({ outcomes: 2, states: 2 * states });
    reset();
    expect(writes()).toEqual({ outcomes: 0, states: 0, bytes: 0 });
  });

  it("does not count an outcome that is there already, and counts a removed state as no bytes", async () => {
    const { store, writes } = countOutcomeWrites(memoryStore());
    const entry = { key: "k", type: "outcome", at: 0, payload: new Uint8Array(1) };
    const reduce: Parameters<Store["commit"]>[2] = function* () {
      yield [];
      return [
        { scope: "memory:docs", id: "a", value: new Uint8Array(7) },
        { scope: "memory:docs", id: "b", value: null },
        { scope: "stats", id: "namespace", value: new Uint8Array(3) },
      ];
    };
    await store.commit("default", [entry, { ...entry, key: "other", type: "exposure" }], reduce);
    await store.commit("default", [entry], reduce);
    expect(writes()).toEqual({ outcomes: 1, states: 3, bytes: 10 });
  });
});

describe("a history", () => {
  const small: HistoryShape = { ...HISTORY, memories: 60, queries: 20, runs: 40, counted: 20, together: 8 };
  const history = (store: Store = memoryStore()): Promise<History> =>
    createHistory(buildVectorIndex(historyIndex(small, 32)), store, small);

  it("writes the same states and bytes again, on SQLite as in memory", async () => {
    const { counted } = await history();
    // Five memories, the episode, the collection, the counts; and the two bands of a memory that moves from one to the other.
    expect(counted.outcomes).toBe(small.counted);
    expect(counted.states).toBeGreaterThanOrEqual(8 * small.counted);
    expect(counted.states).toBeLessThanOrEqual((8 + 2 * 5) * small.counted);
    expect((await history()).counted).toEqual(counted);
    const onDisk = await history(sqliteStore(":memory:"));
    expect(onDisk.counted).toEqual(counted);
    await onDisk.engine.close();
  });

  it("goes on with runs whose outcome comes apart", async () => {
    const { engine, open, teach } = await history();
    const before = (await engine.status()).episodes;
    const receipt = await teach(await open());
    expect(receipt).toMatchObject({ status: "committed" });
    expect((await engine.status()).episodes.recorded).toBe(before.recorded + 1);
  });
});

describe("an outcome of the engine", () => {
  it("writes the same on every store", async () => {
    const folder = mkdtempSync(join(tmpdir(), "qavr-bench-engine-"));
    const stores = { memory: memoryStore(), file: sqliteStore(join(folder, "ledger.db")) };
    const [memory, file] = await measureEngineOutcomes(stores, { rounds: 2, turns: 3, warmup: 0 });
    expect(memory?.states).toBeGreaterThan(7);
    expect([file?.states, file?.bytes]).toEqual([memory?.states, memory?.bytes]);
    expect([memory?.measurement.name, file?.measurement.calls]).toEqual(["memory", 6]);
    for (const store of Object.values(stores)) await store.close();
    rmSync(folder, { recursive: true });
  });
});

describe("a read of the bench", () => {
  it("finds all fifty states", async () => {
    const store = memoryStore();
    await fillMemories(store, "read", 10_000);
    const part = readPart("memory", store);
    const ids = await part.prepare?.(3);
    const states = (await part.run(3, ids, () => {})) as readonly (Uint8Array | undefined)[];
    expect(states.map((state) => state?.length)).toEqual(Array(50).fill(OUTCOME.memory));
    expect(await part.prepare?.(3)).toEqual(ids);
  });
});

describe("the page of the stores bench", () => {
  const throughput: Throughput[] = [
    { name: "floor", clients: 1, batch: 1, rate: 1_000, rounds: [1_000], latency: 1 },
    {
      name: "PostgreSQL, 1 × 1",
      floor: "floor",
      clients: 1,
      batch: 1,
      rate: 400,
      rounds: [400],
      latency: 2.5,
      ratio: { mean: 0.4, margin: 0.1, n: 8 },
    },
    {
      name: "grouped",
      floor: "floor",
      clients: 50,
      batch: 1,
      rate: 4_000,
      rounds: [4_000],
      latency: 12,
      ratio: { mean: 4, margin: 0.5, n: 8 },
    },
  ];
  const read = (name: string, median: number): Measurement => ({
    name,
    median,
    p95: 2 * median,
    rounds: [median],
    calls: 100,
  });
  const reads = [read("SQLite, cached", 50), read("PostgreSQL, cached", 500)];

  it("says first where stores are slower than what they are measured by", () => {
    expect(lossLines({ throughput, reads })).toEqual([
      "PostgreSQL: 0.40 to 0.40 of a bare insert's rate.",
      "Reading 50 states, PostgreSQL, cached: 10.0 times as long as SQLite.",
    ]);
  });
});
