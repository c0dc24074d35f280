import { createEngine, type Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom, shuffle } from "../src/random/seeded-random.js";
import { monthlyPrice, plan } from "../src/scale/capacity.js";
import { isWithin } from "../src/scale/comparison.js";
import type { Constants } from "../src/scale/constants.js";
import { explanationTables } from "../src/scale/explanation.js";
import { fillTenants } from "../src/scale/fill.js";
import { lookupPages } from "../src/scale/lookup.js";
import { measureScale } from "../src/scale/measure-scale.js";
import { DEMAND, MACHINES, PRICES } from "../src/scale/parameters.js";
import type { Cost } from "../src/scale/pass.js";
import { FULL, type ScalePlan } from "../src/scale/plans.js";
import { closedThroughput } from "../src/scale/queueing.js";
import { comparedTable, missedLines, reportPage, scalePlot, scaleReport } from "../src/scale/report.js";
import { createRuns, rankOnce, TENANT, tenantName } from "../src/scale/tenants.js";
import { withTables } from "../src/scale/with-tables.js";
import { characteristicTime, hitShare, meanHitShare, touchedPages, visited } from "../src/scale/working-set.js";
import { drawRanks, zipfShares } from "../src/scale/zipf.js";

describe("Zipf traffic", () => {
  it("gives the second half of what it gives the first, and all of it together", () => {
    const shares = zipfShares(1_000, 1);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    expect((shares[0] as number) / (shares[1] as number)).toBeCloseTo(2, 12);
    expect(zipfShares(4, 0)).toEqual(Float64Array.of(0.25, 0.25, 0.25, 0.25));
  });

  it("is drawn with these shares", () => {
    const [count, draws] = [20, 40_000];
    const shares = zipfShares(count, 1);
    const draw = drawRanks(shares, seededRandom(1));
    const counts = new Array<number>(count).fill(0);
    for (let i = 0; i < draws; i++) counts[draw()]! += 1;
    for (const [rank, drawn] of counts.entries()) expect(drawn / draws / (shares[rank] as number)).toBeCloseTo(1, 0.8);
  });
});

describe("pages that traffic touches", () => {
  it("are as many as in a table of mixed rows that is drawn from", () => {
    const [tenants, draws, rowsPerPage] = [400, 900, 5];
    const shares = zipfShares(tenants, 1);
    const kinds = [
      { perNamespace: 4, touched: 0.5 },
      { perNamespace: 1, touched: 0 },
    ];
    const random = seededRandom(2);
    const rows = shuffle(
      Array.from({ length: tenants * 5 }, (_, row) => ({ tenant: Math.floor(row / 5), place: row % 5 })),
      random,
    );
    const pageOf = new Map(rows.map(({ tenant, place }, at) => [tenant * 5 + place, Math.floor(at / rowsPerPage)]));
    const draw = drawRanks(shares, random);
    const touched = new Set<number>();
    for (let i = 0; i < draws; i++) {
      const tenant = draw();
      for (let place = 0; place < 4; place++) {
        if (random() < 0.5) touched.add(pageOf.get(tenant * 5 + place) as number);
      }
    }
    const foretold = touchedPages(shares, kinds, rowsPerPage, draws);
    expect(foretold / touched.size).toBeGreaterThan(0.93);
    expect(foretold / touched.size).toBeLessThan(1.07);
  });

  it("are none without traffic and all of them after endless traffic", () => {
    const shares = zipfShares(10, 1);
    const kinds = [{ perNamespace: 3, touched: 1 }];
    expect(touchedPages(shares, kinds, 6, 0)).toBe(0);
    expect(touchedPages(shares, kinds, 6, 1e6)).toBeCloseTo(5, 6);
    expect(touchedPages(shares, [], 6, 100)).toBe(0);
  });
});

describe("a cache of what was used last", () => {
  /** Hits of a real one, in namespaces of one size, once it is full. */
  function simulated(shares: Float64Array, places: number): number {
    const cache = new Map<number, true>();
    const draw = drawRanks(shares, seededRandom(3));
    let hits = 0;
    for (let i = 0; i < 60_000; i++) {
      const tenant = draw();
      if (cache.delete(tenant) && i >= 20_000) hits += 1;
      cache.set(tenant, true);
      if (cache.size > places) cache.delete(cache.keys().next().value as number);
    }
    return hits / 40_000;
  }

  it("hits as often as the characteristic time says", () => {
    const shares = zipfShares(2_000, 1);
    for (const places of [50, 200, 800]) {
      const time = characteristicTime(shares, { perNamespace: 1, perOutcome: 0, capacity: places });
      expect(hitShare(shares, time)).toBeCloseTo(simulated(shares, places), 1.7);
      expect(visited(shares, time)).toBeCloseTo(places, 0);
    }
  });

  it("forgets sooner what shares it with bytes that nobody asks for again, and nothing when all fits", () => {
    const shares = zipfShares(2_000, 1);
    const use = { perNamespace: 1, perOutcome: 0, capacity: 200 };
    const alone = characteristicTime(shares, use);
    expect(characteristicTime(shares, { ...use, perOutcome: 0.2 })).toBeLessThan(0.8 * alone);
    expect(characteristicTime(shares, { ...use, capacity: 2_000 })).toBe(Number.POSITIVE_INFINITY);
    expect(hitShare(shares, Number.POSITIVE_INFINITY)).toBe(1);
  });

  it("fills while a process is young", () => {
    const shares = zipfShares(2_000, 1);
    const young = meanHitShare(shares, 5_000, 0, 1_000);
    expect(young).toBeLessThan(hitShare(shares, 1_000));
    expect(meanHitShare(shares, 500, 2_000, 3_000)).toBeCloseTo(hitShare(shares, 500), 12);
  });
});

describe("clients that wait for each other", () => {
  it("end as many outcomes as mean value analysis says for two equal queues: n ÷ D(n + 1)", () => {
    for (const clients of [1, 2, 7]) {
      expect(closedThroughput({ queues: [1_000, 1_000], delay: 0 }, clients)).toBeCloseTo(
        (clients * 1e6) / (1_000 * (clients + 1)),
        6,
      );
    }
  });

  it("are as fast as one alone allows, and in the end as the slowest part", () => {
    const demands = { queues: [2_000, 500], delay: 7_500 };
    expect(closedThroughput(demands, 1)).toBeCloseTo(100, 9);
    expect(closedThroughput(demands, 500)).toBeCloseTo(500, 0);
  });
});

it("a look-up reads one page more whenever an index has grown by its fan-out", () => {
  const entry = (8_192 * 0.69) / 100 - 4;
  expect(lookupPages(50, 70, entry)).toBe(2);
  expect(lookupPages(70 * 100, 70, entry)).toBe(3);
  expect(lookupPages(70 * 101, 70, entry)).toBe(4);
});

const cost = (app: number, database: number, walBytes: number, roundTrips: number): Cost => ({
  app,
  database,
  walBytes,
  asked: { roundTrips, rankedStates: 0, committedStates: 1, locked: 0 },
});

const CONSTANTS: Constants = {
  contents: {
    namespaces: 1_000,
    memories: 13_500,
    runs: 4_000,
    memoryValue: 1_088,
    episodeValue: 976,
    namespaceValue: 2_315,
    bytes: { namespace: 3_000, memory: 1_500, run: 3_400, entries: 2_050, episode: 1_350 },
    packing: { statesPerPage: 6.2, headsPerPage: 53, stateLeaf: 70, entryLeaf: 136, keyLeaf: 49, innerEntry: 30 },
    total: 39e6,
  },
  warm: cost(2_000, 2_400, 13_500, 5),
  cold: cost(3_000, 3_600, 13_400, 10),
  firstWal: 13_600,
  image: { bytes: 6_000, cpu: 20 },
  shared: cost(1_000, 800, 4_700, 2.1),
  droppedEntry: 200,
  lookup: { pages: 3, read: 800 },
  evicted: { pages: 3, read: 2_000 },
};

describe("a plan of capacity", () => {
  const capacity = plan(CONSTANTS, DEMAND, MACHINES);

  it("takes as many shards as the resource that runs out first", () => {
    const most = Math.max(...capacity.resources.map(({ shards }) => shards));
    expect(capacity.resources[0]?.shards).toBe(most);
    expect(capacity.shards).toBe(Math.ceil(most));
    for (const { needed, perShard, shards } of capacity.resources) expect(shards).toBeCloseTo(needed / perShard, 12);
  });

  it("adds up what stays on the disk", () => {
    const { disk } = capacity;
    expect(disk.states).toBe(1e9 * 1_500 + 1e5 * 3_000);
    expect(disk.perDay).toBe(1e4 * 86_400 * 3_400);
    expect(disk.givenBackPerDay + disk.keysPerDay).toBeCloseTo(disk.perDay, 0);
    expect(disk.keysPerDay).toBeCloseTo(1e4 * 86_400 * 2 * (200 + 8_192 / 136 + 8_192 / 49), 0);
    expect(disk.total).toBeCloseTo(2 * disk.states + 30 * disk.perDay + 335 * disk.keysPerDay, 0);
  });

  it("asks for no core that a larger cache saves", () => {
    const cacheBytes = 16 * MACHINES.app.cacheBytes;
    const larger = plan(CONSTANTS, DEMAND, { ...MACHINES, app: { ...MACHINES.app, cacheBytes } });
    expect(larger.cached).toBeGreaterThan(capacity.cached);
    expect(larger.databaseCores).toBeLessThan(capacity.databaseCores);
    expect(larger.processes).toBeLessThan(capacity.processes);
    expect(capacity.cached).toBeGreaterThan(0.1);
    expect(capacity.appCores).toBeGreaterThan(1e4 * 2_000e-6);
    expect(capacity.appCores).toBeLessThan(1e4 * 3_000e-6);
  });

  it("says which tenants are too busy for one process", () => {
    const even = plan(CONSTANTS, { ...DEMAND, exponent: 0 }, MACHINES);
    expect([even.hot.near, even.hot.busiest]).toEqual([0, 0.1]);
    expect(capacity.hot.ceiling).toBe(1_000);
    expect(capacity.hot.busiest).toBeCloseTo(827, -1);
    expect(capacity.hot.near).toBe(1);
  });

  it("has the price of its formula", () => {
    const { cores, memoryBytes, diskBytes, copies } = MACHINES.database;
    const shard = cores * 20 + (memoryBytes / 2 ** 30) * 3 + (diskBytes / 1e12) * 80;
    const app = 20 + ((MACHINES.app.cacheBytes + MACHINES.app.otherBytes) / 2 ** 30) * 3;
    expect(monthlyPrice(capacity, MACHINES, PRICES)).toBeCloseTo(
      capacity.shards * copies * shard + capacity.processes * app,
      6,
    );
  });

  it("is a table for every place on its page", () => {
    const tables = explanationTables({ constants: CONSTANTS });
    expect(Object.keys(tables)).toContain("example");
    for (const table of Object.values(tables)) expect(table).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("tables in a page", () => {
  const page = "a\n<!-- table: one -->\nold\n<!-- end of table -->\nb\n";

  it("are replaced, and nothing else is", () => {
    const once = withTables(page, { one: "| new |" });
    expect(once).toBe("a\n<!-- table: one -->\n\n| new |\n\n<!-- end of table -->\nb\n");
    expect(withTables(once, { one: "| new |" })).toBe(once);
  });

  it("must be those that there are", () => {
    expect(() => withTables(page, {})).toThrow(/one/);
    expect(() => withTables(page, { one: "", two: "" })).toThrow(/two/);
  });
});

describe("tenants that are filled in", () => {
  let server: PostgresServer;
  let client: Client;
  let store: Store;
  beforeAll(async () => {
    server = await startServer({ settings: { fsync: "off" } });
    client = new Client(server.url());
    await client.connect();
    store = postgresStore(server.url());
    await fillTenants(store, client, "qavr", { from: 0, to: 12, shape: TENANT });
    await fillTenants(store, client, "qavr", { from: 12, to: 50, shape: TENANT });
  });
  afterAll(async () => {
    await store.close();
    await client.end();
    await server.stop();
  });

  it("are all there, each with its history", async () => {
    expect(await store.namespaces({ limit: 100 })).toHaveLength(50);
    for (const place of [0, 7, 8, 11, 12, 49]) {
      expect(await store.head(tenantName(place))).toBe(2 * TENANT.history);
    }
  });

  it("equal the one that they are copies of, entry by entry and state by state", async () => {
    const [copy, original] = [tenantName(43), tenantName(43 % 8)];
    const entries = await store.readEntries(copy, { limit: 100 });
    expect(entries).toHaveLength(2 * TENANT.history);
    expect(entries).toEqual(await store.readEntries(original, { limit: 100 }));
    for (const scope of ["memory:default", "episode", "shared", "stats"]) {
      const states = await store.scanStates(copy, scope, { limit: 100 });
      expect(states.length).toBeGreaterThan(0);
      expect(states).toEqual(await store.scanStates(original, scope, { limit: 100 }));
    }
  });

  it("go on like any other: their ledger is verified and replays to their states, and their next run is learned from", async () => {
    const engine = createEngine({ store });
    const namespace = tenantName(43);
    expect(await engine.replay({ namespace })).toMatchObject({ identical: true });
    expect(await engine.verify({ namespace })).toMatchObject({ ok: true });
    const episode = await rankOnce(engine, namespace, createRuns(TENANT, 1));
    await engine.end(episode, { reward: true, tier: "verified" });
    expect(await store.head(namespace)).toBe(2 * TENANT.history + 2);
    expect((await engine.status({ namespace })).taught).toBe(TENANT.history + 1);
  });
});

describe("a simulation of scale", () => {
  const tiny: ScalePlan = {
    ...FULL,
    sizes: [50],
    calibrated: 20,
    outcomes: 40,
    parts: 2,
    clients: 4,
    rates: [2],
    rounds: 1,
    duration: 50,
  };

  it("counts what happened, beside what the model says", async () => {
    const results = await measureScale(tiny, { settings: { fsync: "off" } });
    const { simulation, compared, constants } = results;
    expect(simulation.contents).toMatchObject({ namespaces: 50, runs: 50 * TENANT.history });
    expect(simulation.growth.map(({ tenants }) => tenants)).toEqual([50]);
    expect([constants.warm.asked.roundTrips, constants.warm.asked.rankedStates]).toEqual([4, 0]);
    expect(constants.droppedEntry).toBeGreaterThan(100);
    expect(constants.cold.asked.rankedStates).toBeGreaterThan(15);
    expect(constants.image.bytes).toBeGreaterThan(500);
    expect(simulation.traffic.images).toBeGreaterThan(1);
    expect(simulation.curve.at(-1)?.outcomes).toBe(40);
    for (const { what, predicted, measured } of compared) {
      expect(predicted, what).toBeGreaterThan(0);
      expect(measured, what).toBeGreaterThan(0);
      expect(Number.isFinite(predicted * measured), what).toBe(true);
    }
    const { schema: _, calibrated, ...plan } = tiny;
    const report = scaleReport({ command: "c", versions: {}, settings: {}, calibrated, plan, ...results });
    expect(reportPage(report)).toContain(comparedTable(compared));
    expect(scalePlot(report)).toContain("<svg");
  });
});

it("a prediction holds when neither number is more than 1.3 times the other, and is listed when it does not", () => {
  const compared = (predicted: number, measured: number) => ({ what: "w", unit: "µs", predicted, measured });
  expect(isWithin(compared(100, 130))).toBe(true);
  expect(isWithin(compared(100, 131))).toBe(false);
  expect(isWithin(compared(100, 77))).toBe(true);
  expect(isWithin(compared(100, 76))).toBe(false);
  expect(missedLines([compared(1, 1), compared(100, 50), compared(1, 4)])).toEqual([
    "w: 4.00 µs measured, 1.00 predicted, 4.00 of it.",
    "w: 50.0 µs measured, 100 predicted, 0.50 of it.",
  ]);
  expect(missedLines([{ ...compared(1, 2), what: "a ranking, one caller" }])[0]).toContain("by the clock");
});
