import { DatabaseSync } from "node:sqlite";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it, onTestFinished } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { sqliteStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";
import { SHARES_FILES } from "./support/sharing.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

/** Another connection that takes the ledger's write lock and keeps it. */
function lockOf(path: string): { release(): void } {
  const db = new DatabaseSync(path);
  db.exec("BEGIN IMMEDIATE");
  onTestFinished(() => db.close());
  return { release: () => db.exec("ROLLBACK") };
}

describe.runIf(SHARES_FILES)("a write while another connection holds the lock", () => {
  it("is refused with STORE_BUSY after the busy timeout, and changes nothing", async () => {
    const path = tempLedger();
    const store = openStore({ path, busyTimeout: 40 });
    await store.commit("n", [tally("a")], counting);
    const lock = lockOf(path);
    const settled = await Promise.allSettled([
      store.commit("n", [tally("b")], counting),
      writeStates(store, "n", []),
      store.eraseNamespace("n"),
    ]);
    for (const outcome of settled) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "STORE_BUSY", details: { path } } });
    }
    expect(await countIn(store)).toBe(1);
    lock.release();
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
  });

  it("waits without blocking the event loop, joined by later writes, until the lock is free", async () => {
    const { path, store } = newLedger();
    const lock = lockOf(path);
    const first = store.commit("n", [tally("a")], counting);
    // A timer of this very event loop frees the lock: a write that slept on the main thread would wait for ever.
    await new Promise((resolve) => setTimeout(resolve, 30));
    const second = store.commit("n", [tally("b")], counting);
    lock.release();
    expect((await Promise.all([first, second])).flat().map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it("does not stop reads", async () => {
    const path = tempLedger();
    const store = openStore({ path, cacheBytes: 0 });
    await store.commit("n", [tally("a")], counting);
    lockOf(path);
    expect(await countIn(store)).toBe(1);
    expect(await store.readEntries("n", { limit: 5 })).toHaveLength(1);
  });

  it("is finished, or refused, before the store closes", async () => {
    const { path, store } = newLedger();
    const lock = lockOf(path);
    const committing = store.commit("n", [tally("a")], counting);
    const closing = store.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    lock.release();
    expect(await committing).toEqual([{ status: "committed", seq: 1 }]);
    await closing;
    const reopened = sqliteStore(path);
    expect(await countIn(reopened)).toBe(1);
    await reopened.close();
  });
});

describe.runIf(SHARES_FILES)("opening while another connection holds the lock", () => {
  it("needs no lock for a ledger that is there", async () => {
    const path = tempLedger();
    await sqliteStore(path).close();
    lockOf(path);
    await sqliteStore({ path, busyTimeout: 0 }).close();
  });

  it("is refused with STORE_BUSY when the file has yet to become a ledger", () => {
    const path = tempLedger();
    lockOf(path);
    const { code, message } = refusalOf(() => sqliteStore({ path, busyTimeout: 30 }));
    expect({ code, message }).toEqual({
      code: "STORE_BUSY",
      message: expect.stringMatching(/try again, close it, or raise busyTimeout of sqliteStore\(\)/),
    });
  });
});
