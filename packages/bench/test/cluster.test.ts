import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { WAYS } from "../src/cluster/fleet.js";
import { type ClusterPlan, type ClusterResults, FULL, measureCluster } from "../src/cluster/measure.js";
import { cachedShare, carriedBy, compare, cpuBy, type Published } from "../src/cluster/model.js";
import { reportPage, waysTable } from "../src/cluster/report.js";
import { reportOf } from "../src/report/benchmark.js";
import { missedLines } from "../src/scale/report.js";

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../docs/benchmarks/${name}.json`, import.meta.url), "utf8"));

describe("a measurement of clusters", () => {
  const tiny: ClusterPlan = {
    ...FULL,
    calibrated: 20,
    tenants: 50,
    workers: 3,
    outcomes: 30,
    together: 50,
    clients: 4,
    parts: 1,
  };

  it("counts what happened on every way, beside the model's predictions", async () => {
    const results = await measureCluster(tiny, { settings: { fsync: "off" } });
    const { messages, small, keyBytes } = results;
    expect(messages.own).toEqual({ alone: 0, locked: 0 });
    expect(messages.coordinator.alone).toBeLessThanOrEqual(3);
    expect(messages.coordinator.locked).toBeGreaterThan(messages.coordinator.alone);
    for (const of of ["alone", "locked"] as const) {
      expect(messages.turn[of]).toBeGreaterThan(0);
      expect(messages.turn[of]).toBeLessThan(messages.coordinator[of]);
    }
    for (const way of WAYS) expect(small[way].cold.servers, way).toBeGreaterThan(0);
    expect(small.own.warm.coordinator).toBeLessThan(small.coordinator.warm.coordinator);
    expect(keyBytes).toBeGreaterThan(100);
    expect(keyBytes).toBeLessThan(3_000);
    expect(cachedShare(results)).toBeGreaterThan(0);
    for (const { what, predicted, measured } of compare(results)) {
      expect(predicted, what).toBeGreaterThan(0);
      expect(measured, what).toBeGreaterThan(0);
    }
    const page = reportPage(reportOf("cluster", {}, results));
    for (const part of [waysTable(results), ...missedLines(compare(results))]) expect(page).toContain(part);
  });
});

describe("the model of a cluster", () => {
  const measured = read("cluster") as ClusterResults;
  const scale = read("scale") as Published;

  it("finds the small cluster's own costs for as many workers", () => {
    const { plan, small } = measured;
    for (const way of WAYS) {
      expect(cpuBy(measured, way, plan.fewWorkers).cold, way).toBeCloseTo(small[way].cold.servers, 6);
    }
  });

  it("has calls in turn miss more often the more workers there are, and never more often than always", () => {
    const turn = [2, 4, 8, 1e9].map((workers) => cpuBy(measured, "turn", workers).cold);
    expect(turn).toEqual(turn.toSorted((a, b) => a - b));
    expect(turn[3]).toBeCloseTo(2 * (turn[0] as number) - measured.small.own.cold.servers, 3);
  });

  it("carries more outcomes on more servers, except through one coordinator", () => {
    const [few, many] = [4, 8].map((servers) => carriedBy(measured, scale, "own", servers));
    expect((many?.cpu as number) / (few?.cpu as number)).toBeCloseTo(2, 9);
    const through = [30, 60].map((servers) => carriedBy(measured, scale, "coordinator", servers).cpu);
    expect(through[0]).toBe(through[1]);
  });
});
