import { createEngine, memoryStore, QavrError, qValue } from "@qavr/core";
import type { QValueShared, QValueState } from "@qavr/core/learner";
import { exportState, importState, replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { formatSeedState, parseSeedState } from "../src/seed-format.js";

const published = {
  memories: {
    memory_id_1: {
      q_value: 0.75,
      access_count: 12,
      last_accessed: "2026-01-26",
      success_count: 9,
      failure_count: 3,
      tag: "x",
    },
  },
  contexts: {
    debugging: { interactions: 82, mode: "cold", owner: "team" },
    coding: { interactions: 156, mode: "warm" },
  },
  config: { learning_rate: 0.1, decay_factor: 0.99, warm_threshold: 100, house: "rule" },
  format: "v0",
};

describe("the published state file", () => {
  it("Q12: is read with its numbers, a bare date meaning 00:00 UTC", () => {
    const { memories, shared, options, enabled, warnings } = parseSeedState(JSON.stringify(published));
    expect(memories.get("memory_id_1")).toMatchObject({
      q: 0.75,
      accessCount: 12,
      successCount: 9,
      failureCount: 3,
      lastAccessed: Date.UTC(2026, 0, 26),
    });
    expect({ ...shared.contexts }).toEqual({ debugging: 82, coding: 156 });
    expect(options).toEqual({ learningRate: 0.1, decayFactor: 0.99, warmThreshold: 100 });
    expect({ enabled, warnings }).toEqual({ enabled: true, warnings: [] });
  });

  it("Q12: survives a round trip through the engine, unknown keys included", async () => {
    const document = parseSeedState(published);
    const engine = createEngine({ store: memoryStore(), learner: qValue(document.options) });
    await importState(engine, {
      shared: document.shared,
      memories: [...document.memories].map(([id, state]) => ({ id, state })),
    });
    const { shared, memories } = await exportState(engine);
    const written = formatSeedState({
      memories: memories.map(({ id, state }) => [id, state as QValueState] as const),
      shared: shared as QValueShared,
      source: document.source,
    });
    expect(written).toEqual(published);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("Q12: writes a new date where a memory was retrieved again, and modes by the file's own threshold", () => {
    const source = { ...published, config: { ...published.config, warm_threshold: 50 } };
    const { memories, shared, source: read } = parseSeedState(source);
    const memory = memories.get("memory_id_1") as QValueState;
    const written = formatSeedState({
      memories: [["memory_id_1", { ...memory, lastAccessed: memory.lastAccessed + 1_500 }]],
      shared,
      source: read,
    });
    expect(written).toMatchObject({
      memories: { memory_id_1: { last_accessed: "2026-01-26T00:00:01.500Z" } },
      contexts: { debugging: { interactions: 82, mode: "warm" }, coding: { mode: "warm" } },
    });
    expect(formatSeedState({ memories: [], shared, warmThreshold: 90, source: read })).toMatchObject({
      contexts: { debugging: { mode: "cold" } },
    });
  });

  it("ranks with imported q-values at once in a context that is warm already", async () => {
    const { shared, memories } = parseSeedState(published);
    const engine = createEngine({ store: memoryStore(), learner: qValue(), clock: () => Date.UTC(2026, 0, 26) });
    await importState(engine, { shared, memories: [...memories].map(([id, state]) => ({ id, state })) });
    const candidates = [
      { id: "other", similarity: 0.8 },
      { id: "memory_id_1", similarity: 0.75 },
    ];
    const order = async (context: string) =>
      (await engine.rank({ context, candidates, topK: 2, record: false })).items.map(({ id }) => id);
    expect(await order("coding")).toEqual(["memory_id_1", "other"]);
    expect(await order("debugging")).toEqual(["other", "memory_id_1"]);
  });

  it("Q15: replaces what cannot be ranked with and says so, never letting NaN through", () => {
    const { memories, warnings } = parseSeedState({
      memories: {
        high: { q_value: 1.7 },
        text: { q_value: "0.5", access_count: -1, last_accessed: "yesterday" },
        missing: {},
      },
    });
    for (const memory of memories.values()) expect(memory.q).toBe(0.5);
    expect(memories.get("text")).toMatchObject({ accessCount: 0, lastAccessed: Number.NaN });
    expect(warnings).toHaveLength(5);
    expect(warnings.join("\n")).toContain("memories.high.q_value is 1.7");
  });

  it("Q13: reads the configuration block: listed contexts exist cold, enabled: false is told", () => {
    const { options, enabled, shared } = parseSeedState({
      qavr: {
        enabled: false,
        learning_rate: 0.2,
        decay_factor: 0.98,
        warm_threshold: 10,
        alpha_warm: 0.4,
        contexts: ["debugging", "__proto__"],
      },
    });
    expect(options).toEqual({ learningRate: 0.2, decayFactor: 0.98, warmThreshold: 10, alphaWarm: 0.4 });
    expect(enabled).toBe(false);
    expect(Object.entries(shared.contexts)).toEqual([
      ["debugging", 0],
      ["__proto__", 0],
    ]);
    expect(({} as Record<string, unknown>).debugging).toBeUndefined();
  });

  it.each(["", "[]", "null", '{"memories": 3}', '{"memories": {"a": 1}}'])("refuses %j", (json) => {
    let thrown: unknown;
    try {
      parseSeedState(json);
    } catch (error) {
      thrown = error;
    }
    expect(QavrError.isInstance(thrown, "INVALID_STATE")).toBe(true);
  });
});
