import { fileURLToPath } from "node:url";

/** Absolute path of a file or folder of this repository, given from its root. */
export function repositoryFile(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
