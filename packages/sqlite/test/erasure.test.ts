import { existsSync, readFileSync } from "node:fs";
import type { Store } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { sqliteOutbox, sqliteStore } from "../src/index.js";
import { interceptSqlite } from "./support/fault-injection.js";
import { afterCommit, readerOf } from "./support/log-reader.js";
import { SHARES_FILES } from "./support/sharing.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

const SECRETS = [
  "secret-namespace",
  "secret-key",
  "secret-payload",
  "secret-state",
  "secret-id",
  "secret-scope",
  "secret-old",
];

/** Which secrets can be found in a file, by reading its bytes. */
function found(path: string): string[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  return SECRETS.filter((secret) => bytes.includes(secret));
}

/** Two versions of one state, so that there is an old one to leave behind. */
async function writeSecrets(store: Store, namespace: string): Promise<void> {
  const text = new TextEncoder();
  for (const [i, value] of ["secret-old".repeat(900), "secret-state"].entries()) {
    const entry = { ...tally(`secret-key-${i}`), payload: text.encode(`secret-payload ${i}`) };
    // biome-ignore lint/correctness/useYield: a reduction that needs to see no state yields nothing
    await store.commit(namespace, [entry], function* () {
      return [{ scope: "secret-scope", id: "secret-id", value: text.encode(value) }];
    });
  }
}

describe("eraseNamespace", () => {
  it("removes every byte of the namespace from log and file, earlier versions included", async () => {
    const { path, store } = newLedger();
    await writeSecrets(store, "secret-namespace");
    // Only the log is read while the store is open: closing any descriptor of the file would drop its locks.
    expect(found(`${path}-wal`)).toEqual(SECRETS);
    await store.eraseNamespace("secret-namespace");
    expect(found(`${path}-wal`)).toEqual([]);
    await store.close();
    expect(found(path)).toEqual([]);
  });

  it("removes what an earlier session has written", async () => {
    const { path, store } = newLedger();
    await writeSecrets(store, "secret-namespace");
    await store.close();
    expect(found(path)).toEqual(SECRETS.filter((secret) => secret !== "secret-old"));
    const later = sqliteStore(path);
    await later.eraseNamespace("secret-namespace");
    await later.close();
    expect(found(path)).toEqual([]);
  });

  it.runIf(SHARES_FILES)("waits for another connection that reads from the log, and cuts it then", async () => {
    const { path, store } = newLedger();
    await writeSecrets(store, "secret-namespace");
    const reader = readerOf(path);
    let isErased = false;
    const erasing = store.eraseNamespace("secret-namespace").then(() => {
      isErased = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(isErased).toBe(false);
    reader.stop();
    await erasing;
    expect(found(`${path}-wal`)).toEqual([]);
  });

  it.runIf(SHARES_FILES)("is done although somebody reads for long, and cuts the log with a later commit", async () => {
    const path = tempLedger();
    const store = openStore({ path, busyTimeout: 20 });
    await writeSecrets(store, "secret-namespace");
    const reader = readerOf(path);
    await store.eraseNamespace("secret-namespace");
    expect(await store.head("secret-namespace")).toBe(0);
    expect(found(`${path}-wal`)).not.toEqual([]);
    await store.commit("n", [tally("a")], counting);
    await afterCommit();
    expect(found(`${path}-wal`)).not.toEqual([]);
    reader.stop();
    await store.commit("n", [tally("b")], counting);
    await afterCommit();
    expect(found(`${path}-wal`)).toEqual([]);
    expect(await countIn(store)).toBe(2);
  });

  it.runIf(SHARES_FILES)("cuts the log when the store is closed, if it could not before", async () => {
    const path = tempLedger();
    const [store, other] = [sqliteStore({ path, busyTimeout: 20 }), sqliteStore(path)];
    await writeSecrets(store, "secret-namespace");
    const reader = readerOf(path);
    await store.eraseNamespace("secret-namespace");
    reader.stop();
    await store.close();
    expect(found(`${path}-wal`)).toEqual([]);
    await other.close();
  });

  it("is done although the disk is full when the log is to be cut, and cuts it with a later commit", async () => {
    const { path, store } = newLedger();
    await writeSecrets(store, "secret-namespace");
    let refused = 0;
    const restore = interceptSqlite((run, sql) => {
      if (!sql?.includes("wal_checkpoint")) return run();
      refused++;
      throw Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
    });
    await store.eraseNamespace("secret-namespace");
    restore();
    expect(refused).toBe(1);
    expect(await store.head("secret-namespace")).toBe(0);
    await store.commit("n", [tally("a")], counting);
    await afterCommit();
    expect(found(`${path}-wal`)).toEqual([]);
  });
});

describe("an outbox", () => {
  it("keeps no byte of what has left it, in its log or its file", async () => {
    const path = tempLedger();
    const outbox = sqliteOutbox(path);
    await outbox.append({ namespace: "secret-namespace", entries: [tally("secret-key")] });
    expect(found(`${path}-wal`)).toEqual(["secret-namespace", "secret-key"]);
    await outbox.remove((await outbox.read({ limit: 10 })).map(({ id }) => id));
    expect(found(`${path}-wal`)).toEqual([]);
    await outbox.close();
    expect(found(path)).toEqual([]);
  });
});
