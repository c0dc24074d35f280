import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("gets right what it got wrong before, and archives the notes that only failed", async () => {
  const main = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main]);
  expect(stdout).toContain("right: 2 of 4 → 4 of 4");
  expect(stdout).toContain("archived: clear-cache, restart-proxy; left: 4");
  expect(stderr).toBe("");
});
