import { readdir } from "node:fs";
import { lstat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { QavrError } from "@qavr/core";
import { glob } from "tinyglobby";
import { isMissing, noneThere, readPlainFile } from "./own-folders.js";

/** Markdown files below a folder, by their path from there, with `/`. */
export interface MarkdownFiles {
  /**
   * A stamp of each file, which changes when the file does. Symbolic links, anything that is no plain file, folders that begin with a dot,
   * and `node_modules` are left out. A folder that cannot be listed has a stamp, too; its path ends in `/`.
   */
  stamps(): Promise<ReadonlyMap<string, string>>;
  /**
   * The text of a file; empty if there is none. Refuses a link, a folder behind one, or a pipe that took its place since it was listed.
   *
   * @throws INVALID_ARGUMENT also for a file in UTF-16
   */
  read(path: string): Promise<string>;
}

/** The byte order marks of UTF-16, which no text in UTF-8 begins with. */
const UTF_16: readonly string[] = ["\xFF\xFE", "\xFE\xFF"];
const UNREADABLE = "unreadable";

/** @param patterns Globs of the files. */
export function markdownFiles(root: string, patterns: string | readonly string[]): MarkdownFiles {
  return {
    async stamps() {
      const stamps = new Map<string, string>();
      const paths = await glob(patterns, {
        cwd: root,
        ignore: "**/node_modules/**",
        followSymbolicLinks: false,
        fs: { readdir: listing((folder) => stamps.set(`${posixRelative(root, folder)}/`, UNREADABLE)) },
      });
      const found = await Promise.all(
        paths.sort().map(async (path): Promise<readonly [string, string][]> => {
          try {
            // Some were removed since the search.
            const is = await lstat(join(root, path)).catch(noneThere);
            return is?.isFile() ? [[path, `${is.ino}:${is.size}:${is.mtimeMs}:${is.ctimeMs}`]] : [];
          } catch {
            return [[path, UNREADABLE]];
          }
        }),
      );
      return new Map([...stamps, ...found.flat()]);
    },

    async read(path) {
      const bytes = await readPlainFile(root, path);
      if (UTF_16.includes(bytes?.toString("latin1", 0, 2) ?? "")) {
        throw new QavrError("INVALID_ARGUMENT", `${path} is in UTF-16. Save it as UTF-8.`, { details: { path } });
      }
      return bytes?.toString("utf8") ?? "";
    },
  };
}

/** `readdir` for a search, which takes a folder that cannot be listed for an empty one. */
function listing(onUnreadable: (folder: string) => void): typeof readdir {
  const list = (folder: string, options: { withFileTypes: true }, done: (...found: unknown[]) => void): void =>
    readdir(folder, options, (error, entries) => {
      if (error && !isMissing(error)) onUnreadable(folder);
      done(error, entries);
    });
  return list as typeof readdir;
}

function posixRelative(root: string, folder: string): string {
  return relative(root, folder).replaceAll(sep, "/") || ".";
}

/** True for a file that is gone: it has no stamp, and neither has a folder above it, which may still have the file. */
export function isGone(path: string, stamps: ReadonlyMap<string, string>): boolean {
  const names = path.split("/");
  const folders = names.map((_, depth) => `${names.slice(0, depth).join("/") || "."}/`);
  return ![path, ...folders].some((place) => stamps.has(place));
}

export function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, stamp]) => b.get(path) === stamp);
}
