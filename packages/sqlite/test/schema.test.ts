import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { APPLICATION_ID, type FileFormat, inspect, LEDGER, migrate } from "../src/schema.js";
import { refusalOf } from "./support/refusal.js";
import { tempLedger } from "./support/temp-folder.js";

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
