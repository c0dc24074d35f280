import { createEngine, type Engine } from "@qavr/core";
import { compact, exportState, repair, verify } from "@qavr/core/maintenance";
import { cuttingProxy } from "@qavr/postgres-server";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { countIn, counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";
import { openStore, testServer } from "./support/server.js";

const server = await testServer();
const { pool } = server;

const checkpoint = { seq: 2, states: [{ ...NO_COUNT, value: Uint8Array.of(50) }] };

/** A schema whose ledger of five entries, two of them compacted away, was changed behind the store's back. */
async function tampered(change: (schema: string) => string): Promise<string> {
  const schema = server.schema();
  const store = postgresStore({ pool, schema, partitions: 2 });
  for (let i = 0; i < 5; i++) await store.commit("n", [tally(`k${i}`)], counting);
  await writeStates(store, "n", [NO_COUNT], checkpoint);
  await pool.query(change(`"${schema}"`));
  await store.close();
  return schema;
}

describe("a server that rounds numbers in its answers", () => {
  it("keeps the times of entries to the bit", async () => {
    await server.pool.query("create role rounding superuser login password 'secret'");
    await server.pool.query("alter role rounding set extra_float_digits = 0");
    const connectionString = server.url({ user: "rounding", password: "secret" });
    const store = openStore({ connectionString, schema: server.schema() });
    const at = 1_700_000_000_000.123;
    await store.commit("n", [{ ...tally("k"), at }], counting);
    expect(await store.readEntries("n", { limit: 1 })).toMatchObject([{ at }]);
    expect(await store.verify("n")).toMatchObject({ entries: 1, damaged: 0 });
  });
});

describe("verify of a PostgreSQL ledger", () => {
  it.each([
    ["an entry that is gone", (s: string) => `delete from ${s}.entry where seq = 4`, /place 5/, 4],
    ["the last entry gone", (s: string) => `delete from ${s}.entry where seq = 5`, /ends before its head/, 5],
    [
      "the last entry gone with its place",
      (s: string) => `delete from ${s}.entry where seq = 5; update ${s}.namespace set head = 4`,
      /last entry is not/,
      5,
    ],
    [
      "two entries that changed places",
      (s: string) => `update ${s}.entry set seq = 9 where seq = 3; update ${s}.entry set seq = 3 where seq = 4;
        update ${s}.entry set seq = 4 where seq = 9`,
      /digest/,
      3,
    ],
    ["another time", (s: string) => `update ${s}.entry set at = at + 1 where seq = 4`, /digest/, 4],
    ["another key", (s: string) => `update ${s}.entry set key = '\\x61' where seq = 4`, /digest/, 4],
    ["another type", (s: string) => `update ${s}.entry set type = '\\x61' where seq = 4`, /digest/, 4],
    ["another payload", (s: string) => `update ${s}.entry set payload = '\\x61' where seq = 4`, /digest/, 4],
    [
      "entries whose namespace is gone",
      (s: string) => `delete from ${s}.namespace; delete from ${s}.state; delete from ${s}.checkpoint_state`,
      /rows of entry/,
      undefined,
    ],
    [
      "states of a checkpoint whose namespace is gone",
      (s: string) => `delete from ${s}.namespace; delete from ${s}.entry; delete from ${s}.state`,
      /rows of checkpoint_state/,
      undefined,
    ],
    [
      "a namespace that has lost its head",
      (s: string) => `update ${s}.namespace set head = 0`,
      /rows of entry/,
      undefined,
    ],
    ["another name", (s: string) => `update ${s}.namespace set name = '\\x61'`, /name/, undefined],
    [
      "another state in the checkpoint",
      (s: string) => `update ${s}.checkpoint_state set value = '\\x00'`,
      /checkpoint/,
      2,
    ],
    ["no state in the checkpoint", (s: string) => `delete from ${s}.checkpoint_state`, /checkpoint/, 2],
    ["a compacted key that is gone", (s: string) => `delete from ${s}.entry where seq = 2`, /1 keys/, undefined],
    [
      "another compacted payload",
      (s: string) => `update ${s}.entry set payload = '\\x00' where seq = 2`,
      /key of a compacted/,
      2,
    ],
  ])("finds %s", async (_what, change, problem, seq) => {
    const store = openStore({ pool, schema: await tampered(change) });
    const check = await store.verify();
    expect(check.damaged).toBeGreaterThan(0);
    expect(check.damage[0]?.problem).toMatch(problem);
    if (seq !== undefined) expect(check.damage[0]).toMatchObject({ namespace: "n", seq });
    // A namespace whose name was changed is there no more under either.
    if (seq !== undefined) expect((await store.verify("n")).damaged).toBe(check.damaged);
  });

  it("reads no damaged entry and no damaged checkpoint as something else", async () => {
    const change = (s: string): string =>
      `update ${s}.entry set at = at + 1 where seq = 4; update ${s}.checkpoint_state set value = '\\x00'`;
    const store = openStore({ pool, schema: await tampered(change) });
    expect((await store.readEntries("n", { limit: 1 })).map(({ seq }) => seq)).toEqual([3]);
    for (const after of [0, 3]) {
      expect(await refusalOf(store.readEntries("n", { after, limit: 10 }))).toMatchObject({ code: "STORE_CORRUPT" });
    }
    expect(await refusalOf(store.readCheckpoint("n"))).toMatchObject({ code: "STORE_CORRUPT" });
    expect(await refusalOf(writeStates(store, "n", [], { seq: 5, states: [] }))).toMatchObject({
      code: "STORE_CORRUPT",
    });
    expect(await countIn(store)).toBe(0);
  });

  it.each([3, 2])(
    "does not take a ledger for ended after %i entries where the ones after them are gone",
    async (left) => {
      const store = openStore({
        pool,
        schema: await tampered((s) => `delete from ${s}.entry where seq > ${left}`),
      });
      for (const after of [0, left]) {
        expect(await refusalOf(store.readEntries("n", { after, limit: 10 }))).toMatchObject({
          code: "STORE_CORRUPT",
          details: { seq: left + 1 },
        });
      }
      if (left > 2) expect(await store.readEntries("n", { limit: left - 2 })).toHaveLength(left - 2);
    },
  );

  it("reads no entries of a namespace whose own row is gone", async () => {
    const store = openStore({ pool, schema: await tampered((s) => `delete from ${s}.namespace`) });
    for (const after of [0, 3]) {
      expect(await refusalOf(store.readEntries("n", { after, limit: 10 }))).toMatchObject({ code: "STORE_CORRUPT" });
    }
  });

  it("does not take a server that is out of reach for damage", async () => {
    const proxy = closing(await cuttingProxy(server.port));
    const store = openStore({ connectionString: proxy.url(server.url()), schema: server.schema() });
    await store.commit("n", [tally("a")], counting);
    proxy.block(true);
    for (const only of [undefined, "n"]) {
      expect(await refusalOf(store.verify(only))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
  });
});

describe("compaction of a PostgreSQL ledger", () => {
  it.each(["answered", "unsent"] as const)("whose commit is cut, %s, is done once and says so", async (moment) => {
    const proxy = closing(await cuttingProxy(server.port));
    const schema = server.schema();
    const store = openStore({ connectionString: proxy.url(server.url()), schema, prepare: false });
    for (let i = 0; i < 5; i++) await store.commit("n", [tally(`k${i}`)], counting);
    // The message that is nothing else: "read committed" begins the transaction.
    proxy.cut("commit\0", moment);
    expect(await writeStates(store, "n", [NO_COUNT], checkpoint)).toBe(true);
    expect(proxy.cuts).toBe(1);
    expect(await store.readCheckpoint("n")).toEqual(checkpoint);
    expect(await store.verify()).toMatchObject({ damaged: 0, entries: 3 });
  });

  it("is in its own process's rankings at once, also when the answer to its commit was lost", async () => {
    const proxy = closing(await cuttingProxy(server.port));
    const connectionString = proxy.url(server.url());
    const lagging = { staleness: 600_000, listen: false, prepare: false };
    const store = openStore({ connectionString, schema: server.schema(), ...lagging });
    for (let i = 0; i < 5; i++) await store.commit("n", [tally(`k${i}`)], counting);
    expect(await countIn(store, "n", { mayLag: true })).toBe(5);
    proxy.cut("commit\0", "answered");
    expect(await writeStates(store, "n", [NO_COUNT], checkpoint)).toBe(true);
    expect(await countIn(store, "n", { mayLag: true })).toBe(0);
  });

  it("of several processes at once changes the states of one after the other", async () => {
    const schema = server.schema();
    const stores = Array.from({ length: 4 }, () => openStore({ pool, schema }));
    const [store] = stores as [(typeof stores)[number]];
    for (let i = 0; i < 5; i++) await store.commit("n", [tally(`k${i}`)], counting);
    await writeStates(store, "n", [NO_COUNT], { seq: 4, states: [] });
    const change = (value: number) => ({ seq: 4, states: [{ scope: "s", id: "m", value: Uint8Array.of(value) }] });
    for (let round = 0; round < 5; round++) {
      await Promise.all(stores.map((each, place) => writeStates(each, "n", [NO_COUNT], change(place))));
      expect(await store.verify()).toMatchObject({ damaged: 0 });
      await writeStates(store, "n", [NO_COUNT], { seq: 4, states: [{ scope: "s", id: "m", value: null }] });
    }
  });

  it("is seen by other handles that have the states cached", async () => {
    const schema = server.schema();
    const [one, other] = [openStore({ pool, schema }), openStore({ pool, schema })];
    for (let i = 0; i < 5; i++) await one.commit("n", [tally(`k${i}`)], counting);
    expect(await countIn(other)).toBe(5);
    await writeStates(other, "n", [NO_COUNT], checkpoint);
    expect(await countIn(one)).toBe(0);
    expect(await one.commit("n", [tally("k1"), tally("k5")], counting)).toEqual([
      { status: "duplicate", seq: 2 },
      { status: "committed", seq: 6 },
    ]);
    expect(await countIn(other)).toBe(1);
  });
});

describe("an engine on PostgreSQL", () => {
  const learned = async (schema: string): Promise<Engine> => {
    const clock = { now: 1_767_225_600_000 };
    const engine = closing(
      createEngine({ store: postgresStore({ pool, schema, partitions: 2 }), clock: () => clock.now }),
    );
    for (let run = 0; run < 20; run++) {
      clock.now += 1_000;
      const candidates = Array.from({ length: 8 }, (_, i) => ({
        id: `m${(run * 5 + i) % 40}`,
        similarity: 0.9 - i / 20,
      }));
      const { episode } = await engine.rank({ text: `request ${run % 7}`, candidates, topK: 4 });
      await engine.end(episode, { reward: run % 3 !== 0, idempotencyKey: `run-${run}` });
    }
    return engine;
  };

  it("compacts, verifies, and builds states again that do not follow from the ledger", async () => {
    const schema = server.schema();
    const engine = await learned(schema);
    const before = await exportState(engine);
    expect(await compact(engine, { namespace: "default", olderThan: 10_000 })).toMatchObject({
      checkpoint: 18,
      dropped: 18,
    });
    expect(await exportState(engine)).toEqual(before);
    expect(await verify(engine)).toMatchObject({ ok: true, digest: expect.stringMatching(/^[0-9a-f]{32}$/) });
    await pool.query(`update ${schema}.state set value = '\\x00' where right(encode(id, 'hex'), 1) in ('1', '3', '5')`);
    await pool.query(`update ${schema}.namespace set revision = revision + 1`);
    expect(await verify(engine)).toMatchObject({ ok: false, damaged: 0 });
    expect(await repair(engine)).toMatchObject({ rebuilt: ["default"], after: { ok: true } });
    expect(await exportState(engine)).toEqual(before);
  });

  it("is verified under a login that may only read, which may compact nothing", async () => {
    const schema = server.schema();
    await learned(schema);
    await pool.query("create role reader login password 'secret'");
    await pool.query(
      `grant usage on schema ${schema} to reader; grant select on all tables in schema ${schema} to reader`,
    );
    const connectionString = server.url({ user: "reader", password: "secret" });
    const store = openStore({ connectionString, schema, migrate: false });
    expect(await store.verify()).toEqual(await postgresStore({ pool, schema }).verify());
    const head = await store.head("default");
    const everything = writeStates(store, "default", [], { seq: head, states: [] });
    expect(await refusalOf(everything)).toMatchObject({ code: "STORE_DENIED" });
    expect(await store.readCheckpoint("default")).toBeUndefined();
  });

  it("repairs what it may under a login that owns nothing, and leaves indexes to their owner", async () => {
    const schema = server.schema();
    await learned(schema);
    await pool.query("create role worker login password 'secret'");
    await pool.query(`grant usage on schema ${schema} to worker`);
    await pool.query(`grant select, insert, update, delete on all tables in schema ${schema} to worker`);
    await pool.query(`update ${schema}.state set value = '\\x00' where right(encode(id, 'hex'), 1) = '1'`);
    const connectionString = server.url({ user: "worker", password: "secret" });
    const engine = closing(createEngine({ store: postgresStore({ connectionString, schema }) }));
    expect(await repair(engine)).toMatchObject({ rebuilt: ["default"], after: { ok: true } });
  });
});
