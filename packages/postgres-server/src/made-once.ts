import { existsSync } from "node:fs";
import { chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder in the temporary folder that all processes share: the first one fills it, the others find it. It stays there.
 *
 * @returns its absolute path
 */
export async function madeOnce(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const path = join(tmpdir(), `qavr-postgres-${name}`);
  if (existsSync(path)) return path;
  const draft = await mkdtemp(`${path}-`);
  await chmod(draft, 0o755);
  const filled = join(draft, "filled");
  await fill(filled);
  await rename(filled, path).catch((error: NodeJS.ErrnoException) => {
    // Another process was faster.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
  await rm(draft, { recursive: true, force: true });
  return path;
}
