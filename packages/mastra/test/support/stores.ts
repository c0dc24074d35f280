import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { afterAll } from "vitest";

const folders: string[] = [];

// Not earlier: LibSQL opens its files when it likes.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes when the file's tests are done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "qavr-mastra-"));
  folders.push(folder);
  return folder;
}

/** LibSQL files in a folder: storage and vectors as an application would have them. */
export function libsql(folder: string = temporaryFolder()): { storage: LibSQLStore; vector: LibSQLVector } {
  return {
    storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }),
    vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
  };
}
