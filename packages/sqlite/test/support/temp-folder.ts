import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { closing } from "../../../core/test/support/closing.js";
import { sqliteStore } from "../../src/index.js";

/** A folder of this test's own, gone when the test has ended. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "qavr-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Path of a ledger that does not exist yet, in a folder of its own. */
export function tempLedger(): string {
  return join(tempFolder(), "ledger.db");
}

/** A store that is closed when the test has ended. */
export function openStore(options: Parameters<typeof sqliteStore>[0]): ReturnType<typeof sqliteStore> {
  return closing(sqliteStore(options));
}

/** A store on a ledger of its own, closed when the test has ended. */
export function newLedger(): { readonly path: string; readonly store: ReturnType<typeof sqliteStore> } {
  const path = tempLedger();
  return { path, store: openStore(path) };
}
