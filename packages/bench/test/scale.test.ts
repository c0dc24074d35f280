import { readFileSync } from "node:fs";
import { createEngine, type Store } from "@qavr/core";
import { replay, verify } from "@qavr/core/maintenance";
import { seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportOf } from "../src/report/benchmark.js";
import { fillTenants } from "../src/scale/fill.js";
import { FULL, measureScale, type ScalePlan, type ScaleResults } from "../src/scale/measure.js";
import { cachedShare, compare, isWithin } from "../src/scale/model.js";
import { missedLines, reportPage } from "../src/scale/report.js";
import { createRuns, rankOnce, TENANT, tenantName } from "../src/scale/tenants.js";
import { drawRanks, zipfShares } from "../src/scale/zipf.js";

describe("Zipf traffic", () => {
  it("gives the second half of what it gives the first, and all of it together", () => {
    const shares = zipfShares(1_000);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    expect((shares[0] as number) / (shares[1] as number)).toBeCloseTo(2, 12);
  });

  it("is drawn with these shares", () => {
    const [count, draws] = [20, 40_000];
    const shares = zipfShares(count);
    const draw = drawRanks(shares, seededRandom(1));
    const counts = new Array<number>(count).fill(0);
    for (let i = 0; i < draws; i++) counts[draw()]! += 1;
    for (const [rank, drawn] of counts.entries()) expect(drawn / draws / (shares[rank] as number)).toBeCloseTo(1, 0.8);
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
    await fillTenants(store, client, { from: 0, to: 12 });
    await fillTenants(store, client, { from: 12, to: 50 });
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
    expect(await replay(engine, { namespace })).toMatchObject({ identical: true });
    expect(await verify(engine, { namespace })).toMatchObject({ ok: true });
    const episode = await rankOnce(engine, namespace, createRuns(1));
    await engine.end(episode, { reward: true, tier: "verified" });
    expect(await store.head(namespace)).toBe(2 * TENANT.history + 2);
    expect((await engine.status({ namespace })).taught).toBe(TENANT.history + 1);
  });
});

describe("a measurement of scale", () => {
  const tiny: ScalePlan = {
    ...FULL,
    sizes: [30, 50],
    calibrated: 20,
    outcomes: 40,
    parts: 2,
    clients: 4,
    rates: [2],
    rounds: 1,
    duration: 50,
  };

  it("counts what happened, beside the model's predictions", async () => {
    const results = await measureScale(tiny, { settings: { fsync: "off" } });
    const { costs } = results;
    expect([costs.warm.roundTrips, costs.warm.states]).toEqual([4, 0]);
    expect(costs.cold.roundTrips).toBeCloseTo(10, 0);
    expect(costs.cold.states).toBe(TENANT.memories + 2);
    expect(cachedShare(results)).toBeGreaterThan(0);
    expect(cachedShare(results)).toBeLessThan(1);
    for (const { what, predicted, measured } of compare(results)) {
      expect(predicted, what).toBeGreaterThan(0);
      expect(measured, what).toBeGreaterThan(0);
      expect(Number.isFinite(predicted * measured), what).toBe(true);
    }
    for (const line of missedLines(compare(results)))
      expect(reportPage(reportOf("scale", {}, results))).toContain(line);
  });
});

describe("the model", () => {
  const published = JSON.parse(
    readFileSync(new URL("../../../docs/benchmarks/scale.json", import.meta.url), "utf8"),
  ) as ScaleResults;
  const predicted = (results: ScaleResults, what: string): number =>
    compare(results).find((one) => one.what === what)?.predicted as number;

  it("predicts the warm cost where everything is cached, and the cold cost where nothing is", () => {
    const { costs } = published;
    const traffic = (states: number): ScaleResults => ({
      ...published,
      costs: { ...costs, traffic: { ...costs.traffic, states } },
    });
    expect(predicted(traffic(0), "CPU of the server per outcome")).toBeCloseTo(costs.warm.server, 9);
    expect(predicted(traffic(costs.cold.states), "CPU of the server per outcome")).toBeCloseTo(costs.cold.server, 9);
  });

  it("says where the published measurement is more than 1.3 times a prediction, or less", () => {
    expect(isWithin({ predicted: 100, measured: 130 })).toBe(true);
    expect(isWithin({ predicted: 100, measured: 131 })).toBe(false);
    expect(isWithin({ predicted: 100, measured: 77 })).toBe(true);
    expect(isWithin({ predicted: 100, measured: 76 })).toBe(false);
    const compared = compare(published);
    expect(missedLines(compared)).toHaveLength(compared.filter((one) => !isWithin(one)).length);
    expect(missedLines([{ what: "log: w", unit: "bytes", predicted: 100, measured: 50 }])).toEqual([
      "log: w: 0.50 of what was predicted. The first change of a page after a checkpoint logs the whole page.",
    ]);
  });
});
