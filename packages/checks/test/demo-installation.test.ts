import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { repositoryFile } from "../src/repository.js";

/** The parts of pnpm-lock.yaml that are read here. */
interface Lockfile {
  readonly importers: Readonly<
    Record<string, { readonly dependencies?: Readonly<Record<string, { readonly version: string }>> }>
  >;
  readonly snapshots: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}

const lockfile = parse(readFileSync(repositoryFile("pnpm-lock.yaml"), "utf8")) as Lockfile;

/** Packages of the workspace and from outside that the ones in these folders run with; builds for one system are not counted. */
function installed(folders: readonly string[]): { workspace: ReadonlySet<string>; outside: ReadonlySet<string> } {
  const workspace = new Set(folders);
  const outside = new Set<string>();
  for (const folder of workspace) {
    for (const [name, { version }] of Object.entries(lockfile.importers[folder]?.dependencies ?? {})) {
      if (version.startsWith("link:")) workspace.add(posix.join(folder, version.slice("link:".length)));
      else outside.add(`${name}@${version}`);
    }
  }
  for (const key of outside) {
    for (const [name, version] of Object.entries(lockfile.snapshots[key]?.dependencies ?? {})) {
      outside.add(`${name}@${version}`);
    }
  }
  return { workspace, outside };
}

describe("what starting the demo installs", () => {
  const { workspace, outside } = installed([".", "examples/demo"]);

  it("is the demo and the four packages that it runs with", () => {
    expect([...workspace].sort()).toEqual([
      ".",
      "examples/demo",
      "packages/core",
      "packages/lab",
      "packages/langchain",
      "packages/sqlite",
    ]);
  });

  it("is a hundred packages, not all thousand of the workspace", () => {
    expect(outside.size).toBeLessThanOrEqual(100);
  });
});

describe("the lockfile", () => {
  it.each(["turbo", "@biomejs/biome"])("has the program of %s for every system", (tool) => {
    const manifest = JSON.parse(readFileSync(repositoryFile(`node_modules/${tool}/package.json`), "utf8"));
    for (const [build, version] of Object.entries(manifest.optionalDependencies)) {
      expect(lockfile.snapshots).toHaveProperty([`${build}@${version}`]);
    }
  });
});
