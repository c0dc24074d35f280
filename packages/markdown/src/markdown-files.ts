import { constants } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { glob } from "tinyglobby";

/** Markdown files below a folder, by their path from there, with `/`. */
export interface MarkdownFiles {
  /**
   * A stamp of each file, which changes when the file does. Symbolic links, anything that is no plain file, folders that begin with a dot,
   * and `node_modules` are left out.
   */
  stamps(): Promise<ReadonlyMap<string, string>>;
  /** The text of a file; empty if there is none. */
  read(path: string): Promise<string>;
}

/** Refuses a link that took the place of the file since it was listed. Windows has no such flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** @param patterns Globs of the files. */
export function markdownFiles(root: string, patterns: string | readonly string[]): MarkdownFiles {
  return {
    async stamps() {
      const paths = await glob(patterns, { cwd: root, ignore: "**/node_modules/**", followSymbolicLinks: false });
      const stamps = await Promise.all(
        paths.sort().map(async (path): Promise<readonly [string, string][]> => {
          try {
            const is = await lstat(join(root, path));
            return is.isFile() ? [[path, `${is.ino}:${is.size}:${is.mtimeMs}:${is.ctimeMs}`]] : [];
          } catch (error) {
            // Removed since the search.
            if (isMissing(error)) return [];
            throw error;
          }
        }),
      );
      return new Map(stamps.flat());
    },

    async read(path) {
      try {
        return await readFile(join(root, path), { encoding: "utf8", flag: READ });
      } catch (error) {
        if (isMissing(error)) return "";
        throw error;
      }
    },
  };
}

export function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, stamp]) => b.get(path) === stamp);
}

function isMissing(error: unknown): boolean {
  // ENOTDIR: a file has the name of its folder.
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException | null)?.code ?? "");
}
