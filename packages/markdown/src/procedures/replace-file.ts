import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Folder of files that are being written, below the root. */
const WRITES = ".qavr/writes";

/**
 * Replaces files below a root so that readers and crashes see the old bytes or the new ones: written beside, synced, renamed, and the
 * folder synced.
 */
export interface FileReplacer {
  /**
   * Returns false, and writes nothing, where the file is no plain file with exactly the bytes expected. An editor that writes between
   * the last look and the rename loses its text; that takes microseconds.
   */
  replace(path: string, expected: Uint8Array, bytes: Uint8Array): Promise<boolean>;
  /** Writes a new file, with its folders. Returns false where one is there. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Removes what processes left that ended while they wrote. */
  clear(): Promise<void>;
}

export function fileReplacer(root: string): FileReplacer {
  const folder = join(root, WRITES);

  /** Writes a file beside and gives it its name if `isExpected` still holds. */
  const put = async (
    path: string,
    bytes: Uint8Array,
    mode: number,
    isExpected: () => Promise<boolean>,
  ): Promise<boolean> => {
    await mkdir(folder, { recursive: true });
    const target = join(root, path);
    const beside = join(folder, `${process.pid}-${randomUUID()}`);
    try {
      {
        await using file = await open(beside, "wx", mode);
        await file.writeFile(bytes);
        await file.sync();
      }
      await chmod(beside, mode);
      if (!(await isExpected())) return false;
      await rename(beside, target);
      await syncFolder(dirname(target));
      return true;
    } finally {
      await rm(beside, { force: true });
    }
  };

  return {
    async replace(path, expected, bytes) {
      const isExpected = async (): Promise<boolean> => {
        if (!(await isPlain(root, path))) return false;
        return Buffer.from(expected).equals(await readFile(join(root, path)));
      };
      if (!(await isExpected())) return false;
      const { mode } = await lstat(join(root, path));
      return put(path, bytes, mode & 0o777, isExpected);
    },

    async create(path, bytes) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      const isMissing = async (): Promise<boolean> => !(await lstat(join(root, path)).catch(() => undefined));
      return (await isMissing()) && put(path, bytes, 0o644, isMissing);
    },

    async clear() {
      const names = await readdir(folder).catch(() => []);
      for (const name of names) {
        if (!isRunning(Number(name.split("-")[0]))) await rm(join(folder, name), { force: true });
      }
    },
  };
}

/** True for a plain file that no symbolic link leads to. */
async function isPlain(root: string, path: string): Promise<boolean> {
  try {
    const [top, folder] = await Promise.all([realpath(root), realpath(dirname(join(root, path)))]);
    return join(top, dirname(path)) === folder && (await lstat(join(root, path))).isFile();
  } catch {
    return false;
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === "win32") return;
  await using folder = await open(path, "r");
  await folder.sync();
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
