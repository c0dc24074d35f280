import { QavrError } from "@qavr/core";

/**
 * Position of a sync: an ISO date, before which all feedback is recorded. Losing it makes the next sync longer and nothing else, since
 * the ledger refuses duplicates.
 */
export interface SyncCursor {
  read(): Promise<string | undefined>;
  write(cursor: string): Promise<void>;
}

/**
 * A cursor in a file, whose folder is made when needed.
 *
 * @throws UNSUPPORTED on a runtime without files; from `write` the file system's errors
 */
export function fileCursor(path: string): SyncCursor {
  // Not imported, because bundlers for edge runtimes refuse these modules.
  const files = globalThis.process?.getBuiltinModule?.("node:fs/promises");
  const paths = globalThis.process?.getBuiltinModule?.("node:path");
  if (!files || !paths) {
    const message = "This runtime has no files. Pass an object with read and write as the cursor.";
    throw new QavrError("UNSUPPORTED", message);
  }
  const { mkdir, readFile, rename, writeFile } = files;
  const { dirname } = paths;
  return {
    async read() {
      try {
        return (await readFile(path, "utf8")).trim();
      } catch (error) {
        if ((error as { code?: unknown }).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async write(cursor) {
      await mkdir(dirname(path), { recursive: true });
      // In one step: a process that dies leaves the old cursor or the new one. Others may write at the same time.
      const fresh = `${path}.${crypto.randomUUID()}`;
      await writeFile(fresh, `${cursor}\n`);
      await rename(fresh, path);
    },
  };
}
