import { constants, existsSync, fsync, statSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises";
import { posix, resolve } from "node:path";
import { promisify } from "node:util";
import { QavrError } from "@qavr/core";
import { illegalOption } from "@qavr/core/store";

/** On Linux, an open folder is reached by its handle, also after another one has taken its name. */
const HANDLES = "/proc/self/fd";
const HAS_HANDLES = existsSync(HANDLES);

// Windows has none of these flags but the first.
const NO_LINK = constants.O_NOFOLLOW ?? 0;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINK;
/** A pipe is opened without a wait for its writer, so that it can be refused. */
const READ = constants.O_RDONLY | NO_LINK | (constants.O_NONBLOCK ?? 0);

/** Flags that write a file, made if missing, and refuse a link in its place. */
export const WRITE: number = constants.O_WRONLY | constants.O_CREAT | NO_LINK;

/** The absolute path of a root, which stays where the process changes its folder. @throws INVALID_ARGUMENT unless the folder exists */
export function rootAt(call: string, root: string): string {
  if (typeof root === "string" && statSync(root, { throwIfNoEntry: false })?.isDirectory()) return resolve(root);
  throw illegalOption("root", `${call}: root must be a folder that exists`, root);
}

/** Work with a file or in a folder; its path leads through no symbolic link below the root. */
type Work<Result> = (path: string) => Promise<Result>;

/**
 * Works in a folder below a root. On Linux its path keeps leading there when a link takes the place of a folder meanwhile; elsewhere
 * links are only looked for before.
 *
 * @param path From the root, with `/`; "." for the root, which may be a link itself.
 * @returns undefined where no folder is there, or a link on the way
 */
export async function inFolder<Result>(root: string, path: string, work: Work<Result>): Promise<Result | undefined> {
  return (await walk(root, path, work, async () => {}))?.[0];
}

/** As {@link inFolder}; makes the folders that are missing. @throws STORE_UNWRITABLE where something else is in their place */
export async function inMadeFolder<Result>(root: string, path: string, work: Work<Result>): Promise<Result> {
  const done = await walk(root, path, work, async (folder) => {
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  });
  if (done) return done[0];
  const says = `A file or a symbolic link is in the place of the folder ${path}, so nothing can be written there. Put a folder in its place.`;
  throw new QavrError("STORE_UNWRITABLE", says, { details: { path } });
}

async function walk<Result>(
  folder: string,
  path: string,
  work: Work<Result>,
  prepare: (folder: string) => Promise<void>,
): Promise<readonly [Result] | undefined> {
  const [name = ".", ...rest] = path.split("/");
  if (name === ".") return [await work(folder)];
  const next = posix.join(folder, name);
  await prepare(next);
  const below = rest.join("/") || ".";
  if (!HAS_HANDLES) {
    const is = await lstat(next).catch(noneThere);
    return is?.isDirectory() ? walk(next, below, work, prepare) : undefined;
  }
  const handle = await open(next, FOLDER).catch(noneThere);
  return handle && closing(handle, () => walk(`${HANDLES}/${handle.fd}`, below, work, prepare));
}

/**
 * Works with the place of a file below a root, as {@link inFolder} does.
 *
 * @returns undefined where its folder is missing, or a link on the way
 */
export function atPlace<Result>(root: string, path: string, work: Work<Result>): Promise<Result | undefined> {
  return inFolder(root, posix.dirname(path), (folder) => work(posix.join(folder, posix.basename(path))));
}

/** The bytes of a plain file below a root; undefined if there is none. @throws ELOOP for a link, INVALID_ARGUMENT for another kind of file */
export async function readPlainFile(root: string, path: string): Promise<Buffer | undefined> {
  return atPlace(root, path, (place) => readPlain(place, path));
}

/** The same for a place that {@link atPlace} gave. @param path for the message */
export async function readPlain(place: string, path: string = place): Promise<Buffer | undefined> {
  const file = await open(place, READ).catch(noneThere);
  return (
    file &&
    closing(file, async () => {
      if ((await file.stat()).isFile()) return file.readFile();
      const says = `${path} is no plain file. Put a plain file in its place.`;
      throw new QavrError("INVALID_ARGUMENT", says, { details: { path } });
    })
  );
}

/** Works with an open file or folder, and closes it. The handles of Yarn's Plug'n'Play are not disposable. */
export async function closing<Result>(handle: FileHandle, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    await handle.close();
  }
}

/** Resolves when what was written to a file, or in a folder, survives power loss. Plug'n'Play's handles have no `sync`. */
export function synced({ fd }: FileHandle): Promise<void> {
  return promisify(fsync)(fd);
}

/**
 * Writes or removes a file, or reads one that is to be written.
 *
 * @throws STORE_UNWRITABLE for errors of the file system, which may name a folder by its handle alone
 */
export async function writing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (QavrError.isInstance(cause)) throw cause;
    const says = `${path} could not be written. Check the permissions of the file and its folder, and the space on the disk.`;
    throw new QavrError("STORE_UNWRITABLE", says, { details: { path }, cause });
  }
}

/** For a missing file. @throws errors other than those of a missing file, and of a file or link in the place of a folder */
export function noneThere(error: NodeJS.ErrnoException): undefined {
  if (!isMissing(error)) throw error;
}

/** True for the error of a missing file, or of a file or link in the place of a folder. */
export function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === "ENOENT" || code === "ENOTDIR";
}
