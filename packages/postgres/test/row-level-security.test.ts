import { writeStates } from "@qavr/store-conformance";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countIn, counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { nameId } from "../src/tables/digests.js";
import { openStore, testServer } from "./support/server.js";

const server = await testServer();

describe("row-level security", () => {
  const schema = server.schema();
  let client: Client;
  let store: ReturnType<typeof postgresStore>;
  beforeAll(async () => {
    await server.pool.query("create role app login password 'secret'");
    await server.pool.query(`create schema ${schema} authorization app`);
    const connectionString = server.url({ user: "app", password: "secret" });
    store = postgresStore({ connectionString, schema, rowLevelSecurity: true, partitions: 2 });
    for (const namespace of ["a", "b"]) await store.commit(namespace, [tally("k"), tally("l")], counting);
    client = new Client(connectionString);
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await store.close();
  });
  const count = async (table: string): Promise<number> =>
    (await client.query(`select count(*)::int from ${schema}.${table}`)).rows[0].count;

  it("leaves the store its whole contract", async () => {
    expect(await store.namespaces({ limit: 10 })).toEqual(["a", "b"]);
    expect([await countIn(store, "a"), await store.head("b")]).toEqual([2, 2]);
    expect(await store.commit("a", [tally("k")], counting)).toEqual([{ status: "duplicate", seq: 1 }]);
    expect((await store.readEntries("a", { limit: 10 })).map(({ key }) => key)).toEqual(["k", "l"]);
    expect(await store.scanStates("a", "stats", { limit: 10 })).toHaveLength(1);
    await store.commit("c", [tally("k")], counting);
    expect(await writeStates(store, "c", [NO_COUNT])).toBe(true);
    expect(await countIn(store, "c")).toBe(0);
    await store.eraseNamespace("c");
    expect(await store.namespaces({ limit: 10 })).toEqual(["a", "b"]);
  });

  it("is found by a store that was not told of it", async () => {
    const other = openStore({ connectionString: server.url({ user: "app", password: "secret" }), schema });
    expect(await countIn(other, "a")).toBe(2);
    expect(await other.commit("a", [tally("l")], counting)).toEqual([{ status: "duplicate", seq: 2 }]);
  });

  it("shows a statement that names no namespace nothing, also when it asks a partition", async () => {
    for (const table of ["namespace", "entry", "state", "namespace_0", "entry_0", "entry_1", "state_0", "state_1"]) {
      expect(await count(table)).toBe(0);
    }
  });

  it("shows one namespace to a transaction that names it, and lets it write nowhere else", async () => {
    await client.query(`begin; select set_config('qavr.namespace', '${nameId("a")}', true)`);
    expect([await count("entry"), await count("state"), await count("namespace")]).toEqual([2, 1, 1]);
    await expect(
      client.query(`insert into ${schema}.state values ($1, $1, '\\x01', '\\x01')`, [nameId("b")]),
    ).rejects.toMatchObject({ code: "42501" });
    await client.query("rollback");
    expect(await count("entry")).toBe(0);
  });
});
