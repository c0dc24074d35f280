import { describe, expect, it } from "vitest";
import {
  cav,
  createEngine,
  type Engine,
  type LearnedState,
  type Learner,
  memoryStore,
  oar,
  type QavrMemory,
  qavr,
  type Store,
} from "../src/index.js";
import { request, snapshot, testEngine } from "./support/test-engine.js";

async function taught(learner: Learner): Promise<{ readonly engine: Engine; readonly store: Store }> {
  const { engine, store } = testEngine({ learner });
  for (let run = 0; run < 6; run++) {
    const { episode } = await engine.rank(request({ text: "restart the worker" }));
    await engine.end(episode, { reward: run % 2 === 0, helpful: ["d0"] });
  }
  return { engine, store };
}

/** Changes every number that can be reached. */
function scribble(value: unknown): void {
  if (ArrayBuffer.isView(value)) (value as Float32Array).fill(9);
  else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === "number") (value as Record<string, unknown>)[key] = 99;
      else scribble(inner);
    }
  }
}

describe("what the caller is given", () => {
  it.each([
    ["oar", oar() as Learner],
    ["cav", cav() as Learner],
    ["qavr", qavr() as Learner],
  ])("by exportState is the caller's to change, under %s", async (_, learner) => {
    const { engine, store } = await taught(learner);
    const [states, asked] = [await snapshot(store), request({ record: false })];
    const ranked = await engine.rank(asked);
    scribble(await engine.exportState());
    expect(await snapshot(store)).toEqual(states);
    expect(await engine.rank(asked)).toEqual(ranked);
    expect((await engine.replay()).identical).toBe(true);
  });
});

describe("what the caller gives", () => {
  it("to importState may be changed as soon as the call was made", async () => {
    const memories = Array.from({ length: 900 }, (_, i) => ({ id: `m${i}`, state: qavrMemory(i / 900) }));
    const [engine, other] = [0, 1].map(() => createEngine({ store: memoryStore(), learner: qavr() as Learner }));
    await other?.importState(structuredClone({ memories }));
    const importing = engine?.importState({ memories });
    scribble(memories);
    memories.length = 1;
    await importing;
    expect(await engine?.exportState()).toEqual(await other?.exportState());
  });
});

function qavrMemory(q: number, unknown: QavrMemory["unknown"] = {}): QavrMemory {
  return { q, accessCount: 1, successCount: 1, failureCount: 0, lastAccessed: 0, updates: 1, unknown };
}

describe("a large import", () => {
  const engineOf = (): Engine => createEngine({ store: memoryStore(), learner: qavr() as Learner });
  const memory = (id: string, text: number): LearnedState["memories"][number] => ({
    id,
    state: qavrMemory(0.5, { text: "x".repeat(text) }),
  });

  it("takes states of any size, in as many entries as they need", async () => {
    const engine = engineOf();
    const memories = Array.from({ length: 500 }, (_, i) => memory(`m${i}`, 6_000));
    await engine.importState({ memories });
    expect((await engine.exportState()).memories).toHaveLength(500);
    expect(await engine.replay()).toMatchObject({ identical: true });
  });

  it("is refused whole for one state that no entry has room for", async () => {
    const engine = engineOf();
    const memories = [...Array.from({ length: 500 }, (_, i) => memory(`m${i}`, 10)), memory("book", 900_000)];
    await expect(engine.importState({ memories })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringMatching(/memory book takes \d+ bytes/),
    });
    expect((await engine.status()).seq).toBe(0);
  });
});
