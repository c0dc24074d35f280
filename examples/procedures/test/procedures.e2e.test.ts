import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("revises a procedure that fails, and adopts the revision after its trial", async () => {
  const main = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main]);
  expect(stdout).toBe(`runs: false, false
revise: 2 of 2 runs with its present text failed.
adopt after at most 100 runs; copies in the archive: 1
---
description: Deploy the shop
owner: ops # keeps this comment
---
1. Wait for the lock.
2. Deploy.

confidence: 1; failures at this text: 0
`);
  expect(stderr).toBe("");
});
