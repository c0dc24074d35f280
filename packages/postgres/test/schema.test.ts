import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { connections } from "../src/connection/connections.js";
import { postgresStore } from "../src/index.js";
import { resolvePostgresOptions } from "../src/postgres-options.js";
import { MIGRATIONS, type Migration, prepareSchema } from "../src/tables/schema.js";
import { interceptedPool } from "./support/intercepted-pool.js";
import { refusalOf } from "./support/refusal.js";
import { openStore, testServer } from "./support/server.js";

const server = await testServer();
const { pool } = server;

const tablesOf = async (schema: string): Promise<string[]> => {
  const { rows } = await pool.query("select tablename from pg_tables where schemaname = $1 order by 1", [schema]);
  return rows.map(({ tablename }) => tablename);
};

describe("the tables of a PostgreSQL store", () => {
  it("are split by namespace into 16 partitions, all of which get their share", async () => {
    const schema = server.schema();
    const store = openStore({ pool, schema });
    for (let n = 0; n < 200; n++) await store.commit(`n${n}`, [tally("a")], counting);
    expect(await tablesOf(schema)).toHaveLength(1 + 4 * 17);
    for (const table of ["namespace", "entry", "state"]) {
      const { rows } = await pool.query(`select tableoid, count(*)::int from ${schema}.${table} group by 1`);
      expect(rows).toHaveLength(16);
      expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(200);
    }
  });

  it("are plain tables for engines that distribute them by themselves", async () => {
    const schema = server.schema();
    const store = openStore({ pool, schema, partitions: 0 });
    await store.commit("n", [tally("a")], counting);
    expect(await tablesOf(schema)).toEqual(["checkpoint_state", "entry", "ledger", "namespace", "state"]);
    expect(await countIn(store)).toBe(1);
  });

  it.each([16, 0])("keep large states and entries in their rows (%i partitions)", async (partitions) => {
    const schema = server.schema();
    const store = openStore({ pool, schema, partitions });
    const large = { ...tally("a"), payload: new Uint8Array(5_000).fill(1) };
    // biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
    await store.commit("n", [large], function* () {
      return [{ scope: "shared", id: "docs", value: new Uint8Array(5_000).fill(2) }];
    });
    const { rows } = await pool.query(
      `select sum(pg_relation_size(reltoastrelid))::int as moved, sum(pg_relation_size(oid))::int as kept from pg_class
       where relnamespace = $1::regnamespace and relkind = 'r' and reltoastrelid > 0`,
      [schema],
    );
    expect(rows[0].moved).toBe(0);
    expect(rows[0].kept).toBeGreaterThan(10_000);
  });

  it("may live in a schema of any name", async () => {
    const schema = `it's "odd"\\`;
    const store = openStore({ pool, schema });
    await store.commit("n", [tally("a")], counting);
    const other = openStore({ pool, schema });
    expect(await countIn(other)).toBe(1);
  });

  it.each([0, 2])(
    "are keyed and distributed by namespace first, every one of them, in %i partitions",
    async (partitions) => {
      const schema = server.schema();
      const store = openStore({ pool, schema, partitions });
      await store.head("n");
      const { rows } = await pool.query(
        `select relname::text as name, attname::text as first, pg_get_partkeydef(pg_class.oid) as by
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       left join pg_index on indrelid = pg_class.oid and indisunique
       left join pg_attribute on attrelid = pg_class.oid and attnum = indkey[0]
       where nspname = $1 and relkind in ('r', 'p') and not relispartition and relname <> 'ledger' order by 1, 2`,
        [schema],
      );
      const keyed = (name: string, first = "namespace"): object => ({
        name,
        first,
        by: partitions === 0 ? null : `HASH (${first})`,
      });
      expect(rows).toEqual([
        keyed("checkpoint_state"),
        // Its place, and its idempotency key.
        keyed("entry"),
        keyed("entry"),
        keyed("namespace", "id"),
        keyed("state"),
      ]);
    },
  );
});

describe("opening a PostgreSQL store", () => {
  it("refuses a schema with tables of another application, and leaves it as it was", async () => {
    const schema = server.schema();
    await pool.query(`create schema ${schema}; create table ${schema}.entry (id int)`);
    const store = openStore({ pool, schema });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_FOREIGN" });
    await pool.query(`create table ${schema}.ledger (name text)`);
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_FOREIGN" });
    expect(await tablesOf(schema)).toEqual(["entry", "ledger"]);
  });

  it("refuses one that has only the newest of its tables' names in it", async () => {
    const schema = server.schema();
    await pool.query(`create schema ${schema}; create table ${schema}.checkpoint_state (id int)`);
    const store = openStore({ pool, schema });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_FOREIGN" });
    expect(await tablesOf(schema)).toEqual(["checkpoint_state"]);
  });

  it("refuses a ledger of a newer version", async () => {
    const schema = server.schema();
    const store = openStore({ pool, schema });
    await store.commit("n", [tally("a")], counting);
    await pool.query(`update ${schema}.ledger set version = 99`);
    const newer = openStore({ pool, schema });
    const details = { schema: 99, known: 1 };
    expect(await refusalOf(newer.head("n"))).toMatchObject({ code: "STORE_NEWER_SCHEMA", details });
  });

  it.each([0, 2])(
    "refuses one that lacks a column or a table, or has a column of another type (%i partitions)",
    async (partitions) => {
      for (const [sql, changed] of [
        ["alter table entry drop column payload", "entry.payload"],
        ["alter table entry alter column at type numeric", "entry.at"],
        ["drop table checkpoint_state", "checkpoint_state.namespace"],
        ["drop table ledger", "ledger.version"],
      ] as const) {
        const schema = server.schema();
        const store = postgresStore({ pool, schema, partitions });
        await store.commit("n", [tally("a")], counting);
        await pool.query(sql.replace("table ", `table ${schema}.`));
        await pool.query(`alter table ${schema}.state add column mine int`);
        const refused = postgresStore({ pool, schema });
        expect(await refusalOf(refused.head("n"))).toMatchObject({ code: "STORE_CORRUPT", details: { changed } });
        for (const each of [store, refused]) await each.close();
      }
    },
  );

  it("creates nothing when it may not, and finds what somebody else has created", async () => {
    const schema = server.schema();
    const store = openStore({ pool, schema, migrate: false });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await tablesOf(schema)).toEqual([]);
    const other = openStore({ pool, schema });
    await other.head("n");
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq: 1 }]);
  });

  it("migrates an older ledger by the steps that it lacks, whole or not at all", async () => {
    const schema = server.schema();
    const store = postgresStore({ pool, schema, partitions: 3 });
    await store.commit("n", [tally("a")], counting);
    await store.close();
    const options = resolvePostgresOptions({ pool, schema });
    const source = connections(pool, options);
    const version = async () => (await pool.query(`select version from ${schema}.ledger`)).rows[0].version;
    const wide: Migration = ({ schema, partitions }) =>
      `alter table ${schema}.state add column parts int not null default ${partitions}`;
    const failing: Migration = ({ schema }) => `create table ${schema}.more (id int); select 1 / 0`;
    await expect(prepareSchema(source, options, [...MIGRATIONS, wide, failing])).rejects.toThrow("division by zero");
    expect(await version()).toBe(1);
    expect(await tablesOf(schema)).not.toContain("more");
    const racing = [1, 2, 3].map(() => prepareSchema(source, options, [...MIGRATIONS, wide]));
    expect(await Promise.all(racing)).toEqual(Array(3).fill(expect.objectContaining({ rowLevelSecurity: false })));
    expect(await version()).toBe(2);
    expect((await pool.query(`select parts from ${schema}.state`)).rows).toEqual([{ parts: 3 }]);
    await source.close();
  });

  it("keeps nothing of a migration that fails on its way", async () => {
    const schema = server.schema();
    await pool.query(`create schema ${schema}; create table ${schema}.state_7 (id int)`);
    const store = openStore({ pool, schema });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_FAILED", details: { sqlState: "42P07" } });
    expect(await tablesOf(schema)).toEqual(["state_7"]);
    await pool.query(`drop table ${schema}.state_7`);
    expect(await store.head("n")).toBe(0);
  });

  it("creates the tables once more when the server gave that up to break a deadlock", async () => {
    let deadlocks = 2;
    const broken = interceptedPool(pool, async ({ text }, send) => {
      if (text.startsWith("create") && deadlocks-- > 0) throw Object.assign(new Error("deadlock"), { code: "40P01" });
      return send();
    });
    const store = openStore({ pool: broken, schema: server.schema(), partitions: 0 });
    expect(await store.head("n")).toBe(0);
    expect(deadlocks).toBeLessThan(0);
  });

  it("says that a server without Citus cannot have shards", async () => {
    const schema = server.schema();
    const store = openStore({ pool, schema, shards: 2 });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "UNSUPPORTED" });
    expect(await tablesOf(schema)).toEqual([]);
  });
});

describe("a server whose commits do not wait for the disk", () => {
  it("waits for it in a store's commits all the same", async () => {
    const schema = server.schema();
    await pool.query("create role hasty login superuser password 'secret'");
    await pool.query("alter role hasty set synchronous_commit = off");
    const store = openStore({ connectionString: server.url({ user: "hasty", password: "secret" }), schema });
    await store.head("n");
    await pool.query(`
      create table ${schema}.seen (setting text);
      create function ${schema}.look() returns trigger language plpgsql as $$ begin
        insert into ${schema}.seen values (current_setting('synchronous_commit')); return new;
      end $$;
      create trigger look before insert on ${schema}.entry for each row execute function ${schema}.look()`);
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    const { rows } = await pool.query(`select setting from ${schema}.seen`);
    expect(rows).toEqual(Array(4).fill({ setting: "on" }));
  });
});
