import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { afterAll } from "vitest";

const folders: string[] = [];
const vectors: LibSQLVector[] = [];

// Not earlier: LibSQL opens its files when it likes. Closing waits until it has, also where a test never asked for vectors.
afterAll(async () => {
  for (const vector of vectors) await vector.close();
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
  const vector = new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` });
  vectors.push(vector);
  return { storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }), vector };
}
