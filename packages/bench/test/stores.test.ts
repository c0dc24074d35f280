import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Measurement } from "../src/speed/measure.js";
import { measureEngineOutcomes } from "../src/stores/engine-outcome.js";
import { MEMORY_SCOPE, OUTCOME, OUTCOME_BYTES, outcomeWorkload } from "../src/stores/outcome-workload.js";
import { fillMemories, readPart } from "../src/stores/reading.js";
import { recording } from "../src/stores/recording.js";
import {
  engineTable,
  lossLines,
  readTable,
  reportPage,
  sizeTable,
  storesReport,
  throughputTable,
} from "../src/stores/report.js";
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
    const states = (await part.run(3, ids)) as readonly (Uint8Array | undefined)[];
    expect(states.map((state) => state?.length)).toEqual(Array(50).fill(OUTCOME.memory));
    expect(await part.prepare?.(3)).toEqual(ids);
  });
});

describe("the page of the stores bench", () => {
  const throughput: Throughput[] = [
    { name: "floor", clients: 1, batch: 1, rate: 1_000, rounds: [1_000], latency: 1 },
    {
      name: "store",
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
  const engine = [{ states: 8, bytes: 8_588, measurement: read("PostgreSQL", 700) }];
  const sizes = [
    { store: "SQLite" as const, memories: 1_000, filled: 1, disk: 1_400_000, opened: { open: 5, memory: 2e6 } },
  ];

  it("says first where stores are slower than what they are measured by", () => {
    expect(lossLines({ throughput, reads })).toEqual([
      "store: 0.40 of the rate of a bare insert of the same bytes.",
      "Reading 50 states, PostgreSQL, cached: 10.0 times as long as SQLite.",
    ]);
  });

  it("shows all numbers, with the machine and the command", () => {
    const versions = { PostgreSQL: "18.4" };
    const report = storesReport({
      command: "pnpm bench:stores",
      versions,
      rounds: 8,
      duration: 1_500,
      throughput,
      reads,
      engine,
      sizes,
    });
    const page = reportPage(report);
    for (const part of [
      throughputTable(throughput),
      engineTable(engine),
      readTable(reads),
      sizeTable(sizes),
      "PostgreSQL 18.4",
      "8 rounds",
    ]) {
      expect(page).toContain(part);
    }
    expect(sizeTable(sizes)).toContain("1,400");
  });
});
