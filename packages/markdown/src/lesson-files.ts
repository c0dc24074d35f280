import { lstat, mkdir, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { QavrError } from "@qavr/core";
import { escapePath, glob } from "tinyglobby";

/** Files of lessons below a folder, by their path from there, with `/`. */
export interface LessonFiles {
  /** A stamp of each file, which changes when the file does. Folders that begin with a dot and `node_modules` are left out. */
  stamps(): Promise<ReadonlyMap<string, string>>;
  /** @throws INVALID_ARGUMENT if the path leads through a symbolic link, since links are not searched */
  assertOwn(path: string): Promise<void>;
  /** The text of a file; empty if there is none. */
  read(path: string): Promise<string>;
  /** Appends a text in one write, so that no other writer's text is lost; resolves when it is durable. Makes the file. @throws STORE_UNWRITABLE */
  append(path: string, text: string): Promise<void>;
}

/** @param name Name of the files, in any folder. */
export function lessonFiles(root: string, name: string): LessonFiles {
  const pattern = `**/${escapePath(name)}`;
  return {
    async stamps() {
      const paths = await glob(pattern, { cwd: root, ignore: "**/node_modules/**", followSymbolicLinks: false });
      const stamps = await Promise.all(
        paths.sort().map(async (path): Promise<readonly [string, string][]> => {
          try {
            const { ino, size, mtimeMs, ctimeMs } = await stat(join(root, path));
            return [[path, `${ino}:${size}:${mtimeMs}:${ctimeMs}`]];
          } catch (error) {
            // Removed since the search.
            if (isMissing(error)) return [];
            throw error;
          }
        }),
      );
      return new Map(stamps.flat());
    },

    async assertOwn(path) {
      const names = path.split("/");
      for (let depth = 1; depth <= names.length; depth++) {
        const part = names.slice(0, depth).join("/");
        const is = await lstat(join(root, part)).catch(() => undefined);
        if (!is?.isSymbolicLink()) continue;
        const says = `capture(): ${part} is a symbolic link. Lessons behind links are not searched; name the folder itself, or open its root.`;
        throw new QavrError("INVALID_ARGUMENT", says, { details: { path: part } });
      }
    },

    async read(path) {
      try {
        return await readFile(join(root, path), "utf8");
      } catch (error) {
        if (isMissing(error)) return "";
        throw error;
      }
    },

    async append(path, text) {
      try {
        await mkdir(join(root, path, ".."), { recursive: true });
        await using file = await open(join(root, path), "a");
        await file.appendFile(text);
        await file.sync();
      } catch (cause) {
        const says = `The lesson could not be written to ${path}. Check the permissions of the folder and the space on the disk.`;
        throw new QavrError("STORE_UNWRITABLE", says, { details: { path }, cause });
      }
    },
  };
}

function isMissing(error: unknown): boolean {
  // ENOTDIR: a file has the name of its folder.
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException | null)?.code ?? "");
}
