import type { Store } from "@qavr/core";
import { type CuttingProxy, cuttingProxy } from "@qavr/postgres-server";
import { writeStates } from "@qavr/store-conformance";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { type PostgresStoreOptions, postgresStore } from "../src/index.js";
import { heldPool } from "./support/held-pool.js";
import { interceptedPool } from "./support/intercepted-pool.js";
import { ledgers } from "./support/ledgers.js";
import { refusalOf } from "./support/refusal.js";
import { testServer } from "./support/server.js";
import { SOON } from "./support/soon.js";

const server = await testServer();
const { ledger } = ledgers(server.pool, { partitions: 2 });

/** Last statement of a commit, with the lock, and the one that writes. Prepared statements are known by their names only. */
const COMMIT = "commit";
const LOCKLESS = "with moved as";

describe("a commit whose connection is cut", () => {
  let proxy: CuttingProxy;
  const open = (schema: string) =>
    postgresStore({ connectionString: proxy.url(server.url()), schema, prepare: false, maxConnections: 2 });
  beforeAll(async () => {
    proxy = await cuttingProxy(server.port);
  });
  afterAll(() => proxy.close());

  it.each(["answered", "unsent"] as const)(
    "under the lock, %s, is kept once and acknowledged in its place",
    async (moment) => {
      const store = open(await ledger());
      await store.head("n");
      const cutsBefore = proxy.cuts;
      // The message that is nothing else: "read committed" begins the transaction.
      proxy.cut(`${COMMIT}\0`, moment);
      const receipts = await Promise.all([
        store.commit("n", [tally("a"), tally("b")], counting),
        store.commit("n", [tally("b"), tally("c")], counting),
      ]);
      expect(proxy.cuts).toBe(cutsBefore + 1);
      expect(receipts).toEqual([
        [
          { status: "committed", seq: 1 },
          { status: "committed", seq: 2 },
        ],
        [
          { status: "duplicate", seq: 2 },
          { status: "committed", seq: 3 },
        ],
      ]);
      expect([await countIn(store), await store.head("n")]).toEqual([3, 3]);
      await store.close();
    },
  );

  it.each(["answered", "unsent"] as const)(
    "without the lock, %s, is kept once and acknowledged in its place",
    async (moment) => {
      const store = open(await ledger());
      await store.commit("n", [tally("a")], counting);
      const cutsBefore = proxy.cuts;
      proxy.cut(LOCKLESS, moment);
      expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
      expect(proxy.cuts).toBe(cutsBefore + 1);
      expect([await countIn(store), await store.head("n")]).toEqual([2, 2]);
      await store.close();
    },
  );

  it.concurrent.each([COMMIT, LOCKLESS])(
    "by an error that leaves open whether it was kept is looked up: %s",
    async (statement) => {
      let isArmed = false;
      let refused = 0;
      let isDown = false;
      let isDownNext = false;
      const pool = interceptedPool(server.pool, async ({ text }, send) => {
        if (isDown) throw Object.assign(new Error("connection to the remote node failed"), { code: "08006" });
        const answer = await send();
        if (!isArmed || !text.startsWith(statement)) return answer;
        isArmed = false;
        refused += 1;
        isDown = isDownNext;
        throw Object.assign(new Error("could not commit transaction for shard 1"), { code: "XX000" });
      });
      const store = postgresStore({ pool, schema: await ledger() });
      await store.head("n");
      if (statement === LOCKLESS) await store.commit("n", [tally("0")], counting);
      const seq = (await store.head("n")) + 1;
      isArmed = true;
      expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq }]);
      expect([refused, await countIn(store)]).toEqual([1, seq]);
      // Until the process knows itself to be alone again.
      const between = statement === LOCKLESS ? ["c", "d"] : [];
      for (const key of between) await store.commit("n", [tally(key)], counting);
      isArmed = true;
      isDownNext = true;
      await expect(store.commit("n", [tally("b")], counting)).rejects.toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
      isDown = false;
      expect(await store.commit("n", [tally("b")], counting)).toEqual([
        { status: "duplicate", seq: seq + 1 + between.length },
      ]);
      await store.close();
    },
  );

  it.concurrent.each([
    ["XX000", "postmaster was shut down, exiting", true, "committed"],
    ["08006", "connection to the remote node db@worker:5432 failed: Connection refused", false, "STORE_UNAVAILABLE"],
  ])("is tried again where that may help: %s %s", async (code, message, isRepeated, expected) => {
    let tried = 0;
    let isArmed = false;
    const pool = interceptedPool(server.pool, async ({ text }, send) => {
      if (isArmed && text.includes("for update") && ++tried === 1) throw Object.assign(new Error(message), { code });
      return send();
    });
    const store = postgresStore({ pool, schema: await ledger() });
    await store.head("n");
    isArmed = true;
    const answer = store.commit("n", [tally("a")], counting).then(
      ([receipt]) => receipt?.status,
      (error) => error.code,
    );
    expect([await answer, tried > 1]).toEqual([expected, isRepeated]);
    await store.close();
  });

  it.concurrent("says that its result is unknown when the server cannot be asked, and repeating it counts it once", async () => {
    const store = open(await ledger());
    await store.commit("n", [tally("a")], counting);
    proxy.cut(LOCKLESS, "answered");
    const refused = store.commit("n", [tally("b")], counting);
    const cutsBefore = proxy.cuts;
    while (proxy.cuts === cutsBefore) await new Promise((resolve) => setTimeout(resolve, 1));
    proxy.block(true);
    await expect(refused).rejects.toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    // Nothing of this one can have been kept: no connection came about.
    await expect(store.commit("n", [tally("c")], counting)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(store.head("n")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    proxy.block(false);
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "duplicate", seq: 2 }]);
    expect(await store.commit("n", [tally("c")], counting)).toEqual([{ status: "committed", seq: 3 }]);
    expect(await countIn(store)).toBe(3);
    await store.close();
  });

  it.concurrent("lets go of the lock when its process stops in the middle, and is kept once when that goes on", async () => {
    const schema = await ledger();
    const other = postgresStore({ pool: server.pool, schema });
    const pool = heldPool(server.pool);
    const store = postgresStore({ pool, schema, statementTimeout: 1_500 });
    await other.head("n");
    const stopped = pool.hold(COMMIT, "statement");
    const late = store.commit("n", [tally("late")], counting);
    await stopped.isHeld;
    expect(await other.commit("n", [tally("other")], counting)).toEqual([{ status: "committed", seq: 1 }]);
    stopped.letGo();
    expect(await late).toEqual([{ status: "committed", seq: 2 }]);
    expect(await countIn(other)).toBe(2);
    for (const each of [store, other]) await each.close();
  });

  const OTHER = { scope: "stats", id: "other", value: Uint8Array.of(1) };
  it.concurrent.each([
    ["writes states of", LOCKLESS, async (store: Store) => writeStates(store, "n", [OTHER])],
    ["compacts", "update", async (store: Store) => writeStates(store, "n", [], { seq: 1, states: [] })],
    ["erases", "commit", async (store: Store) => store.eraseNamespace("n")],
  ])("is not kept waiting by a process that stops while it %s the namespace", async (_, before, work) => {
    const schema = await ledger();
    const other = postgresStore({ pool: server.pool, schema });
    await other.commit("n", [tally("a")], counting);
    const pool = heldPool(server.pool);
    const store = postgresStore({ pool, schema, statementTimeout: 1_500 });
    const stopped = pool.hold(before, "statement");
    const late = work(store);
    await stopped.isHeld;
    expect(await other.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
    stopped.letGo();
    await late;
    for (const each of [store, other]) await each.close();
  });

  it("goes through on another connection when the one at hand had broken while nobody looked", async () => {
    const store = open(await ledger());
    await store.commit("n", [tally("a")], counting);
    await server.pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'qavr'");
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
    await server.pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'qavr'");
    expect(await countIn(store)).toBe(2);
    await store.close();
  });
});

describe.concurrent("a process that stops while it verifies", () => {
  it("keeps no old rows alive, and verifies when it goes on", async ({ expect }) => {
    const schema = await ledger();
    const own = new Pool({ connectionString: server.url(), application_name: "verifier" });
    own.on("error", () => {});
    const writing = postgresStore({ pool: server.pool, schema });
    await writing.commit("n", [tally("a")], counting);
    const pool = heldPool(own);
    const stopped = pool.hold("select seq, key, type, float8send", "statement");
    const store = postgresStore({ pool, schema, statementTimeout: 1_500 });
    const check = store.verify("n");
    const reading = async () =>
      (
        await server.pool.query(
          "select from pg_stat_activity where application_name = 'verifier' and state = 'idle in transaction'",
        )
      ).rowCount;
    await expect.poll(reading, SOON).toBe(1);
    await expect.poll(reading, SOON).toBe(0);
    stopped.letGo();
    expect(await check).toMatchObject({ damaged: 0, entries: 1 });
    for (const each of [store, writing]) await each.close();
    await own.end();
  });
});

describe.concurrent("a connection that falls silent", () => {
  const proxies: CuttingProxy[] = [];
  afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));
  const open = async (options: Partial<PostgresStoreOptions> = {}) => {
    const proxy = await cuttingProxy(server.port);
    proxies.push(proxy);
    const store = postgresStore({
      connectionString: proxy.url(server.url()),
      schema: server.schema(),
      statementTimeout: 1_500,
      lockTimeout: 1_500,
      ...options,
    });
    return { store, proxy };
  };

  it("during the first call holds nobody up for longer than any other statement", async () => {
    const { store, proxy } = await open();
    proxy.silence("pg_catalog.pg_namespace");
    expect(await store.head("n")).toBe(0);
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq: 1 }]);
    await store.close();
  });

  it("during an erasure keeps nobody else from writing, and closing gives the erasure up", async () => {
    const schema = await ledger();
    const { store, proxy } = await open({ schema, writers: 1 });
    for (const namespace of ["n", "m"]) await store.commit(namespace, [tally("a")], counting);
    proxy.silence("delete from");
    const erasing = refusalOf(store.eraseNamespace("n"));
    const later = refusalOf(store.eraseNamespace("o"));
    expect(await store.commit("m", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
    const last = store.commit("n", [tally("b")], counting);
    await store.close();
    for (const refusal of [erasing, later]) expect(await refusal).toMatchObject({ code: "STORE_CLOSED" });
    expect(await last).toEqual([{ status: "committed", seq: 2 }]);
    const other = postgresStore({ pool: server.pool, schema });
    expect(await countIn(other)).toBe(2);
    expect(await other.commit("n", [tally("c")], counting)).toEqual([{ status: "committed", seq: 3 }]);
    await other.close();
  });
});

describe("a session that has become useless", () => {
  it("because its server is read only is replaced as soon as the address leads to another", async () => {
    const schema = server.schema();
    await server.pool.query("create role moved login password 'secret'");
    await server.pool.query(`create schema ${schema} authorization moved`);
    const store = postgresStore({ connectionString: server.url({ user: "moved", password: "secret" }), schema });
    await store.commit("n", [tally("a")], counting);
    await store.close();
    // Initial settings of a session hold to its end, as on the server behind the pooler.
    await server.pool.query("alter role moved set default_transaction_read_only = on");
    const stale = postgresStore({ connectionString: server.url({ user: "moved", password: "secret" }), schema });
    await Promise.all([1, 2, 3].map(() => stale.head("n")));
    await expect(stale.commit("n", [tally("b")], counting)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    await Promise.all([1, 2, 3].map(() => stale.head("n")));
    await server.pool.query("alter role moved reset default_transaction_read_only");
    const keys = ["b", "c", "d"];
    const receipts = await Promise.all(keys.map((key) => stale.commit(`n-${key}`, [tally(key)], counting)));
    expect(receipts).toEqual(keys.map(() => [{ status: "committed", seq: 1 }]));
    await stale.close();
  });

  it("leaves no doubt about a commit that it refused, also when no other session can be had", async () => {
    const proxy = await cuttingProxy(server.port);
    const own = new Pool({ connectionString: proxy.url(server.url()), max: 1 });
    own.on("error", () => {});
    const pool = interceptedPool(own, async ({ text }, send) => {
      const answer = send();
      if (text.startsWith(LOCKLESS)) await answer.catch(() => proxy.block(true));
      return answer;
    });
    const store = postgresStore({ pool, schema: await ledger() });
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    await own.query("set default_transaction_read_only = on");
    expect(await refusalOf(store.commit("n", [tally("c")], counting))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
    await own.end();
    await proxy.close();
  });

  it("because it has forgotten its prepared statements is replaced", async () => {
    const pool = new Pool({ connectionString: server.url(), max: 1 });
    pool.on("error", () => {});
    const store = postgresStore({ pool, schema: await ledger() });
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    await pool.query("discard all");
    expect(await store.commit("n", [tally("c")], counting)).toEqual([{ status: "committed", seq: 3 }]);
    await pool.query("discard all");
    expect([await store.head("n"), await countIn(store)]).toEqual([3, 3]);
    await store.close();
    await pool.end();
  });
});
