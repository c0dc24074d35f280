import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("leaves a lesson that fails and keeps the file as it was", async () => {
  const main = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main]);
  expect(stdout).toContain("1. Cache did not help\n2. Permissions helped\n");
  expect(stdout).toContain("bm25: Cache, Permissions\n");
  expect(stdout).toContain("confidence: Cache, Permissions\nlearned: Permissions, Cache\n");
  expect(stdout).toContain("the file is as it was written: true");
  expect(stderr).toBe("");
});
