import { existsSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { sqliteStore } from "../src/index.js";
import { SHARES_FILES } from "./support/sharing.js";
import { newLedger, openStore, tempFolder, tempLedger } from "./support/temp-folder.js";

describe("sqliteStore", () => {
  it("creates the file and every missing folder above it", async () => {
    const path = join(tempFolder(), "deep", "er", ".qavr", "ledger.db");
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    await store.close();
    expect(statSync(path).isFile()).toBe(true);
  });

  it("takes a file without any bytes for a new ledger", async () => {
    const path = tempLedger();
    writeFileSync(path, "");
    const store = openStore(path);
    await store.commit("n", [tally("a")], counting);
    expect(await countIn(store)).toBe(1);
  });

  it("takes an option that is there but undefined for its default", async () => {
    const options = { path: tempLedger(), synchronous: undefined, busyTimeout: undefined, cacheBytes: undefined };
    const store = openStore(options as unknown as Parameters<typeof sqliteStore>[0]);
    await store.commit("n", [tally("a")], counting);
    expect(await countIn(store)).toBe(1);
  });

  it("leaves one file behind when the last handle closes", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    expect(existsSync(`${path}-wal`)).toBe(true);
    await store.close();
    expect([existsSync(path), existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([true, false, false]);
  });

  it("keeps :memory: to itself: two of them share nothing, and nothing stays", async () => {
    const [one, two] = [openStore(":memory:"), openStore({ path: ":memory:" })];
    await one.commit("n", [tally("a")], counting);
    expect([await one.head("n"), await two.head("n")]).toEqual([1, 0]);
    expect(one.capabilities).toEqual({ durable: false, sharedBackend: false });
    expect(existsSync(":memory:")).toBe(false);
  });

  it("takes a path literally, whatever SQLite would make of it", async () => {
    const folder = tempFolder();
    for (const name of ["file:x.db?mode=memory", "a%20b.db", "with space.db", "ledger.db?mode=ro"]) {
      const path = join(folder, name);
      const store = sqliteStore(path);
      await store.commit("n", [tally("a")], counting);
      await store.close();
      expect(existsSync(path)).toBe(true);
    }
  });

  it("resolves a relative path against the working folder", async () => {
    const path = tempLedger();
    const store = sqliteStore(relative(process.cwd(), path));
    await store.close();
    expect(existsSync(join(dirname(path), basename(path)))).toBe(true);
  });

  it("syncs at every commit by default, and on request only at checkpoints", async () => {
    // Statements that the store sent to SQLite: another connection cannot read a connection's settings.
    const told: string[] = [];
    const { exec } = DatabaseSync.prototype;
    DatabaseSync.prototype.exec = function (sql: string) {
      told.push(sql);
      return exec.call(this, sql);
    };
    try {
      await sqliteStore(tempLedger()).close();
      await sqliteStore({ path: tempLedger(), synchronous: "normal" }).close();
    } finally {
      DatabaseSync.prototype.exec = exec;
    }
    const settings = told.filter((sql) => sql.includes("synchronous"));
    expect(settings).toEqual([
      "PRAGMA synchronous = full; PRAGMA fullfsync = ON",
      "PRAGMA synchronous = normal; PRAGMA fullfsync = OFF",
    ]);
  });

  it.runIf(SHARES_FILES)("reads a ledger that another handle writes, when opened for reading only", async () => {
    const path = tempLedger();
    const writer = openStore(path);
    await writer.commit("n", [tally("a")], counting);
    const reader = openStore({ path, readOnly: true });
    expect(await countIn(reader)).toBe(1);
    await writer.commit("n", [tally("b")], counting);
    expect(await countIn(reader)).toBe(2);
    await expect(reader.commit("n", [tally("c")], counting)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    await expect(reader.eraseNamespace("n")).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    await expect(writeStates(reader, "n", [])).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    expect(await countIn(writer)).toBe(2);
  });
});
