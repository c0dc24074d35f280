import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryFile } from "../src/repository.js";
import { legal, scenery, violations } from "./planted-imports.js";

describe("the import arrows of the workspace", () => {
  let root: string;
  let found: readonly { readonly from: string; readonly rule: string }[];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "qavr-arrows-"));
    const planted = Object.fromEntries(violations.map(({ file, source }) => [file, source]));
    for (const [file, source] of Object.entries({ ...scenery, ...legal, ...planted })) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), source);
    }
    // Built packages resolve through the workspace link to dist; the others stay bare names. Both forms must be caught.
    await mkdir(join(root, "node_modules/@qavr"), { recursive: true });
    await symlink(join(root, "packages/core"), join(root, "node_modules/@qavr/core"));
    found = await cruise(root);
  });

  afterAll(() => rm(root, { recursive: true, force: true }));

  it.each(violations)("forbid $what", ({ rule, file }) => {
    expect(found).toContainEqual({ from: file, rule });
  });

  it.each(Object.keys(legal))("allow what %s imports", (file) => {
    expect(found.filter(({ from }) => from === file)).toEqual([]);
  });
});

/** Runs dependency-cruiser as `pnpm lint` does, in another folder; exits with the number of violations. */
async function cruise(folder: string): Promise<{ from: string; rule: string }[]> {
  const command = repositoryFile("packages/checks/node_modules/.bin/depcruise");
  const config = repositoryFile(".dependency-cruiser.mjs");
  const run = promisify(execFile)(command, ["--config", config, "--output-type", "json", "packages", "examples"], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { stdout } = await run.catch((failure: { stdout: string }) => failure);
  const report = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  return report.summary.violations.map(({ from, rule }) => ({ from, rule: rule.name }));
}
