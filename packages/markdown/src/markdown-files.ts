import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { glob } from "tinyglobby";
import { noneThere, readPlainFile } from "./own-folders.js";

/** Markdown files below a folder, by their path from there, with `/`. */
export interface MarkdownFiles {
  /**
   * A stamp of each file, which changes when the file does. Symbolic links, anything that is no plain file, folders that begin with a dot,
   * and `node_modules` are left out.
   */
  stamps(): Promise<ReadonlyMap<string, string>>;
  /** The text of a file; empty if there is none. Refuses a link, a folder behind one, or a pipe that took its place since it was listed. */
  read(path: string): Promise<string>;
}

/** @param patterns Globs of the files. */
export function markdownFiles(root: string, patterns: string | readonly string[]): MarkdownFiles {
  return {
    async stamps() {
      const paths = await glob(patterns, { cwd: root, ignore: "**/node_modules/**", followSymbolicLinks: false });
      const stamps = await Promise.all(
        paths.sort().map(async (path): Promise<readonly [string, string][]> => {
          // Some were removed since the search.
          const is = await lstat(join(root, path)).catch(noneThere);
          return is?.isFile() ? [[path, `${is.ino}:${is.size}:${is.mtimeMs}:${is.ctimeMs}`]] : [];
        }),
      );
      return new Map(stamps.flat());
    },

    async read(path) {
      return (await readPlainFile(root, path))?.toString("utf8") ?? "";
    },
  };
}

export function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, stamp]) => b.get(path) === stamp);
}
