import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";

/** A folder that goes at the end of the run; not earlier, because LibSQL opens its files at any time. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "qavr-mastra-"));
}

/** LibSQL files in a folder: storage and vectors as an application would have them. */
export function libsql(folder: string = temporaryFolder()): { storage: LibSQLStore; vector: LibSQLVector } {
  const vector = new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` });
  return { storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }), vector };
}
