import fs, { readFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { proceduresOf } from "./support/procedures.js";
import { lessonsIn, titles, vault } from "./support/vault.js";

/** Makes handles as Yarn's Plug'n'Play does: not disposable, and without `sync`. */
function withYarnsHandles(): void {
  const { open } = fs.promises;
  vi.spyOn(fs.promises, "open").mockImplementation(async (...given) => {
    const handle = await open(...given);
    const missing = {
      sync: () => Promise.reject(new Error("Method not implemented.")),
      [Symbol.asyncDispose]: undefined,
    };
    return Object.defineProperties(handle, Object.getOwnPropertyDescriptors(missing)) as unknown as FileHandle;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

it("reads and writes procedures under Yarn's Plug'n'Play", async () => {
  withYarnsHandles();
  const { root, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy the shop.\n" });
  expect((await procedures.search({ text: "deploy the shop" })).procedures).toHaveLength(1);
  expect((await procedures.migrate()).written).toEqual(["procedure:deploy"]);
  expect(readFileSync(join(root, "procedures/deploy.md"), "utf8")).toMatch(/^---\n/);
});

it("captures lessons under Yarn's Plug'n'Play", async () => {
  withYarnsHandles();
  const lessons = lessonsIn(vault());
  await lessons.capture({ project: "kubelab", title: "Cache", body: "Clear the cache." });
  expect(titles(await lessons.list())).toEqual(["Cache"]);
});
