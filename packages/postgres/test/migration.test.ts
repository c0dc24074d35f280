import { sqliteStore } from "@qavr/sqlite";
import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { type PgPool, postgresStore } from "../src/index.js";
import { countIn, counting, tally } from "./support/counting.js";
import { firstSchemaLedger } from "./support/first-schema.js";
import { refusalOf } from "./support/refusal.js";
import { testServer } from "./support/server.js";

const server = await testServer();
const { pool } = server;
/** More than are chained at once. */
const ENTRIES = 1_500;

const versionOf = async (schema: string): Promise<number> =>
  (await pool.query(`select version from ${schema}.ledger`)).rows[0].version;

/** A pool whose connections are ended by the server when they send this text for the second time. */
function dyingAt(text: string): PgPool {
  return {
    async connect() {
      const client = await pool.connect();
      let seen = 0;
      return {
        async query(sent) {
          if (sent.text.includes(text) && ++seen === 2)
            await client.query("select pg_terminate_backend(pg_backend_pid())");
          return client.query(sent);
        },
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event as "error", listener),
        removeListener: (event, listener) => client.removeListener(event as "error", listener),
      };
    },
  };
}

describe("a ledger of the first schema", () => {
  it.each([0, 3])("in %i partitions gets its digests by the first use, and goes on as it was", async (partitions) => {
    const schema = server.schema();
    await firstSchemaLedger(pool, schema, ENTRIES, { partitions });
    const store = postgresStore({ pool, schema });
    const fresh = sqliteStore(":memory:");
    for (const name of ["n", "m"]) {
      await fresh.commit(
        name,
        Array.from({ length: ENTRIES }, (_, i) => tally(`k${i}`)),
        counting,
      );
    }
    expect(await store.verify()).toEqual(await fresh.verify());
    expect(await countIn(store)).toBe(ENTRIES);
    expect(await store.commit("n", [tally("k7"), tally("new")], counting)).toEqual([
      { status: "duplicate", seq: 8 },
      { status: "committed", seq: ENTRIES + 1 },
    ]);
    expect(await store.verify()).toMatchObject({ damaged: 0, entries: 2 * ENTRIES + 1 });
    const parts = await pool.query("select from pg_tables where schemaname = $1", [schema]);
    expect(parts.rowCount).toBe(1 + 4 * (1 + partitions));
    for (const each of [store, fresh]) await each.close();
  });

  it("is as it was when the migration dies in the middle, and is migrated by the next use", async () => {
    const schema = server.schema();
    await firstSchemaLedger(pool, schema, ENTRIES);
    const dying = postgresStore({ pool: dyingAt("set digest = chained.digest"), schema });
    expect(await refusalOf(dying.head("n"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await versionOf(schema)).toBe(1);
    const columns = await pool.query(
      "select from information_schema.columns where table_schema = $1 and column_name = 'digest'",
      [schema],
    );
    expect(columns.rowCount).toBe(0);
    const store = postgresStore({ pool, schema });
    expect(await store.verify()).toMatchObject({ damaged: 0, entries: 2 * ENTRIES });
    expect(await versionOf(schema)).toBe(2);
    for (const each of [dying, store]) await each.close();
  });

  it("is migrated once when several handles meet it", async () => {
    const schema = server.schema();
    await firstSchemaLedger(pool, schema, ENTRIES);
    const stores = Array.from({ length: 4 }, () => postgresStore({ pool, schema, lockTimeout: 60_000 }));
    const checks = await Promise.all(stores.map((store) => store.verify()));
    for (const check of checks) expect(check).toMatchObject({ damaged: 0, entries: 2 * ENTRIES });
    expect(new Set(checks.map(({ digest }) => digest)).size).toBe(1);
    for (const store of stores) await store.close();
  });

  it("is migrated under row-level security, which then covers what came with it", async () => {
    const schema = server.schema();
    await pool.query("create role keeper login password 'secret'");
    await pool.query(`create schema ${schema} authorization keeper`);
    const own = new Pool({ connectionString: server.url({ user: "keeper", password: "secret" }) });
    // The server may be stopped before the last connection has left.
    own.on("error", () => {});
    await firstSchemaLedger(pool, schema, 20, { rowLevelSecurity: true });
    for (const { tablename } of (await pool.query("select tablename from pg_tables where schemaname = $1", [schema]))
      .rows) {
      await pool.query(`alter table ${schema}.${tablename} owner to keeper`);
    }
    const store = postgresStore({ pool: own, schema });
    expect(await store.verify()).toMatchObject({ namespaces: 2, damaged: 0, entries: 40 });
    await store.compact("n", {
      head: 20,
      through: 20,
      checkpoint: [{ scope: "stats", id: "count", value: Uint8Array.of(50, 48) }],
      states: [],
    });
    expect(await store.verify()).toMatchObject({ namespaces: 2, damaged: 0, entries: 20 });
    expect((await own.query(`select from ${schema}.checkpoint_state`)).rowCount).toBe(0);
    expect((await pool.query(`select from ${schema}.checkpoint_state`)).rowCount).toBe(1);
    await store.close();
    await own.end();
  });
});
