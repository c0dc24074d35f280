import { describe, expect, it } from "vitest";
import { type Learner, memoryStore, type OutcomeInput, qValue, type Store } from "../src/index.js";
import type { RevokeOptions } from "../src/maintenance/index.js";
import { exportState, replay, revoke } from "../src/maintenance/index.js";
import {
  DAY,
  evidenceIn,
  ids,
  MINUTE,
  oneRun,
  request,
  START,
  snapshot,
  testEngine,
  testEpisode,
} from "./support/test-engine.js";
import { writeStates } from "./support/write-states.js";

type Engine = ReturnType<typeof testEngine>["engine"];

/** Runs that failed by an honest word, each then called a success by `source`, a minute apart. */
async function past({ engine, clock }: ReturnType<typeof testEngine>, source: string, runs = 10): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const { episode } = await engine.rank(request({ keepOrder: true, aliases: [`${source} ${run}`] }));
    await engine.end(episode, { reward: false, tier: "self-reported", source: "agent" });
    await engine.report(episode, { reward: true, source, helpful: ["m1"] });
    clock.now += MINUTE;
  }
}

const evidence = async (engine: Engine): Promise<number> =>
  (await exportState(engine)).memories.reduce(
    (sum, { state }) => sum + (state as { readonly evidence: number }).evidence,
    0,
  );

describe("revoking a source", () => {
  it("ranks as if it had never spoken: what it overruled counts again", async () => {
    const told = testEngine();
    await past(told, "liar");
    const lied = ids(await told.engine.rank(request({ record: false })));
    const report = await revoke(told.engine, { namespace: "default", source: "liar" });
    expect(report).toEqual({
      namespace: "default",
      checkpoint: 0,
      outcomes: 10,
      episodes: 10,
      memories: 3,
      seq: 31,
      dryRun: false,
    });

    const never = testEngine();
    for (let run = 0; run < 10; run++) {
      const { episode } = await never.engine.rank(request({ keepOrder: true }));
      await never.engine.end(episode, { reward: false, tier: "self-reported", source: "agent" });
      never.clock.now += MINUTE;
    }
    expect(await exportState(told.engine)).toEqual(await exportState(never.engine));
    const preview = request({ record: false });
    expect(await told.engine.rank(preview)).toEqual(await never.engine.rank(preview));
    expect(ids(await told.engine.rank(preview))).not.toEqual(lied);
    expect(await told.engine.status()).toMatchObject({
      outcomes: { user: 0, "self-reported": 10 },
      corrections: 0,
      revocations: 1,
      rebuildPending: false,
      taught: 10,
    });
    expect((await told.engine.explain("liar 0"))?.outcome).toMatchObject({ source: "agent" });
  });

  it("keeps its words in the ledger, and every replay leaves them out, by another learner too", async () => {
    const { engine, store, clock, logs } = testEngine();
    await past({ engine, store, clock, logs }, "liar");
    const entries = await store.readEntries("default", { limit: 100 });
    await revoke(engine, { namespace: "default", source: "liar" });
    expect((await store.readEntries("default", { limit: 100 })).slice(0, 30)).toEqual(entries);
    expect(await replay(engine)).toMatchObject({ identical: true, entries: 31 });
    const other = testEngine({ store, prefix: "other", learner: qValue() as Learner }).engine;
    await replay(other, { write: true });
    expect((await other.status()).outcomes).toMatchObject({ user: 0, "self-reported": 10 });
    expect(logs).toMatchObject([{ level: "info", fields: { code: "OUTCOMES_REVOKED", outcomes: 10, seq: 31 } }]);
  });

  it("is about the past: what it says later counts, and the same word again is no new one", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    const word: OutcomeInput = { reward: true, source: "tester", idempotencyKey: "word" };
    await engine.end(episode, word);
    await revoke(engine, { namespace: "default", source: "tester" });
    expect(await evidence(engine)).toBe(0);
    expect(await engine.report(episode, word)).toMatchObject({ status: "duplicate" });
    expect(await evidence(engine)).toBe(0);
    await engine.report(episode, { ...word, idempotencyKey: "later word" });
    expect(await evidence(engine)).toBe(1);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("may be done twice: the second takes out what came in between and nothing else", async () => {
    const told = testEngine();
    await past(told, "liar", 4);
    await revoke(told.engine, { namespace: "default", source: "liar" });
    const states = (await snapshot(told.store)) as { readonly states: unknown };
    await past(told, "liar", 2);
    const dry = await revoke(told.engine, { namespace: "default", source: "liar", dryRun: true });
    expect(dry).toMatchObject({ outcomes: 2, episodes: 2 });
    expect(await revoke(told.engine, { namespace: "default", source: "liar" })).toMatchObject({ outcomes: 2 });
    expect(await revoke(told.engine, { namespace: "default", source: "liar" })).toMatchObject({
      outcomes: 0,
      memories: 0,
    });
    expect(await replay(told.engine)).toMatchObject({ identical: true });
    expect(states).not.toEqual(await snapshot(told.store));
  });

  it("leaves other sources, other namespaces and votes of others alone", async () => {
    const told = testEngine();
    const { engine, store } = told;
    await past(told, "honest", 3);
    await oneRun(engine, request({ namespace: "other" }), { reward: true, source: "liar" });
    const before = [await exportState(engine), await snapshot(store, "other")];
    expect(await revoke(engine, { namespace: "default", source: "liar" })).toMatchObject({ outcomes: 0, memories: 0 });
    expect([await exportState(engine), await snapshot(store, "other")]).toEqual(before);
  });
});

describe("revoking a range", () => {
  const taken = async (options: Partial<RevokeOptions>): Promise<number> => {
    const told = testEngine();
    await past(told, "a", 3);
    told.clock.now = START + DAY;
    await past(told, "b", 3);
    const asked = { namespace: "default", ...options };
    const dry = await revoke(told.engine, { ...asked, dryRun: true });
    const { outcomes, episodes, memories } = await revoke(told.engine, asked);
    expect(dry).toMatchObject({ outcomes, episodes, memories });
    expect(await replay(told.engine)).toMatchObject({ identical: true });
    return outcomes;
  };

  it("takes the outcomes of a time, ends included, of whatever source", async () => {
    expect(await taken({ from: START + DAY })).toBe(6);
    expect(await taken({ to: START + DAY - 1 })).toBe(6);
    expect(await taken({ from: START + MINUTE, to: START + 2 * MINUTE })).toBe(4);
    expect(await taken({ from: START + 2 * DAY })).toBe(0);
  });

  it("takes the outcomes of a range of places", async () => {
    // Each run is an exposure and two outcomes.
    expect(await taken({ fromSeq: 1, toSeq: 3 })).toBe(2);
    expect(await taken({ fromSeq: 3, toSeq: 3 })).toBe(1);
    expect(await taken({ fromSeq: 10 })).toBe(6);
    expect(await taken({ toSeq: 1_000 })).toBe(12);
  });

  it("takes what meets every condition", async () => {
    expect(await taken({ source: "b", fromSeq: 1, toSeq: 12 })).toBe(1);
    expect(await taken({ source: "a", from: START + DAY })).toBe(0);
    expect(await taken({ source: "a", from: START + MINUTE, to: START + DAY, toSeq: 6 })).toBe(1);
  });
});

describe("rankings while the states are built again", () => {
  /** A store whose ledger cannot be folded while it is `broken`: everything before the rebuild still works. */
  function unfoldable(): {
    readonly store: Store;
    broken: boolean;
    before(): Promise<void>;
  } {
    const inner = memoryStore();
    const told = {
      broken: false,
      before: async (): Promise<void> => {},
      store: {
        ...inner,
        async commit(...call: Parameters<Store["commit"]>) {
          if (call[1][0]?.type === "revoke") await told.before();
          return inner.commit(...call);
        },
        async readCheckpoint(namespace: string) {
          if (told.broken) throw new Error("killed");
          return inner.readCheckpoint?.(namespace);
        },
      } as Store,
    };
    return told;
  }
  const preview = request({ record: false });
  const alone = ids({ items: preview.candidates.slice(0, 3) });

  it("know nothing of the memories that the revoked outcomes have taught, in other processes too", async () => {
    const folding = unfoldable();
    const told = testEngine({ store: folding.store });
    const other = testEngine({ store: folding.store, prefix: "other" });
    const last = [...preview.candidates].reverse();
    for (let run = 0; run < 10; run++) {
      const { episode } = await told.engine.rank(
        request({ candidates: last, keepOrder: true, aliases: [`liar ${run}`] }),
      );
      await told.engine.end(episode, { reward: true, source: "liar" });
    }
    const { episode } = await told.engine.rank(request({ candidates: [{ id: "bystander", similarity: 0.9 }] }));
    await told.engine.end(episode, { reward: true, source: "honest" });
    expect(ids(await other.engine.rank(preview))).not.toEqual(alone);
    const { bystander: known = 0 } = await evidenceIn(other.engine);
    const bystander = { bystander: known };
    folding.broken = true;
    await expect(revoke(told.engine, { namespace: "default", source: "liar" })).rejects.toThrow("killed");
    for (const { engine } of [told, other]) {
      expect(ids(await engine.rank(preview))).toEqual(alone);
      expect((await engine.rank(preview)).items.map((item) => item.evidence)).toEqual([0, 0, 0]);
      expect(await evidenceIn(engine)).toEqual(bystander);
      expect(await engine.status()).toMatchObject({ rebuildPending: true });
    }

    // They learn meanwhile, as unknown memories do; a correction of an outcome that they no longer know does not reach them.
    await other.engine.report("liar 0", { reward: false, tier: "verified" });
    expect(await evidenceIn(other.engine)).toEqual(bystander);
    folding.broken = false;
    expect(await replay(other.engine, { write: true })).toMatchObject({ identical: false, written: true });
    expect(await replay(told.engine)).toMatchObject({ identical: true });
    expect(await told.engine.status()).toMatchObject({ rebuildPending: false, outcomes: { user: 1, verified: 1 } });
    expect(await evidenceIn(told.engine)).toMatchObject({ d9: expect.any(Number), ...bystander });
  });

  it("know nothing of what is taught between the search for the memories and the revocation", async () => {
    const folding = unfoldable();
    const told = testEngine({ store: folding.store });
    const other = testEngine({ store: folding.store, prefix: "other" });
    await past(told, "liar", 1);
    const again = await other.engine.rank(request({ candidates: [{ id: "later", similarity: 0.9 }] }));
    folding.before = async () => {
      await other.engine.end(again.episode, { reward: true, source: "liar" });
      expect(await evidenceIn(other.engine)).toHaveProperty("later");
    };
    folding.broken = true;
    await expect(revoke(told.engine, { namespace: "default", source: "liar" })).rejects.toThrow("killed");
    expect(await evidenceIn(other.engine)).toEqual({});
  });

  it("know nothing of more memories than are made unknown at once", async () => {
    const folding = unfoldable();
    const told = testEngine({ store: folding.store });
    for (let run = 0; run < 12; run++) {
      const many = Array.from({ length: 100 }, (_, i) => ({ id: `${run}/${i}`, similarity: 0.9 - i / 1_000 }));
      await oneRun(told.engine, request({ candidates: many, topK: 100 }), { reward: true, source: "liar" });
    }
    folding.broken = true;
    await expect(revoke(told.engine, { namespace: "default", source: "liar" })).rejects.toThrow("killed");
    expect(await evidenceIn(told.engine)).toEqual({});
    folding.broken = false;
    await replay(told.engine, { write: true });
    expect(await replay(told.engine)).toMatchObject({ identical: true });
  });

  it("still know what an earlier revocation has left", async () => {
    const folding = unfoldable();
    const told = testEngine({ store: folding.store });
    await past(told, "liar", 3);
    await revoke(told.engine, { namespace: "default", source: "liar" });
    const known = await evidenceIn(told.engine);
    folding.broken = true;
    await expect(revoke(told.engine, { namespace: "default", source: "liar" })).rejects.toThrow("killed");
    expect(await evidenceIn(told.engine)).toEqual(known);
  });
});

describe("a dry run", () => {
  it("says what would change and changes nothing, in ledger or state", async () => {
    const told = testEngine();
    await past(told, "liar");
    const before = await snapshot(told.store);
    expect(await revoke(told.engine, { namespace: "default", source: "liar", dryRun: true })).toEqual({
      namespace: "default",
      checkpoint: 0,
      outcomes: 10,
      episodes: 10,
      memories: 3,
      seq: 0,
      dryRun: true,
    });
    expect(await snapshot(told.store)).toEqual(before);
    expect(told.logs).toEqual([]);
  });
});

describe("a revocation", () => {
  it("of an empty namespace does nothing, and does not make it known", async () => {
    const { engine, store } = testEngine();
    expect(await revoke(engine, { namespace: "nobody", source: "liar" })).toMatchObject({ outcomes: 0, seq: 0 });
    expect(await store.namespaces({ limit: 10 })).toEqual([]);
  });

  it("that was broken off before the states were built shows in status, and replay completes it", async () => {
    const inner = memoryStore();
    let broken = true;
    const store: Store = {
      ...inner,
      async atHead(...call) {
        if (broken && call[1].write) throw new Error("connection lost");
        return inner.atHead(...call);
      },
    };
    const told = testEngine({ store });
    await past(told, "liar", 3);
    await expect(revoke(told.engine, { namespace: "default", source: "liar" })).rejects.toThrow("connection lost");
    expect(await told.engine.status()).toMatchObject({ revocations: 1, rebuildPending: true, outcomes: { user: 3 } });
    expect(await replay(told.engine)).toMatchObject({ identical: false });
    broken = false;
    await replay(told.engine, { write: true });
    expect(await told.engine.status()).toMatchObject({ revocations: 1, rebuildPending: false, outcomes: { user: 0 } });
    expect(await replay(told.engine)).toMatchObject({ identical: true });
  });

  it("holds while others write: it goes on from where it was instead of starting again", async () => {
    const inner = memoryStore();
    const writer = testEngine({ store: inner, prefix: "writer" }).engine;
    let writes = 2;
    let read = 0;
    let scans = 0;
    const store: Store = {
      ...inner,
      async scanStates(...call) {
        if (call[1] === "episode") scans += 1;
        return inner.scanStates(...call);
      },
      async readEntries(...call) {
        const entries = await inner.readEntries(...call);
        read += entries.length;
        return entries;
      },
      async atHead(...call) {
        if (writes-- > 0) await writer.end((await writer.rank(request())).episode, { reward: true, source: "liar" });
        return inner.atHead(...call);
      },
    };
    const told = testEngine({ store });
    await past(told, "liar", 3);
    const report = await revoke(told.engine, { namespace: "default", source: "liar" });
    expect(report).toMatchObject({ outcomes: 3 });
    // Nine entries to find the memories; they and the revocation to fold. Those of the writer come with the lock.
    expect(read).toBe(19);
    // One comparison finds what differs, the other that nothing does: not even the bands that the writer listed memories in.
    expect(scans).toBe(2);
    expect(await told.engine.status()).toMatchObject({ outcomes: { user: 2 }, rebuildPending: false });
    expect(await replay(told.engine)).toMatchObject({ identical: true });
  });

  it("gives up where writers spoil its states again and again, and says how to complete it", async () => {
    const inner = memoryStore();
    const spoil: Store["atHead"] = async (namespace, given) => {
      const done = await inner.atHead(namespace, given);
      const states = (await inner.scanStates(namespace, "memory:default", { limit: 10 })).map(({ id }) => id);
      const wrong = states.map((id) => ({ scope: "memory:default", id, value: Uint8Array.of(states.length) }));
      await writeStates(inner, namespace, wrong);
      return done;
    };
    const told = testEngine({ store: { ...inner, atHead: spoil } });
    await past(told, "liar", 1);
    await expect(revoke(told.engine, { namespace: "default", source: "liar" })).rejects.toMatchObject({
      code: "STORE_BUSY",
      message: expect.stringContaining("completes a revocation"),
    });
  });

  it("needs the learner that wrote the states, before it is recorded", async () => {
    const told = testEngine();
    await past(told, "liar", 1);
    const other = testEngine({ store: told.store, learner: qValue() as Learner, prefix: "other" }).engine;
    for (const dryRun of [true, false]) {
      await expect(revoke(other, { namespace: "default", source: "liar", dryRun })).rejects.toMatchObject({
        code: "LEARNER_MISMATCH",
      });
    }
    expect((await told.engine.status()).revocations).toBe(0);
  });

  it.each<readonly [string, unknown, string]>([
    ["no object", undefined, "INVALID_ARGUMENT"],
    ["no namespace", { source: "a" }, "INVALID_ID"],
    ["no condition", { namespace: "default" }, "INVALID_ARGUMENT"],
    ["a condition that is undefined", { namespace: "default", source: undefined, from: 0 }, "INVALID_ARGUMENT"],
    ["a misspelt condition", { namespace: "default", from: 0, sources: "a" }, "INVALID_ARGUMENT"],
    ["only a dry run", { namespace: "default", dryRun: true }, "INVALID_ARGUMENT"],
    ["an empty source", { namespace: "default", source: "" }, "INVALID_ID"],
    ["a time that is none", { namespace: "default", from: Number.NaN }, "INVALID_ARGUMENT"],
    ["a date", { namespace: "default", to: new Date() }, "INVALID_ARGUMENT"],
    ["a time that ends before it begins", { namespace: "default", from: 2, to: 1 }, "INVALID_ARGUMENT"],
    ["a place that is none", { namespace: "default", fromSeq: 1.5 }, "INVALID_ARGUMENT"],
    ["places that end before they begin", { namespace: "default", fromSeq: 2, toSeq: 1 }, "INVALID_ARGUMENT"],
    ["a dry run of another kind", { namespace: "default", source: "a", dryRun: "yes" }, "INVALID_ARGUMENT"],
  ])("with %s is refused", async (_, options, code) => {
    const { engine } = testEngine();
    await expect(revoke(engine, options as RevokeOptions)).rejects.toMatchObject({ code });
  });
});
