import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.js";
import { countIn, counting, tally } from "./support/counting.js";
import { firstSchemaLedger } from "./support/first-schema.js";
import { refusalOf } from "./support/refusal.js";
import { tamper } from "./support/tamper.js";
import { tempLedger } from "./support/temp-folder.js";

describe("a ledger of the first schema", () => {
  it("gets its digests when it is opened, and goes on as it was", async () => {
    const path = tempLedger();
    firstSchemaLedger(path, 50);
    const store = sqliteStore(path);
    const fresh = sqliteStore(":memory:");
    for (let i = 0; i < 50; i++) for (const name of ["n", "m"]) await fresh.commit(name, [tally(`k${i}`)], counting);
    expect(await store.verify()).toEqual(await fresh.verify());
    expect((await store.readEntries("n", { limit: 100 })).map(({ key }) => key)).toEqual(
      Array.from({ length: 50 }, (_, i) => `k${i}`),
    );
    expect(await countIn(store)).toBe(50);
    expect(await store.commit("n", [tally("k7"), tally("new")], counting)).toEqual([
      { status: "duplicate", seq: 8 },
      { status: "committed", seq: 51 },
    ]);
    expect(await store.verify()).toMatchObject({ damaged: 0, entries: 101 });
    await Promise.all([store.close(), fresh.close()]);
  });

  it("that is damaged is refused and left as it was: a digest would make the damage look right", () => {
    const path = tempLedger();
    firstSchemaLedger(path, 5);
    tamper(path, "UPDATE entry SET at = at + 1 WHERE seq = 3");
    expect(refusalOf(() => sqliteStore(path))).toMatchObject({ code: "STORE_CORRUPT", details: { seq: 3 } });
    const after = new DatabaseSync(path);
    expect(after.prepare("PRAGMA user_version").get()?.user_version).toBe(1);
    expect(after.prepare("SELECT count(*) AS n FROM entry WHERE checksum IS NOT NULL").get()?.n).toBe(10);
    after.close();
  });
});
