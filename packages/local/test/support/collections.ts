import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { closing } from "../../../core/test/support/closing.js";
import { type LocalMemories, type LocalMemoriesOptions, localMemories } from "../../src/index.js";

/** Path of a file that does not exist yet, in a folder of this test's own. */
export function tempFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "qavr-local-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "memories.db");
}

/** A collection that is closed when the test has ended, by default in memory. */
export function collection(options: LocalMemoriesOptions = {}): LocalMemories {
  return closing(localMemories({ path: ":memory:", ...options }));
}

/** Ids of the memories that a search finds, best first. */
export async function found(memories: LocalMemories, text: string, limit = 10): Promise<string[]> {
  return (await memories.search({ text, limit })).map(({ id }) => id);
}
