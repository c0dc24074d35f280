import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SHARES_FILES } from "./support/sharing.js";
import { lesson, lessonsIn, vault } from "./support/vault.js";

/** Runs the fixture, which imports the built package, to its end. Resolves with its standard error. */
async function reader(...args: string[]): Promise<string> {
  const path = fileURLToPath(new URL("./fixtures/read-lessons.mjs", import.meta.url));
  return text(spawn(process.execPath, [path, ...args], { stdio: ["ignore", "ignore", "pipe"] }).stderr);
}

describe.runIf(SHARES_FILES)("several processes", () => {
  it("L5: count 4 times 25 readings as 100", async () => {
    const root = vault({ "hive/90-lessons.md": "### [2026-01-04] WAL\n\nUse WAL for concurrent readers.\n" });
    const errors = await Promise.all(Array.from({ length: 4 }, () => reader(root, "25", "WAL")));
    expect(errors).toEqual(["", "", "", ""]);
    const lessons = lessonsIn(root);
    expect((await lesson(lessons, "WAL")).reinforcements).toBe(100);
    expect(await lessons.list()).toHaveLength(1);
  });
});
