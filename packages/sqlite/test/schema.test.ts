import { DatabaseSync } from "node:sqlite";
import type { Reduce } from "@qavr/core/store";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.js";
import { APPLICATION_ID, type FileFormat, inspect, LEDGER, migrate } from "../src/schema.js";
import { refusalOf } from "./support/refusal.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

// biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
const NOTHING: Reduce = function* () {
  return [];
};

const steps = ["CREATE TABLE one (a)", "CREATE TABLE two (a)", "ALTER TABLE one ADD COLUMN b"];

/** A ledger that knows the first steps only. */
const until = (count: number, more: readonly string[] = []): FileFormat => ({
  ...LEDGER,
  migrations: [...steps.slice(0, count), ...more],
});
const newest = until(steps.length);

const tables = (db: DatabaseSync): unknown[] =>
  db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name);

const header = (db: DatabaseSync): unknown[] => [
  db.prepare("PRAGMA application_id").get()?.application_id,
  db.prepare("PRAGMA user_version").get()?.user_version,
];

describe("opening a ledger whose tables something else has changed", () => {
  const made = async (sql: string): Promise<string> => {
    const { path, store } = newLedger();
    await store.commit("n", [{ key: "k", type: "t", at: 1, payload: Uint8Array.of(1) }], NOTHING);
    await store.close();
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
    return path;
  };

  it.each([
    ["a missing column", "ALTER TABLE entry DROP COLUMN payload", "table entry"],
    ["a column more", "ALTER TABLE state ADD COLUMN seen INTEGER", "table state"],
    ["a missing table", "DROP TABLE compacted_key", "table compacted_key"],
    [
      "a trigger that drops entries",
      "CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
      "trigger t",
    ],
    ["its version set back", "PRAGMA user_version = 0", "user_version"],
  ])("refuses %s", async (_, sql, changed) => {
    const path = await made(sql);
    for (const readOnly of [false, true]) {
      expect(refusalOf(() => sqliteStore({ path, readOnly }))).toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining("restore a backup"),
        details: { path, changed },
      });
    }
  });

  it("leaves alone what does no harm", async () => {
    const path = await made("ANALYZE; CREATE TABLE mine (a); CREATE INDEX entry_at ON entry (at); VACUUM");
    const store = openStore(path);
    expect(await store.head("n")).toBe(1);
  });
});

describe("migrate", () => {
  it("brings a new file to the newest schema and marks it as a ledger", () => {
    const db = new DatabaseSync(tempLedger());
    expect(inspect(db, "x")).toBe("new");
    migrate(db, "x");
    expect(tables(db)).toEqual(["checkpoint_state", "compacted_key", "entry", "namespace", "scope", "state"]);
    expect(header(db)).toEqual([APPLICATION_ID, 1]);
    expect(inspect(db, "x")).toBe("current");
    db.close();
  });

  it("does only the steps that an older ledger lacks", () => {
    const db = new DatabaseSync(tempLedger());
    migrate(db, "x", until(1));
    expect(inspect(db, "x", newest)).toBe("older");
    migrate(db, "x", newest);
    expect(tables(db)).toEqual(["one", "two"]);
    migrate(db, "x", newest);
    expect(header(db)).toEqual([APPLICATION_ID, 3]);
    expect(inspect(db, "x", newest)).toBe("current");
    db.close();
  });

  it("leaves a ledger as it was when a step fails half way", () => {
    const db = new DatabaseSync(tempLedger());
    migrate(db, "x", until(1));
    expect(() => migrate(db, "x", until(2, ["CREATE TABLE three (a); CREATE TABLE one (b)"]))).toThrow("one");
    expect(tables(db)).toEqual(["one"]);
    expect(header(db)).toEqual([APPLICATION_ID, 1]);
    expect(inspect(db, "x", until(1))).toBe("current");
    db.close();
  });

  it("finds the work done when another process was first", () => {
    const path = tempLedger();
    const [first, second] = [new DatabaseSync(path), new DatabaseSync(path)];
    expect([inspect(first, path, newest), inspect(second, path, newest)]).toEqual(["new", "new"]);
    migrate(first, path, newest);
    migrate(second, path, newest);
    expect(header(second)).toEqual([APPLICATION_ID, 3]);
    first.close();
    second.close();
  });

  it("looks again under the lock: a newer process may have been first", () => {
    const path = tempLedger();
    const [older, newer] = [new DatabaseSync(path), new DatabaseSync(path)];
    expect(inspect(older, path, until(1))).toBe("new");
    migrate(newer, path, newest);
    expect(refusalOf(() => migrate(older, path, until(1))).code).toBe("STORE_NEWER_SCHEMA");
    expect(header(older)).toEqual([APPLICATION_ID, 3]);
    older.close();
    newer.close();
  });
});
