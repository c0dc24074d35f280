import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createConsumer } from "../src/consumer.js";
import { packAll } from "../src/pack.js";
import { type PublishedPackage, publishedPackages } from "../src/published-packages.js";
import { repositoryFile } from "../src/repository.js";

/** An application in `packages/checks/consumers`, the package it uses, the peers it installs and what it prints. */
const CONSUMERS = [
  {
    name: "@qavr/langchain",
    program: "langchain.ts",
    peers: ["@langchain/core", "langsmith", "zod"],
    prints: [
      "restart the database | restart the worker | committed 1 remember,report_outcome 0",
      "1 votes 1 ignored unknown 2 findings",
    ],
  },
] as const;

/** How users compile: by Node's own rules or a bundler's, always strictly, the packages' own types included. */
const COMPILER = {
  strict: true,
  noUncheckedIndexedAccess: true,
  target: "es2023",
  lib: ["esnext", "dom"],
  noEmit: true,
  types: [],
};
const RESOLUTIONS = {
  node: { module: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

/** The first version that a range names: ours start with their lowest. */
function lowest(range: string): string {
  const version = /\d+\.\d+\.\d+/.exec(range)?.[0];
  if (version === undefined) throw new Error(`The range ${range} names no version to start from.`);
  return version;
}

describe.each(CONSUMERS)("an application that uses $name", ({ name, program, peers, prints }) => {
  const entry = publishedPackages().find(({ manifest }) => manifest.name === name) as PublishedPackage;
  const ranges = entry.manifest.peerDependencies ?? {};
  let folder: string;
  let tarballs: ReadonlyMap<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "qavr-peers-"));
    tarballs = await packAll(folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ["lowest", lowest],
    ["latest", (range: string) => range],
  ])("compiles strictly and works with the %s peers that it may have", async (end, versionOf) => {
    const home = join(folder, end);
    const chosen = Object.fromEntries(peers.map((peer) => [peer, versionOf(ranges[peer] as string)]));
    const consumer = await createConsumer(home, entry, tarballs, chosen);
    await copyFile(repositoryFile(`packages/checks/consumers/${program}`), join(home, program));
    for (const [resolution, options] of Object.entries(RESOLUTIONS)) {
      const config = { compilerOptions: { ...COMPILER, ...options }, files: [program] };
      await writeFile(join(home, `tsconfig.${resolution}.json`), JSON.stringify(config));
      const { exitCode, output } = await consumer.run("tsc", ["-p", `tsconfig.${resolution}.json`]);
      expect(exitCode, output).toBe(0);
    }
    const { exitCode, stdout, output } = await consumer.run("node", [program]);
    expect(exitCode, output).toBe(0);
    expect(stdout.trim().split("\n")).toEqual(prints);
  });
});
