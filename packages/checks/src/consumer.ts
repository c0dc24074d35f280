import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CommandResult, command, pnpm } from "./command.js";
import { type PublishedPackage, readManifest } from "./published-packages.js";

/** Packages that an application installs besides the one under test, with their versions. */
export interface Installation {
  /** Versions of peers. One that is left out is not installed. @default those that the workspace has */
  readonly peers?: Readonly<Record<string, string>>;
  /** More packages, by version. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Versions of what those depend on. */
  readonly pins?: Readonly<Record<string, string>>;
}

/** An application that installed one published package from its tarball, and nothing that it was not told to. */
export interface Consumer {
  /** Runs a module's source inside the application. */
  node(source: string): Promise<CommandResult>;
}

/**
 * Makes an empty folder, installs one package there with its peers, and leaves the workspace out of it: packages of the
 * same workspace come from their tarballs too.
 *
 * @throws Error with pnpm's output when the installation fails.
 */
export async function createConsumer(
  folder: string,
  { folder: source, manifest }: PublishedPackage,
  tarballs: ReadonlyMap<string, string>,
  { peers = installedPeers(source, manifest), extra = {}, pins = {} }: Installation = {},
): Promise<Consumer> {
  const dependencies = { [manifest.name]: `file:${tarballs.get(manifest.name)}`, ...peers, ...extra };
  const files = [...tarballs].map(([name, path]) => [name, `file:${path}`] as const);
  const overrides = [...files, ...Object.entries(pins)].map(([name, to]) => `  "${name}": "${to}"\n`).join("");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  await writeFile(join(folder, "pnpm-workspace.yaml"), `packages: []\npmOnFail: ignore\noverrides:\n${overrides}`);
  const { exitCode, output } = await pnpm(["install", "--prefer-offline", "--ignore-scripts"], folder);
  if (exitCode !== 0) throw new Error(`pnpm install failed in an application that uses ${manifest.name}:\n${output}`);
  return {
    node: (text) => command("node", ["--input-type=module", "--eval", text], { cwd: folder }),
  };
}

/** The peers of a package at the versions that the workspace has. */
function installedPeers(
  source: string,
  { peerDependencies = {} }: PublishedPackage["manifest"],
): Record<string, string> {
  const peers = Object.keys(peerDependencies);
  return Object.fromEntries(peers.map((peer) => [peer, readManifest(join(source, "node_modules", peer)).version]));
}
