import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { onTestFinished } from "vitest";

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "qavr-mastra-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** LibSQL files in a folder: storage and vectors as an application would have them. */
export function libsql(folder: string = temporaryFolder()): { storage: LibSQLStore; vector: LibSQLVector } {
  return {
    storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }),
    vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
  };
}
