import { describe, expect, it } from "vitest";
import { openDatabase } from "../src/open-database.js";
import { resolveSqliteOptions } from "../src/sqlite-options.js";
import { refusalOf } from "./support/refusal.js";
import { tempLedger } from "./support/temp-folder.js";

describe("a ledger on a SQLite whose WAL cannot be shared", () => {
  it("is locked for the first handle until it closes", () => {
    const options = resolveSqliteOptions({ path: tempLedger(), busyTimeout: 30 });
    const first = openDatabase(options, { sharable: false });
    expect(first.shared).toBe(false);
    const refusal = refusalOf(() => openDatabase(options, { sharable: false }));
    expect(refusal.code).toBe("STORE_BUSY");
    expect(refusal.message).toContain("3.51.3 or newer");
    expect(refusalOf(() => openDatabase(options, { sharable: true })).code).toBe("STORE_BUSY");
    first.db.close();
    openDatabase(options, { sharable: false }).db.close();
  });

  it("is refused while a handle of another process may share it", () => {
    const options = resolveSqliteOptions({ path: tempLedger(), busyTimeout: 30 });
    const sharing = openDatabase(options, { sharable: true });
    expect(refusalOf(() => openDatabase(options, { sharable: false })).code).toBe("STORE_BUSY");
    sharing.db.close();
    openDatabase(options, { sharable: false }).db.close();
  });

  it("is read by several handles that only read, while none writes", () => {
    const path = tempLedger();
    const writing = resolveSqliteOptions({ path, busyTimeout: 30 });
    const reading = resolveSqliteOptions({ path, busyTimeout: 30, readOnly: true });
    const writer = openDatabase(writing, { sharable: false });
    expect(refusalOf(() => openDatabase(reading, { sharable: false })).message).toContain("3.51.3 or newer");
    writer.db.close();
    const readers = [openDatabase(reading, { sharable: false }), openDatabase(reading, { sharable: false })];
    expect(refusalOf(() => openDatabase(writing, { sharable: false })).code).toBe("STORE_BUSY");
    for (const { db } of readers) db.close();
    openDatabase(writing, { sharable: false }).db.close();
  });
});
