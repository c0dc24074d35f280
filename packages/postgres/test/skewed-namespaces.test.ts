import type { Store } from "@qavr/core";
import type { LedgerEntry, Reduce } from "@qavr/core/store";
import { Pool } from "pg";
import { expect, it } from "vitest";
import { counting, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { testServer } from "./support/server.js";
import { SOON } from "./support/soon.js";

const server = await testServer();

const LARGE = 3_000;
const entries = (prefix: string, count: number): LedgerEntry[] =>
  Array.from({ length: count }, (_, i) => tally(`${prefix} ${i}`));
// biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
const writeMany: Reduce = function* ({ seq }) {
  return [{ scope: "memory:docs", id: `m${seq}`, value: new Uint8Array(50) }];
};

/** Rows that were read from a table by whatever way, once the sessions that read them have ended. */
async function rowsRead(schema: string, table: string): Promise<number> {
  const { rows } = await server.pool.query(
    `select (select seq_tup_read from pg_stat_user_tables where schemaname = $1 and relname = $2)
       + (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = $1 and relname = $2) as read`,
    [schema, table],
  );
  return Number(rows[0].read);
}

/** Works with a store on one session, and ends it. */
async function use(schema: string, work: (store: Store) => Promise<unknown>): Promise<void> {
  const pool = new Pool({ connectionString: server.url(), max: 1 });
  const store = postgresStore({ pool, schema, partitions: 0, cacheBytes: 0 });
  await work(store);
  await store.close();
  await pool.end();
}

it("a namespace that is much larger than the others is not read whole for a few of its keys and states", async () => {
  const schema = server.schema();
  await use(schema, async (store) => {
    for (let n = 0; n < 200; n++) await store.commit(`small ${n}`, entries("e", 4), counting);
    await server.pool.query(`analyze ${schema}.namespace, ${schema}.entry, ${schema}.state`);
    await store.commit("large", entries("e", LARGE), writeMany);
  });
  const before = { entry: await rowsRead(schema, "entry"), state: await rowsRead(schema, "state") };
  await use(schema, async (store) => {
    // Without the lock, and with it.
    for (const prefix of ["a", "b"]) await store.commit("large", entries(prefix, 100), counting);
    const ids = Array.from({ length: 50 }, (_, i) => `m${i * 10 + 1}`);
    const values = await store.readStates("large", "memory:docs", ids);
    expect(values.every((value) => value?.length === 50)).toBe(true);
  });
  await expect.poll(() => rowsRead(schema, "state"), SOON).toBeGreaterThan(before.state + 49);
  expect((await rowsRead(schema, "state")) - before.state).toBeLessThan(LARGE / 2);
  expect((await rowsRead(schema, "entry")) - before.entry).toBeLessThan(LARGE / 2);
});

it("a namespace that grows again after everything was erased is not read whole for each of its keys and states", async () => {
  const schema = server.schema();
  await use(schema, async (store) => {
    await store.commit("n", entries("before", LARGE), writeMany);
    await store.eraseNamespace("n");
    // The server does this by itself a while later, and empties its files.
    await server.pool.query(`vacuum analyze ${schema}.namespace, ${schema}.entry, ${schema}.state`);
    // The session keeps plans for tables without a page.
    for (let n = 0; n < 12; n++) await store.commit("n", entries(`small ${n}`, 1), writeMany);
    for (const prefix of ["a", "b"]) await store.commit("n", entries(prefix, LARGE), writeMany);
    const ids = Array.from({ length: 500 }, (_, i) => `m${i * 10 + 1}`);
    expect((await store.readStates("n", "memory:docs", ids)).every((value) => value?.length === 50)).toBe(true);
  });
  await expect.poll(() => rowsRead(schema, "state"), SOON).toBeGreaterThan(499);
  for (const table of ["entry", "state"]) expect(await rowsRead(schema, table)).toBeLessThan(50 * LARGE);
});
