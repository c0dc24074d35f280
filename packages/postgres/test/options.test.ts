import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { type PostgresStoreOptions, postgresStore } from "../src/index.js";
import { openStore } from "./support/server.js";

const connectionString = "postgres://nobody@localhost:1/none";
const pool = new Pool({ connectionString });

describe("postgresStore", () => {
  it.each<[string, PostgresStoreOptions]>([
    ["neither a pool nor a URL", {}],
    ["both a pool and a URL", { pool, connectionString }],
    ["something else than a pool", { pool: {} as Pool }],
    ["a URL of something else", { connectionString: "mysql://localhost/qavr" }],
    ["a schema without a name", { pool, schema: "" }],
    ["a schema with a NUL", { pool, schema: "a\0" }],
    ["a schema with a name that PostgreSQL would cut", { pool, schema: "é".repeat(32) }],
    ["a schema without a name in the URL", { connectionString: `${connectionString}?qavr_schema=` }],
    ["a misspelt schema in the URL", { connectionString: `${connectionString}?qavr_shema=a` }],
    ["no writer", { pool, writers: 0 }],
    ["part of a writer", { pool, writers: 1.5 }],
    ["a negative number of partitions", { pool, partitions: -1 }],
    ["too many partitions", { pool, partitions: 257 }],
    ["part of a shard", { pool, shards: 0.5 }],
    ["no connection", { connectionString, maxConnections: 0 }],
    ["no time for a statement", { pool, statementTimeout: 0 }],
    ["an endless wait for a lock", { pool, lockTimeout: Number.POSITIVE_INFINITY }],
    ["a negative staleness", { pool, staleness: -1 }],
    ["a negative cache", { pool, cacheBytes: -1 }],
    ["a replica without staleness", { pool, replica: pool }],
    ["something else than a replica's pool", { pool, staleness: 1, replica: "postgres://" as never }],
    ["words for a switch", { pool, migrate: "no" as never }],
    ["listening on the only connection of a pool", { pool: new Pool({ connectionString, max: 1 }), listen: true }],
    ["a number for a switch", { pool, listen: 1 as never }],
    ["a misspelt schema, which would be another one", { pool, shcema: "tenant" } as PostgresStoreOptions],
    ["a BigInt", { pool, writers: 4n as never }],
    ["what cannot be printed", { pool, schema: Object.create(null) }],
  ])("refuses %s", (_, options) => {
    expect(() => postgresStore(options)).toThrowError(
      expect.objectContaining({ name: "QavrError", code: "INVALID_ARGUMENT" }),
    );
  });

  it.each<[string, PostgresStoreOptions, string]>([
    ["its URL", { connectionString: `${connectionString}?qavr_schema=agent%20memory` }, "agent memory"],
    ["its options, before its URL", { connectionString: `${connectionString}?qavr_schema=a`, schema: "b" }, "b"],
    ["neither", { connectionString: `${connectionString}?sslmode=disable` }, "qavr"],
  ])("takes the schema from %s", async (_, options, schema) => {
    const store = openStore(options);
    await expect(store.head("n")).rejects.toMatchObject({ details: { place: `schema ${schema} at localhost:1/none` } });
  });

  it("does not repeat a URL that it refuses, which may hold a password", () => {
    expect(() => postgresStore("mysql://app:secret@localhost")).toThrowError(/^(?!.*secret)/);
  });

  it("takes an option that is there but undefined for absent, and tells of a staleness that it has", () => {
    const options = { pool, schema: undefined, staleness: undefined } as unknown as PostgresStoreOptions;
    expect(postgresStore(options).capabilities).toEqual({ durable: true, sharedBackend: true });
    expect(postgresStore({ pool, staleness: 200 }).capabilities).toEqual({
      durable: true,
      sharedBackend: true,
      staleness: 200,
    });
  });

  it.each([
    "postgres://app:sec#ret@localhost/qavr",
    "postgres://app:sec/ret@localhost/qavr",
    "postgres://app:sec?ret@localhost/qavr",
    "postgres://app:ret@localhost:port/qavr",
    "postgres://app:ret@localhost:1,localhost:65536/qavr",
  ])("refuses a URL that cannot be read, without its password: %s", (url) => {
    expect(() => postgresStore(url)).toThrowError(/^(?!.*ret).*cannot be read.*%23/);
  });

  it.each([
    "postgres://app:sec%23ret@localhost/qavr",
    "postgres://app:sec ret@localhost/qavr",
    "postgres://app:50%@one,two:5433/qavr?sslmode=require",
    "postgres://app:secret@/qavr?host=/cloudsql/one:two:three",
    "postgres://app@%2Fvar%2Frun%2Fpostgresql/qavr",
    "postgresql:///qavr",
    "postgres://[::1]:5432/qavr",
  ])("takes %s", async (url) => {
    await postgresStore(url).close();
  });

  it("connects to nothing before it is used", async () => {
    const store = postgresStore({ pool });
    await store.close();
    expect(pool.totalCount).toBe(0);
    await expect(store.head("n")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
