import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import { memoryStore, type Store } from "../src/index.js";
import { compact, forget } from "../src/maintenance/index.js";
import { withOutbox } from "../src/store-kit.js";
import { faultyStore } from "./support/faulty-store.js";
import { memoryOutbox } from "./support/memory-outbox.js";
import { request, testEngine, testEpisode } from "./support/test-engine.js";

/** The conformance suite of stores asks again for ends and reports; here is what does not depend on the store. */
describe("an outcome that is asked for again", () => {
  it("is answered while it waits in the outbox, and with its place when the store is back", async () => {
    const { store, faults } = faultyStore();
    const { engine, clock } = testEngine({ store: withOutbox(store, memoryOutbox()) });
    faults.commit = "before";
    faults.readStates = "before";
    const { episode } = await engine.rank(request());
    const outcome = { reward: true, helpful: ["m1"], idempotencyKey: "once" };
    const queued = { status: "queued", episode, seq: 0 };
    expect(await engine.end(episode, outcome)).toEqual(queued);
    expect(await engine.end(episode, outcome)).toEqual(queued);
    expect(await engine.report(episode, outcome)).toEqual(queued);
    await expect(engine.report(episode, { ...outcome, reward: false })).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
    });
    faults.commit = "none";
    faults.readStates = "none";
    clock.now += 4_000;
    for (const ask of [engine.end, engine.report]) {
      expect(await ask(episode, outcome)).toEqual({ status: "duplicate", episode, seq: 2 });
    }
    expect(await engine.status()).toMatchObject({ outcomes: { user: 1 }, taught: 1 });
  });

  it("is the same under other rules of governance", async () => {
    const store = memoryStore();
    const outcome = { reward: true, source: "ann", idempotencyKey: "once" };
    const { engine, episode } = await testEpisode({}, { store, governance: governance({ trust: "audited" }) });
    await engine.end(episode, outcome);
    const later = testEngine({ store, prefix: "later", governance: governance({}) });
    expect(await later.engine.end(episode, outcome)).toEqual({ status: "duplicate", episode, seq: 2 });
  });

  it.each([
    ["another reward", { reward: 0.5 }],
    ["another tier", { tier: "user" }],
    ["another source", { source: "bob" }],
    ["another note", { note: "or so" }],
    ["a vote more", { helpful: ["m1", "d1"] }],
    ["a vote less", { helpful: [] }],
    ["a vote for another memory", { helpful: ["d1"] }],
    ["other uses", { used: ["m2"] }],
    ["unknown uses", { used: undefined }],
  ] as const)("is another one with %s", async (_, change) => {
    const { engine, episode } = await testEpisode();
    const outcome = { reward: true, tier: "verified", helpful: ["m1"], used: ["d0"], idempotencyKey: "once" } as const;
    await engine.report(episode, outcome);
    for (const ended of [false, true]) {
      const again = engine.report(episode, { ...outcome, ...change });
      await expect(again).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
      if (!ended) await engine.end(episode);
    }
    await expect(engine.end(episode, { ...outcome, ...change })).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
    });
    expect(await engine.end(episode, outcome)).toMatchObject({ status: "duplicate" });
  });

  it("is the same after its entry was compacted, where it names a memory by its handle", async () => {
    const { engine, clock, episode } = await testEpisode();
    const outcome = { reward: true, helpful: ["m1"], idempotencyKey: "once" };
    await engine.end(episode, outcome);
    clock.now += 1;
    await compact(engine, { namespace: "default", olderThan: 0 });
    expect(await engine.end(episode, outcome)).toEqual({ status: "duplicate", episode, seq: 2 });
  });

  it("is unknown where its key is free", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode, { reward: true });
    const asked = engine.end(episode, { reward: true, idempotencyKey: "new" });
    await expect(asked).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });
});

describe("a report that names a memory forgotten before its episode was recorded", () => {
  it("credits the others, and still refuses what was never shown", async () => {
    const { engine, episode } = await testEpisode();
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await engine.end(episode, { reward: true });
    await expect(engine.report(episode, { helpful: ["d9"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
    expect(await engine.report(episode, { helpful: ["d0", "d1"] })).toMatchObject({ status: "committed" });
    const { memories } = await engine.memories({ ids: ["d0", "d1"] });
    expect(memories.map(({ id, helpful }) => [id, helpful])).toEqual([
      ["d0", 0],
      ["d1", 1],
    ]);
  });
});

describe("a report that names a forgotten memory while the store goes away", () => {
  it("is to be repeated, and not refused for good", async () => {
    const { store, faults } = faultyStore();
    // The record can be read once: enough to see that it does not name the memory.
    const readStates: Store["readStates"] = async (...call) => {
      const states = await store.readStates(...call);
      if (call[1] === "episode" && failsNext) faults.readStates = "before";
      return states;
    };
    let failsNext = false;
    const { engine, episode } = await testEpisode({}, { store: { ...store, readStates } });
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await engine.end(episode);
    failsNext = true;
    const said = { reward: true, helpful: ["d0", "d1"] };
    await expect(engine.report(episode, said)).rejects.toMatchObject({ code: "STORE_FAILED" });
    failsNext = false;
    faults.readStates = "none";
    expect(await engine.report(episode, said)).toMatchObject({ status: "committed" });
  });
});
