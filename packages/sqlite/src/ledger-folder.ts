import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents so that they survive power loss: SQLite syncs the folder that its files are in, but
 * not the entries of new folders above it, and a ledger in a folder that is gone is gone.
 *
 * @throws the file system's error if a folder cannot be created.
 */
export function createDurableFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    syncFolder(parent);
    if (parent === dirname(first)) return;
  }
}

/** Makes the names in a folder survive power loss. Best effort: some platforms (Windows) cannot open a folder, and keep its entries safe by themselves. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Nothing to do: the folder exists, and the platform offers no more.
  }
}
