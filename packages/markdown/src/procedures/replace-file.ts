import { randomUUID } from "node:crypto";
import { lstat, open, readdir, rename, rm } from "node:fs/promises";
import { posix } from "node:path";
import { atPlace, closing, inFolder, inMadeFolder, noneThere, readPlain, synced, writing } from "../own-folders.js";

/** Folder of files that are being written, below the root. */
const WRITES = ".qavr/writes";

/**
 * Replaces files below a root so that readers and crashes see the old bytes or the new ones: written beside, synced, renamed, and the
 * folder synced.
 */
export interface FileReplacer {
  /**
   * Returns false, and writes nothing, where the file is no plain file with exactly the bytes expected. An editor that writes between
   * the last look and the rename loses its text; that takes microseconds. @throws STORE_UNWRITABLE
   */
  replace(path: string, expected: Uint8Array, bytes: Uint8Array): Promise<boolean>;
  /**
   * Writes a new file, with its folders. Returns false where one is there.
   *
   * @param like a file from the root whose permissions it gets. @default those of any new file
   * @throws STORE_UNWRITABLE also where a link leads there
   */
  create(path: string, bytes: Uint8Array, like?: string): Promise<boolean>;
  /** Removes files of processes that ended while they wrote. */
  clear(): Promise<void>;
}

export function fileReplacer(root: string): FileReplacer {
  /** Writes a file beside and gives it its name, if `modeAt` finds a mode for its place before and after. */
  const put = async (
    place: string,
    bytes: Uint8Array,
    modeAt: (place: string) => Promise<number | undefined>,
    exact: boolean,
  ): Promise<boolean> => {
    const mode = await modeAt(place);
    if (mode === undefined) return false;
    return inMadeFolder(root, WRITES, async (writes) => {
      const beside = posix.join(writes, `${process.pid}-${randomUUID()}`);
      try {
        const file = await open(beside, "wx", mode);
        await closing(file, async () => {
          await file.writeFile(bytes);
          if (exact) await file.chmod(mode);
          await synced(file);
        });
        if ((await modeAt(place)) === undefined) return false;
        await rename(beside, place);
        await syncFolder(posix.dirname(place));
        return true;
      } finally {
        await rm(beside, { force: true });
      }
    });
  };

  return {
    async replace(path, expected, bytes) {
      const modeAt = async (place: string): Promise<number | undefined> => {
        const now = await readPlain(place).catch(() => undefined);
        return now?.equals(expected) ? (await lstat(place)).mode & 0o777 : undefined;
      };
      return writing(
        path,
        async () => (await atPlace(root, path, (place) => put(place, bytes, modeAt, true))) ?? false,
      );
    },

    async create(path, bytes, like) {
      const model =
        like === undefined ? undefined : await atPlace(root, like, (place) => lstat(place).catch(noneThere));
      const mode = (model?.mode ?? 0o666) & 0o777;
      const modeAt = async (place: string): Promise<number | undefined> =>
        (await lstat(place).catch(() => undefined)) ? undefined : mode;
      return writing(path, () =>
        inMadeFolder(root, posix.dirname(path), (folder) =>
          put(posix.join(folder, posix.basename(path)), bytes, modeAt, model !== undefined),
        ),
      );
    },

    async clear() {
      await inFolder(root, WRITES, async (writes) => {
        for (const name of await readdir(writes)) {
          if (!isRunning(Number(name.split("-")[0]))) await rm(posix.join(writes, name), { force: true });
        }
      });
    },
  };
}

async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  await closing(folder, () => synced(folder));
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
