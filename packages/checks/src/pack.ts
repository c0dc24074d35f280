import { join } from "node:path";
import { pnpm } from "./command.js";
import { publishedPackages } from "./published-packages.js";

/**
 * Packs every published package into a folder.
 *
 * @returns the tarballs by package name.
 * @throws Error with pnpm's output when one cannot be packed.
 */
export async function packAll(folder: string): Promise<ReadonlyMap<string, string>> {
  const tarballs = new Map<string, string>();
  for (const { folder: source, manifest } of publishedPackages()) {
    const { name, version } = manifest;
    const { exitCode, output } = await pnpm(["pack", "--pack-destination", folder], source);
    if (exitCode !== 0) throw new Error(`pnpm pack failed for ${name}:\n${output}`);
    tarballs.set(name, join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`));
  }
  return tarballs;
}
