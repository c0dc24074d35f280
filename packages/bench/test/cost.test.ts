import { createEngine, type Engine, type Learner, memoryStore, QavrError, type Store } from "@qavr/core";
import { jar, oar } from "@qavr/core/learners";
import { sqliteStore } from "@qavr/sqlite";
import { describe, expect, it } from "vitest";
import { type Cost, costs, type Observed } from "../src/cost/costs.js";
import { createHistory, HISTORY, type History, type HistoryShape, historyIndex } from "../src/cost/history.js";
import { lossLines } from "../src/cost/losses.js";
import { countOutcomeWrites, type OutcomeWrites, total } from "../src/cost/outcome-writes.js";
import { costReport, costTable, gainTable, reportPage } from "../src/cost/report.js";
import { SUBJECTS } from "../src/cost/subjects.js";
import { compare } from "../src/learning/comparison.js";
import type { JobResult } from "../src/learning/results.js";
import { ROWS } from "../src/learning/rows.js";
import type { Measurement } from "../src/speed/measure.js";
import { buildVectorIndex } from "../src/speed/vector-index.js";

/** Ends a run that was shown two memories. */
async function runOnce(engine: Engine, run: number, reward?: number): Promise<string> {
  const candidates = [0, 1].map((place) => ({ id: `run${run}-${place}`, similarity: 0.5 - 0.1 * place }));
  const { episode } = await engine.rank({ vector: [1, run, 2, 3], candidates, topK: 2 });
  await engine.end(episode, reward === undefined ? undefined : { reward, tier: "verified" });
  return episode;
}

describe("counting what outcomes write", () => {
  it("finds the memories, the episode, the collection and the counts, and leaves the exposure out", async () => {
    const { store, writes } = countOutcomeWrites(memoryStore());
    const engine = createEngine({ store, learner: oar() as unknown as Learner });
    const episode = await runOnce(engine, 0);
    expect(writes()).toEqual({ outcomes: 0, kinds: expect.anything() });
    expect(total(writes())).toEqual({ states: 0, bytes: 0 });
    await engine.report(episode, { reward: 1, tier: "verified" });
    const { outcomes, kinds } = writes();
    expect(outcomes).toBe(1);
    expect([kinds.memory.states, kinds.episode.states, kinds.other.states]).toEqual([2, 1, 2]);
    const states = await store.readStates("default", "memory:default", ["run0-0", "run0-1"]);
    expect(kinds.memory.bytes).toBe(states.reduce((sum, state) => sum + (state as Uint8Array).length, 0));
    const [record] = await store.readStates("default", "episode", [episode]);
    expect(kinds.episode.bytes).toBe(record?.length);
  });

  it("sums over outcomes, from the last reset on", async () => {
    const { store, writes, reset } = countOutcomeWrites(memoryStore());
    const engine = createEngine({ store, learner: oar() as unknown as Learner });
    await runOnce(engine, 0, 1);
    const one = total(writes());
    await runOnce(engine, 1, 0);
    expect(writes().outcomes).toBe(2);
    expect(total(writes()).states).toBe(2 * one.states);
    reset();
    expect(writes().outcomes).toBe(0);
    expect(total(writes())).toEqual({ states: 0, bytes: 0 });
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
    expect(writes()).toEqual({
      outcomes: 1,
      kinds: {
        memory: { states: 2, bytes: 7 },
        episode: { states: 0, bytes: 0 },
        other: { states: 1, bytes: 3 },
      },
    });
  });
});

const SMALL: HistoryShape = { ...HISTORY, memories: 60, queries: 20, runs: 40, counted: 20, together: 8 };

const history = (learner: unknown, store: Store = memoryStore(), dims = 32): Promise<History> =>
  createHistory(buildVectorIndex(historyIndex(SMALL, dims)), store, learner as Learner, SMALL);

describe("a history", () => {
  it("writes the same states and bytes again, on SQLite as in memory", async () => {
    for (const learner of [oar, () => jar({ revisits: 3 })]) {
      const { counted } = await history(learner());
      expect(counted.outcomes).toBe(SMALL.counted);
      expect((await history(learner())).counted).toEqual(counted);
      const onDisk = await history(learner(), sqliteStore(":memory:"));
      expect(onDisk.counted).toEqual(counted);
      await onDisk.engine.close();
    }
  });

  it("shows that a learner without revisits writes what its run showed, and how much revisits add", async () => {
    const perOutcome = async (learner: unknown): Promise<number> => {
      const { counted } = await history(learner);
      return total(counted).states / counted.outcomes;
    };
    // Five memories, the episode, the collection, the counts.
    expect(await perOutcome(oar())).toBe(8);
    expect(await perOutcome(jar({ revisits: 0 }))).toBe(8);
    // From one revisit on the ring and its place beside them.
    const few = await perOutcome(jar({ revisits: 2 }));
    const more = await perOutcome(jar({ revisits: 5 }));
    expect(few).toBeGreaterThan(10 + 2);
    expect(few).toBeLessThanOrEqual(10 + 2 * 6);
    expect(more).toBeGreaterThan(few);
    expect(more).toBeLessThanOrEqual(10 + 5 * 6);
  });

  it("goes on with runs whose outcome comes apart", async () => {
    const { engine, open, teach } = await history(oar());
    const before = (await engine.status()).episodes;
    const receipt = await teach(await open());
    expect(receipt).toMatchObject({ status: "committed" });
    expect((await engine.status()).episodes.recorded).toBe(before.recorded + 1);
  });
});

describe("the learners whose cost is measured", () => {
  it("are rows of the learning benchmark under the same names, so that a gain finds its cost", () => {
    const names = ROWS.map(({ name }) => name);
    for (const { name } of SUBJECTS) expect(names).toContain(name);
  });

  it("fit as many old runs again as their table says", () => {
    for (const { learner, revisits } of SUBJECTS) expect(learner().revisits?.count ?? 0).toBe(revisits);
  });
});

const written = (states: number, bytes: number): OutcomeWrites => ({
  outcomes: 10,
  kinds: {
    memory: { states: 5 * states, bytes: 5 * bytes },
    episode: { states: 10, bytes: 10 },
    other: { states: 20, bytes: 20 },
  },
});

function observed(learner: string, dims: number, bytes: number, spent: number): Observed {
  const measurement: Measurement = { name: "", median: spent, p95: spent, rounds: [spent, spent], calls: 2 };
  const counted = written(10, bytes);
  return {
    learner,
    revisits: 0,
    dims,
    counted: { inMemory: counted, onDisk: counted, onServer: counted },
    inMemory: measurement,
    onDisk: { ...measurement, rounds: [2 * spent, 2 * spent] },
    onServer: { ...measurement, rounds: [3 * spent, 3 * spent] },
    logged: 2 * bytes,
  };
}

const table: readonly Cost[] = costs([
  observed("oar", 256, 1000, 100),
  observed("cav", 256, 900, 90),
  observed("jar", 256, 5000, 400),
  observed("oar", 128, 500, 80),
]);

const trial = (row: string, success: number): JobResult => ({
  row,
  set: "hwu64",
  scenario: "main",
  seed: 101,
  online: 0,
  unseen: undefined,
  checkpoints: [{ runs: 3000, success, ndcg: 0.5, recall: 0, misleading: 0 }],
});

const gains = compare([trial("similarity", 0.4), trial("oar", 0.56), trial("cav", 0.53), trial("jar", 0.57)]);

describe("costs", () => {
  it("are means per outcome and ratios to the default with long vectors", () => {
    const [own, , joint, short] = table as [Cost, Cost, Cost, Cost];
    expect(own).toMatchObject({ states: 8, bytes: 503, memoryBytes: 100 });
    expect(own.inMemory).toMatchObject({ median: 100, ratio: { mean: 1 } });
    expect(joint.inMemory.ratio.mean).toBe(4);
    expect(short.onDisk.ratio.mean).toBe(0.8);
    expect(joint.onServer.ratio.mean).toBeCloseTo(4, 12);
    expect(joint.logged).toBe(10_000);
  });

  it("are refused when the stores disagree on what was written", () => {
    const one = observed("oar", 256, 1000, 100);
    for (const store of ["onDisk", "onServer"] as const) {
      const differing = { ...one, counted: { ...one.counted, [store]: written(9, 1000) } };
      expect(() => costs([differing])).toThrow(QavrError);
    }
  });
});

describe("the page about costs", () => {
  it("says first who is cheaper than the default and who gains more", () => {
    expect(lossLines(table, gains)).toEqual([
      "`cav` is cheaper: 0.90 of the bytes, 0.90 of the CPU, 0.90 of the time on SQLite, 0.90 of the time on PostgreSQL.",
      "`jar` gains more on hwu64: +0.170 against +0.160 success.",
    ]);
  });

  it("does not call a learner faster whose interval reaches the default's time", () => {
    const [own, fast] = table as [Cost, Cost];
    const unsure = { ...fast, inMemory: { median: 90, ratio: { mean: 0.9, margin: 0.2, n: 2 } } };
    expect(lossLines([own, unsure], gains)[0]).toBe(
      "`cav` is cheaper: 0.90 of the bytes, 0.90 of the time on SQLite, 0.90 of the time on PostgreSQL.",
    );
  });

  it("shows every learner with its costs, and the gains beside those of long vectors", () => {
    expect(costTable(table).split("\n")).toHaveLength(2 + table.length);
    const beside = gainTable(table, gains).split("\n");
    expect(beside).toHaveLength(2 + 3);
    expect(beside.find((line) => line.includes("jar"))).toContain("+0.170");
    const report = costReport({ costs: table, history: HISTORY, measurements: [], versions: { node: "24.0.0" } });
    const page = reportPage(report, gains);
    expect(page.indexOf("## Where it loses")).toBeLessThan(page.indexOf("## Cost"));
    expect(page).toContain(costTable(table));
    expect(page).toContain("node 24.0.0");
  });
});
