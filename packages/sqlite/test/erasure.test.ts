import { existsSync, readFileSync } from "node:fs";
import type { Store } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.js";
import { tally } from "./support/counting.js";
import { tempLedger } from "./support/temp-folder.js";

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
    const path = tempLedger();
    const store = sqliteStore(path);
    await writeSecrets(store, "secret-namespace");
    // Only the log is read while the store is open: closing any descriptor of the file would drop its locks.
    expect(found(`${path}-wal`)).toEqual(SECRETS);
    await store.eraseNamespace("secret-namespace");
    expect(found(`${path}-wal`)).toEqual([]);
    await store.close();
    expect(found(path)).toEqual([]);
  });

  it("removes what an earlier session has written", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    await writeSecrets(store, "secret-namespace");
    await store.close();
    expect(found(path)).toEqual(SECRETS.filter((secret) => secret !== "secret-old"));
    const later = sqliteStore(path);
    await later.eraseNamespace("secret-namespace");
    await later.close();
    expect(found(path)).toEqual([]);
  });
});
