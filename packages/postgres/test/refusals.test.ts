import { existsSync, readFileSync } from "node:fs";
import { Client, Pool } from "pg";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";
import { openStore, testServer } from "./support/server.js";
import { SOON } from "./support/soon.js";

const server = await testServer();

/** The kernel's list of connections on Linux, one a line. */
const TCP_TABLE = "/proc/net/tcp";

/** Connections to a port that have a keep-alive timer. */
function keptAlive(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = [TCP_TABLE, `${TCP_TABLE}6`].flatMap((table) => readFileSync(table, "utf8").split("\n"));
  return lines.filter((line) => {
    const [, , to, , , timer] = line.trim().split(/\s+/);
    return to?.endsWith(remote) && timer?.startsWith("02:");
  }).length;
}

/** A login without rights of its own. */
async function login(name: string): Promise<string> {
  await server.pool.query(`create role ${name} login password 'secret'`);
  return server.url({ user: name, password: "secret" });
}

describe("a PostgreSQL store tells by code", () => {
  it("that nothing listens at the address", async () => {
    const store = openStore("postgres://app:secret@localhost:1/qavr");
    const refusal = await refusalOf(store.commit("n", [tally("a")], counting));
    expect(refusal).toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { place: "schema qavr at localhost:1/qavr" },
    });
    expect(refusal.message).not.toContain("secret");
  });

  it("that nothing listens at any of several addresses", async () => {
    const store = openStore("postgres://app:secret@localhost:1,localhost:2/qavr");
    const refusal = await refusalOf(store.head("n"));
    const details = { place: "schema qavr at localhost:1,localhost:2/qavr" };
    expect(refusal).toMatchObject({ code: "STORE_UNAVAILABLE", details });
    expect(refusal.message).not.toContain("secret");
  });

  it("that the server has no TLS, which the address asks for", async () => {
    const store = openStore(`${server.url()}?sslmode=verify-full`);
    expect(await refusalOf(store.head("n"))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/does not support SSL connections\. Turn TLS on .* or remove sslmode/),
    });
  });

  it("that the password is wrong", async () => {
    const store = openStore(server.url({ password: "wrong" }));
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_DENIED", details: { sqlState: "28P01" } });
  });

  it("that there is no such database", async () => {
    const store = openStore(server.url({ database: "nowhere" }));
    expect(await refusalOf(store.head("n"))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { sqlState: "3D000" },
    });
  });

  it("that the login may not create the schema, and works as soon as it may", async () => {
    const schema = server.schema();
    const connectionString = await login("newcomer");
    const store = openStore({ connectionString, schema });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_DENIED", details: { sqlState: "42501" } });
    await server.pool.query(`create schema ${schema} authorization newcomer`);
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq: 1 }]);
  });

  it("that the server ended a transaction which took too long", async () => {
    const schema = server.schema();
    const connectionString = await login("hurried");
    await server.pool.query(`create schema ${schema} authorization hurried`);
    const store = postgresStore({ connectionString, schema });
    await store.head("n");
    await store.close();
    await server.pool.query("alter role hurried set transaction_timeout = 50");
    const other = openStore({ connectionString, schema });
    const commit = other.commit("n", [tally("a")], function* () {
      yield [{ scope: "stats", id: "count" }];
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      return [];
    });
    expect(await refusalOf(commit)).toMatchObject({ code: "STORE_UNAVAILABLE", details: { sqlState: "25P04" } });
  });

  it("that the login may read only", async () => {
    const schema = server.schema();
    const owner = openStore({ pool: server.pool, schema });
    await owner.commit("n", [tally("a")], counting);
    const connectionString = await login("reader");
    await server.pool.query(`grant usage on schema ${schema} to reader`);
    await server.pool.query(`grant select on all tables in schema ${schema} to reader`);
    const store = openStore({ connectionString, schema, migrate: false });
    expect(await countIn(store)).toBe(1);
    expect(await refusalOf(store.commit("n", [tally("b")], counting))).toMatchObject({ code: "STORE_DENIED" });
    await server.pool.query(`grant update on all tables in schema ${schema} to reader`);
    await server.pool.query("alter role reader set default_transaction_read_only = on");
    const other = openStore({ connectionString, schema, migrate: false });
    expect(await refusalOf(other.commit("n", [tally("b")], counting))).toMatchObject({
      code: "STORE_UNWRITABLE",
      details: { sqlState: "25006" },
    });
  });

  it("that a table is missing", async () => {
    const schema = server.schema();
    const store = openStore({ pool: server.pool, schema });
    await store.commit("n", [tally("a")], counting);
    await server.pool.query(`drop table ${schema}.entry`);
    expect(await refusalOf(store.readEntries("n", { limit: 1 }))).toMatchObject({ code: "STORE_CORRUPT" });
    expect(await refusalOf(store.commit("n", [tally("b")], counting))).toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("that somebody else keeps a namespace locked, and changes nothing meanwhile", async () => {
    const schema = server.schema();
    const [store, quick] = [1, 2].map(() => openStore({ pool: server.pool, schema, lockTimeout: 100 }));
    if (!store || !quick) throw new Error("two stores");
    await quick.commit("n", [tally("a")], counting);
    const blocker = new Client(server.url());
    await blocker.connect();
    await blocker.query(`begin; select * from ${schema}.namespace for update`);
    expect(await refusalOf(store.commit("n", [tally("b")], counting))).toMatchObject({ code: "STORE_BUSY" });
    // The last committer commits without the lock, and does not wait for it.
    expect(await refusalOf(quick.commit("n", [tally("c")], counting))).toMatchObject({ code: "STORE_BUSY" });
    // Others are not held up, and neither is reading.
    expect(await store.commit("m", [tally("b")], counting)).toEqual([{ status: "committed", seq: 1 }]);
    expect(await countIn(store)).toBe(1);
    await blocker.end();
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
  });

  it("that the server does not answer, and goes on when it does", async () => {
    const schema = server.schema();
    const creator = postgresStore({ pool: server.pool, schema });
    await creator.commit("n", [tally("a")], counting);
    await creator.close();
    const connectionString = server.url();
    const [statementTimeout, lockTimeout, connectTimeout] = [1_500, 1_500, 1_500];
    const store = openStore({ connectionString, schema, statementTimeout, lockTimeout, connectTimeout });
    expect(await countIn(store)).toBe(1);
    server.freeze();
    try {
      expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect((await refusalOf(store.commit("n", [tally("b")], counting))).code).toMatch(
        /^STORE_(UNAVAILABLE|COMMIT_UNKNOWN)$/,
      );
    } finally {
      server.thaw();
    }
    const [receipt] = await store.commit("n", [tally("b")], counting);
    expect(receipt?.seq).toBe(2);
    expect(await countIn(store)).toBe(2);
  });
});

describe("a transaction that the server gives up", () => {
  /** Makes inserts of entries fail as long as a counter, which no rollback sets back, is below a limit. */
  async function failing(schema: string, times: number, sqlState: string): Promise<() => Promise<number>> {
    await server.pool.query(`
      create sequence ${schema}.tries;
      create function ${schema}.fail() returns trigger language plpgsql as $$ begin
        if nextval('${schema}.tries') <= ${times} then raise exception 'on purpose' using errcode = '${sqlState}'; end if;
        return new;
      end $$;
      create trigger fail before insert on ${schema}.entry for each row execute function ${schema}.fail()`);
    return async () => Number((await server.pool.query(`select last_value from ${schema}.tries`)).rows[0].last_value);
  }

  it.each(["40001", "40P01"])("with %s is tried again, and every outcome counts once", async (sqlState) => {
    const schema = server.schema();
    const store = openStore({ pool: server.pool, schema });
    await store.commit("n", [tally("a")], counting);
    const tries = await failing(schema, 2, sqlState);
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
    expect([await tries(), await countIn(store)]).toEqual([3, 2]);
  });

  it("again and again is refused with STORE_BUSY after a few tries", async () => {
    const schema = server.schema();
    const store = openStore({ pool: server.pool, schema });
    await store.commit("n", [tally("a")], counting);
    const tries = await failing(schema, 1_000, "40001");
    expect(await refusalOf(store.commit("n", [tally("b")], counting))).toMatchObject({ code: "STORE_BUSY" });
    expect(await tries()).toBeLessThan(10);
    expect([await store.head("n"), await countIn(store)]).toEqual([1, 1]);
  });
});

describe("the pool of a PostgreSQL store", () => {
  it("is left open when it is the application's", async () => {
    const pool = new Pool({ connectionString: server.url(), max: 2 });
    const store = postgresStore({ pool, schema: server.schema() });
    await store.commit("n", [tally("a")], counting);
    await store.close();
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    expect(pool.totalCount - pool.idleCount).toBe(0);
    await pool.end();
  });

  it.runIf(existsSync(TCP_TABLE))(
    "asks silent connections whether they are still there when it is the store's own",
    async () => {
      const store = openStore({ connectionString: server.url(), schema: server.schema() });
      await store.head("n");
      expect(keptAlive(server.port)).toBeGreaterThan(0);
    },
  );

  it("is not ended before the reads that were under way", async () => {
    const store = postgresStore({ connectionString: server.url(), schema: server.schema(), maxConnections: 2 });
    const first = [store.head("n"), store.commit("n", [tally("a")], counting), store.verify(), store.repair()];
    await Promise.all([store.close(), ...first]);
    const again = postgresStore({ connectionString: server.url(), schema: server.schema() });
    for (let n = 0; n < 20; n++) await again.commit(`n${n}`, [tally("a")], counting);
    const reads = [again.verify(), countIn(again, "n1"), again.readCheckpoint("n1"), again.namespaces({ limit: 1 })];
    await again.close();
    expect(await Promise.all(reads)).toMatchObject([{ namespaces: 20, damaged: 0 }, 1, undefined, ["n0"]]);
  });

  it("is ended when it is the store's own, after what was under way", async () => {
    const connectionString = `${server.url()}?application_name=own`;
    const store = postgresStore({ connectionString, schema: server.schema(), staleness: 50 });
    const commits = Promise.all(["a", "b"].map((key) => store.commit(key, [tally(key)], counting)));
    await store.close();
    expect(await commits).toHaveLength(2);
    const open = async () =>
      (await server.pool.query("select 1 from pg_stat_activity where application_name = 'own'")).rowCount;
    await expect.poll(open, SOON).toBe(0);
  });
});
