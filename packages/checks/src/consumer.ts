import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CommandResult, command, pnpm } from "./command.js";
import { type Manifest, type PublishedPackage, readManifest } from "./published-packages.js";

/** An application that installed one published package from its tarball, and nothing that it was not told to. */
export interface Consumer {
  /** Runs a module's source inside the application. */
  node(source: string): Promise<CommandResult>;
  /** Runs one of its commands, or one of this workspace's tools, in its folder. */
  run(file: string, parameters: readonly string[]): Promise<CommandResult>;
}

/**
 * Makes an empty folder, installs one package there with its peers, and leaves the workspace out of it: packages of the
 * same workspace come from their tarballs too.
 *
 * @param peers Versions or ranges of the peers to install; by default all of them, as the workspace has them.
 * @throws Error with pnpm's output when the installation fails.
 */
export async function createConsumer(
  folder: string,
  { folder: source, manifest }: PublishedPackage,
  tarballs: ReadonlyMap<string, string>,
  peers: Readonly<Record<string, string>> = installedPeers(source, manifest),
): Promise<Consumer> {
  const dependencies = { [manifest.name]: `file:${tarballs.get(manifest.name)}`, ...peers };
  const overrides = [...tarballs].map(([name, path]) => `  "${name}": "file:${path}"\n`).join("");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  await writeFile(join(folder, "pnpm-workspace.yaml"), `packages: []\npmOnFail: ignore\noverrides:\n${overrides}`);
  const { exitCode, output } = await pnpm(["install", "--prefer-offline", "--ignore-scripts"], folder);
  if (exitCode !== 0) throw new Error(`pnpm install failed in an application that uses ${manifest.name}:\n${output}`);
  return {
    node: (text) => command("node", ["--input-type=module", "--eval", text], { cwd: folder }),
    run: (file, parameters) => command(file, parameters, { cwd: folder }),
  };
}

function installedPeers(source: string, { peerDependencies = {} }: Manifest): Record<string, string> {
  return Object.fromEntries(
    Object.keys(peerDependencies).map((peer) => [peer, readManifest(join(source, "node_modules", peer)).version]),
  );
}
