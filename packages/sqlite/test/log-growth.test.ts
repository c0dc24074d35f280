import { statSync } from "node:fs";
import type { Store } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { tally } from "../../core/test/support/counting.js";
import { interceptSqlite } from "./support/fault-injection.js";
import { afterCommit, readerOf } from "./support/log-reader.js";
import { SHARES_FILES } from "./support/sharing.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

const MIB = 1024 * 1024;

/** Commits 1 MiB, and lets what follows a commit happen. */
async function write(store: Store, key: string): Promise<void> {
  const payload = new Uint8Array(MIB).fill(key.length);
  await store.commit("n", [{ ...tally(key), payload }], withoutStates);
  await afterCommit();
}

// biome-ignore lint/correctness/useYield: a reduction that needs to see no state yields nothing
function* withoutStates() {
  return [];
}

describe.runIf(SHARES_FILES)("a log that readers keep from starting anew", () => {
  it("is cut beyond 16 MiB, as soon as that can be", async () => {
    const { path, store } = newLedger();
    await write(store, "first");
    const reader = readerOf(path);
    for (let i = 0; statSync(`${path}-wal`).size < 16 * MIB; i++) await write(store, `k${i}`);
    reader.stop();
    await write(store, "last");
    expect(statSync(`${path}-wal`).size).toBe(0);
    expect(await store.verify()).toMatchObject({ damaged: 0 });
  });

  it("is looked after once in 16 MiB, so that a long reading costs little", async () => {
    const path = tempLedger();
    const store = openStore({ path, busyTimeout: 10 });
    await write(store, "first");
    const reader = readerOf(path);
    let attempts = 0;
    interceptSqlite((run, sql) => {
      if (sql?.includes("wal_checkpoint")) attempts++;
      return run();
    });
    for (let i = 0; statSync(`${path}-wal`).size < 36 * MIB; i++) await write(store, `k${i}`);
    expect(attempts).toBe(2);
    reader.stop();
    // Cut in the meantime, the log is looked after as early as the first time.
    await store.eraseNamespace("none");
    expect(statSync(`${path}-wal`).size).toBe(0);
    await write(store, "new");
    const another = readerOf(path);
    attempts = 0;
    for (let i = 0; statSync(`${path}-wal`).size < 18 * MIB; i++) await write(store, `again ${i}`);
    expect(attempts).toBe(1);
    another.stop();
  });
});
