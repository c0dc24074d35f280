import { describe, expect, it } from "vitest";
import { createRunTokens, governance } from "../src/governance/index.js";
import {
  createEngine,
  type Engine,
  type Learner,
  memoryStore,
  type NamespaceStatus,
  oar,
  qValue,
  type Store,
} from "../src/index.js";
import type { QValueState } from "../src/learners/index.js";
import type { LearnedState } from "../src/maintenance/index.js";
import { exportState, forget, importState, replay } from "../src/maintenance/index.js";

import { candidates, oneRun, request, snapshot, testEngine, testEpisode } from "./support/test-engine.js";

async function taught(learner: Learner): Promise<{ readonly engine: Engine; readonly store: Store }> {
  const { engine, store } = testEngine({ learner });
  for (let run = 0; run < 6; run++) {
    await oneRun(engine, request({ text: "restart the worker" }), { reward: run % 2 === 0, helpful: ["d0"] });
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
    ["qavr", qValue() as Learner],
  ])("by exportState is the caller's to change, under %s", async (_, learner) => {
    const { engine, store } = await taught(learner);
    const [states, asked] = [await snapshot(store), request({ record: false })];
    const ranked = await engine.rank(asked);
    scribble(await exportState(engine));
    expect(await snapshot(store)).toEqual(states);
    expect(await engine.rank(asked)).toEqual(ranked);
    expect((await replay(engine)).identical).toBe(true);
  });
});

/** A store that takes a moment to read, so that a caller may change things meanwhile. */
function slowStore(): Store {
  const { changesSince: _, ...inner } = memoryStore();
  return {
    ...inner,
    readStates: async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return inner.readStates(...given);
    },
  };
}

describe("what the caller gives", () => {
  it.each([
    ["empties", (list: unknown[]) => list.splice(0)],
    ["reverses", (list: unknown[]) => list.reverse()],
  ])("to rank is seen as it was when a caller %s the list during the call", async (_, change) => {
    const [plain, changed] = [0, 1].map(() => testEngine({ store: slowStore() }));
    const withTexts = () => candidates(10).map((candidate) => ({ ...candidate, text: `text of ${candidate.id}` }));
    const aliases = ["run"];
    const list = withTexts();
    const ranking = changed?.engine.rank(request({ candidates: list, aliases }));
    change(list);
    aliases[0] = "";
    const expected = await plain?.engine.rank(request({ candidates: withTexts(), aliases: ["run"] }));
    expect(await ranking).toEqual(expected);
    for (const engine of [plain?.engine, changed?.engine]) await engine?.end(expected?.episode ?? "", { reward: 1 });
    expect(await snapshot(changed?.store as Store)).toEqual(await snapshot(plain?.store as Store));
  });

  it("to report is seen as it was: votes are not lost with a list that is used again", async () => {
    const { engine, store } = testEngine({ store: slowStore() });
    const [first, second] = [await engine.rank(request()), await engine.rank(request())];
    for (const { episode } of [first, second]) await engine.end(episode);
    const helpful = ["d1"];
    const reporting = engine.report(first.episode, { helpful });
    helpful.length = 0;
    await reporting;
    await engine.report(second.episode, { helpful: ["d1"] });
    const entries = await store.readEntries("default", { limit: 10 });
    const [one, other] = entries.slice(-2).map(({ payload }) => payload.length);
    expect(one).toBe(other);
  });

  it("to report with a run token is seen as it was", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode);
    const tokens = createRunTokens({ engine, secret: new Uint8Array(32).fill(1) });
    const token = await tokens.issue({ episode, source: "user 17" });
    const helpful = ["d1"];
    const reporting = tokens.report(token, { helpful });
    helpful[0] = "d2";
    await reporting;
    const { best } = (await engine.status()).collections[0] as NamespaceStatus["collections"][number];
    expect(best[0]).toMatchObject({ id: "d1" });
  });

  it("to forget is seen as it was", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode, { reward: 1 });
    const forgotten = ["d0"];
    const forgetting = forget(engine, { namespace: "default", ids: forgotten });
    forgotten.length = 0;
    await forgetting;
    expect((await exportState(engine)).memories.map(({ id }) => id)).toEqual(["d1", "d2"]);
  });

  it("for a cap is seen as it was", async () => {
    const sourceCaps = { weight: 10, window: 60_000 };
    const { engine, episode } = await testEpisode({}, { governance: governance({ sourceCaps }) });
    sourceCaps.weight = Number.NaN;
    await engine.end(episode, { reward: 1 });
    expect((await engine.status()).cappedCredits).toBe(0);
    expect((await exportState(engine)).memories).not.toHaveLength(0);
  });

  it("to importState may be changed as soon as the call was made", async () => {
    const memories = Array.from({ length: 900 }, (_, i) => ({ id: `m${i}`, state: qavrMemory(i / 900) }));
    const [engine, other] = [0, 1].map(() => createEngine({ store: memoryStore(), learner: qValue() as Learner })) as [
      Engine,
      Engine,
    ];
    await importState(other, structuredClone({ memories }));
    const importing = importState(engine, { memories });
    scribble(memories);
    memories.length = 1;
    await importing;
    expect(await exportState(engine)).toEqual(await exportState(other));
  });
});

function qavrMemory(q: number, unknown: QValueState["unknown"] = {}): QValueState {
  return { q, accessCount: 1, successCount: 1, failureCount: 0, lastAccessed: 0, updates: 1, unknown };
}

describe("a large import", () => {
  const engineOf = (): Engine => createEngine({ store: memoryStore(), learner: qValue() as Learner });
  const memory = (id: string, text: number): LearnedState["memories"][number] => ({
    id,
    state: qavrMemory(0.5, { text: "x".repeat(text) }),
  });

  it("takes states of any size, in as many entries as they need", async () => {
    const engine = engineOf();
    const memories = Array.from({ length: 500 }, (_, i) => memory(`m${i}`, 6_000));
    await importState(engine, { memories });
    expect((await exportState(engine)).memories).toHaveLength(500);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("takes a large shared state in an entry of its own", async () => {
    const engine = engineOf();
    const contexts = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`${i} ${"x".repeat(400)}`, i]));
    await importState(engine, { shared: { contexts }, memories: [memory("a", 450_000)] });
    expect(await exportState(engine)).toMatchObject({ shared: { contexts }, memories: [{ id: "a" }] });
  });

  it("is refused whole for one state that no entry has room for", async () => {
    const engine = engineOf();
    const memories = [...Array.from({ length: 500 }, (_, i) => memory(`m${i}`, 10)), memory("book", 900_000)];
    await expect(importState(engine, { memories })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringMatching(/memory book takes \d+ bytes/),
    });
    expect((await engine.status()).seq).toBe(0);
  });
});
