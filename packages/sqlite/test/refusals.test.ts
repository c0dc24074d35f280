import { chmodSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { counting, tally } from "../../core/test/support/counting.js";
import { type SqliteStoreOptions, sqliteStore } from "../src/index.js";
import { APPLICATION_ID } from "../src/schema.js";
import { runChild } from "./support/child.js";
import { refusalOf } from "./support/refusal.js";
import { tamper } from "./support/tamper.js";
import { newLedger, openStore, tempFolder, tempLedger } from "./support/temp-folder.js";

/** A closed ledger with enough in it to have several pages. */
async function filledLedger(): Promise<string> {
  const { path, store } = newLedger();
  const entries = Array.from({ length: 200 }, (_, i) => ({ ...tally(`k${i}`), payload: new Uint8Array(500).fill(i) }));
  await store.commit("n", entries, counting);
  await store.close();
  return path;
}

/** A database that is not ours, made by `sql`. */
function database(sql: string): string {
  const path = tempLedger();
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
  return path;
}

/** The refusal for an unprivileged user (root may write everywhere). */
async function refusalOfNobody(path: string): Promise<unknown> {
  const { stdout, stderr } = await runChild("open-as-nobody.mjs", [path]);
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

describe("sqliteStore refuses, when it is opened,", () => {
  it.each([1, 99, 100, 511, 4_096, 20_000])(
    "a ledger that was cut to %i bytes, and leaves it alone",
    async (length) => {
      const path = await filledLedger();
      truncateSync(path, length);
      expect(refusalOf(() => sqliteStore(path)).code).toBe("STORE_CORRUPT");
      expect(refusalOf(() => sqliteStore({ path, readOnly: true })).code).toBe("STORE_CORRUPT");
      expect(readFileSync(path)).toHaveLength(length);
    },
  );

  it.each<[string, unknown]>([
    ["an empty path", ""],
    ["a path of spaces", "  "],
    ["a path with a NUL", "ledger\0.db"],
    ["a path that is no string", { path: 7 }],
    ["an unknown synchronous mode", { path: "x.db", synchronous: "off" }],
    ["a negative busy timeout", { path: "x.db", busyTimeout: -1 }],
    ["a cache of no number of bytes", { path: "x.db", cacheBytes: Number.NaN }],
    ["a read-only ledger in memory", { path: ":memory:", readOnly: true }],
    ["a misspelt option, which would open it for writing", { path: "x.db", readonly: true }],
    ["words for a switch", { path: "x.db", readOnly: "false" }],
    ["a busy timeout that SQLite would take for none", { path: "x.db", busyTimeout: 1e12 }],
    ["a busy timeout that is a BigInt", { path: "x.db", busyTimeout: 5000n }],
    ["a path that cannot be printed", { path: Object.create(null) }],
    ["nothing", null],
  ])("%s with INVALID_ARGUMENT", (_case, options) => {
    expect(refusalOf(() => sqliteStore(options as SqliteStoreOptions)).code).toBe("INVALID_ARGUMENT");
  });

  it("a folder with STORE_UNWRITABLE", () => {
    const folder = tempFolder();
    const refusal = refusalOf(() => sqliteStore(folder));
    expect(refusal).toMatchObject({ code: "STORE_UNWRITABLE", details: { path: folder } });
    expect(refusal.message).toContain("is a folder");
  });

  it("a path below a file with STORE_UNWRITABLE", () => {
    const file = join(tempFolder(), "file");
    writeFileSync(file, "not a folder");
    const refusal = refusalOf(() => sqliteStore(join(file, "sub", "ledger.db")));
    expect(refusal).toMatchObject({ code: "STORE_UNWRITABLE", cause: { code: "ENOTDIR" } });
  });

  it.runIf(existsSync("/proc/self"))("a path below /proc, where nothing can be created, with STORE_UNWRITABLE", () => {
    const refusal = refusalOf(() => sqliteStore("/proc/qavr/deeper/ledger.db"));
    expect(refusal).toMatchObject({ code: "STORE_UNWRITABLE", cause: { code: "ENOENT" } });
  });

  it("a folder that cannot be written with STORE_UNWRITABLE", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "locked"));
    chmodSync(join(folder, "locked"), 0o555);
    chmodSync(folder, 0o755);
    const refused = { code: "STORE_UNWRITABLE", cause: "EACCES" };
    expect(await refusalOfNobody(join(folder, "locked", "ledger.db"))).toEqual(refused);
    expect(await refusalOfNobody(join(folder, "locked", "deeper", "ledger.db"))).toEqual(refused);
  });

  it("a file that cannot be written, or in a folder that cannot, with STORE_UNWRITABLE", async () => {
    const path = await filledLedger();
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o777);
    expect(await refusalOfNobody(path)).toEqual({ code: "STORE_UNWRITABLE", cause: "EACCES" });
    chmodSync(path, 0o666);
    chmodSync(dirname(path), 0o555);
    expect(await refusalOfNobody(path)).toEqual({ code: "STORE_UNWRITABLE", cause: "EACCES" });
    chmodSync(dirname(path), 0o000);
    expect(await refusalOfNobody(path)).toEqual({ code: "STORE_UNWRITABLE", cause: "EACCES" });
    chmodSync(dirname(path), 0o777);
    expect(await refusalOfNobody(path)).toEqual({ code: "opened" });
  });

  it.each([
    ["tables and no application id", "CREATE TABLE users (name TEXT)"],
    ["another application id", `PRAGMA application_id = ${APPLICATION_ID + 1}; CREATE TABLE users (name TEXT)`],
    ["another application id and nothing else", "PRAGMA application_id = 1"],
    ["a schema version of its own", "PRAGMA user_version = 3"],
  ])("a database with %s with STORE_FOREIGN, leaving it as it was", (_case, sql) => {
    const path = database(sql);
    const before = readFileSync(path);
    const refusal = refusalOf(() => sqliteStore(path));
    expect(refusal).toMatchObject({ code: "STORE_FOREIGN", details: { path } });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("a ledger of a newer schema with STORE_NEWER_SCHEMA, leaving it as it was", async () => {
    const path = await filledLedger();
    tamper(path, "PRAGMA user_version = 99");
    const before = readFileSync(path);
    const refusal = refusalOf(() => sqliteStore(path));
    expect(refusal).toMatchObject({ code: "STORE_NEWER_SCHEMA", details: { schema: 99 } });
    expect(refusal.message).toContain("Upgrade @qavr/sqlite");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.each([
    ["text", "These are the notes of somebody, and no database at all.\n".repeat(40)],
    ["a damaged header", `SQLite format 3\0${"\xff".repeat(4096)}`],
  ])("a file of %s with STORE_CORRUPT, leaving it as it was", (_case, content) => {
    const path = tempLedger();
    writeFileSync(path, content, "latin1");
    const refusal = refusalOf(() => sqliteStore(path));
    expect(refusal.code).toBe("STORE_CORRUPT");
    expect(refusal.cause).toBeInstanceOf(Error);
    expect(readFileSync(path, "latin1")).toBe(content);
  });

  it("a ledger that lacks a table with STORE_CORRUPT", async () => {
    const path = await filledLedger();
    tamper(path, "DROP TABLE state");
    expect(refusalOf(() => sqliteStore(path)).code).toBe("STORE_CORRUPT");
  });

  it("a ledger that is not there, or empty, for reading only with STORE_UNAVAILABLE", () => {
    const path = tempLedger();
    expect(refusalOf(() => sqliteStore({ path, readOnly: true })).code).toBe("STORE_UNAVAILABLE");
    writeFileSync(path, "");
    expect(refusalOf(() => sqliteStore({ path, readOnly: true }))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("is empty"),
    });
    expect(readFileSync(path)).toHaveLength(0);
  });

  it("nothing after a refusal: the file can be repaired and opened", async () => {
    const path = tempLedger();
    writeFileSync(path, "not a database");
    expect(refusalOf(() => sqliteStore(path)).code).toBe("STORE_CORRUPT");
    writeFileSync(path, "");
    const store = openStore(path);
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq: 1 }]);
  });
});
