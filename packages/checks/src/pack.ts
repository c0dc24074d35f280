import { join } from "node:path";
import { pnpm } from "./command.js";
import type { PublishedPackage } from "./published-packages.js";

/**
 * Packs packages into a folder.
 *
 * @returns Absolute paths of the tarballs, by package name.
 * @throws Error with pnpm's output when one cannot be packed
 */
export async function packAll(packages: readonly PublishedPackage[], folder: string): Promise<Map<string, string>> {
  const tarballs = new Map<string, string>();
  for (const { folder: source, manifest } of packages) {
    const { exitCode, output } = await pnpm(["pack", "--pack-destination", folder], source);
    if (exitCode !== 0) throw new Error(`pnpm pack failed for ${manifest.name}:\n${output}`);
    const file = `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
    tarballs.set(manifest.name, join(folder, file));
  }
  return tarballs;
}
