import { createHash } from "node:crypto";
import { unlink } from "node:fs/promises";
import { glob } from "tinyglobby";
import { atPlace, noneThere, readPlain, readPlainFile, writing } from "../own-folders.js";
import { idOf } from "./procedure-file.js";
import type { FileReplacer } from "./replace-file.js";

/** A copy of a file, kept when it was taken away or written. */
export interface ArchivedCopy {
  /** Id of the procedure. */
  readonly id: string;
  /** Its place before, from the root. */
  readonly path: string;
  /** Place of the copy, from the root. */
  readonly copy: string;
}

const FOLDER = ".qavr/archive";
const COPY = /^\.qavr\/archive\/(.+)@[0-9a-f]{12}\.md$/;

/** Copies of files below `.qavr/archive`. Nothing in it is ever deleted. */
export interface Archive {
  /** Copies a file; the same bytes once. Returns the place of the copy. */
  keep(path: string, bytes: Uint8Array): Promise<string>;
  /** Copies a file and removes it, if it still has these bytes. */
  take(path: string, bytes: Uint8Array): Promise<boolean>;
  list(): Promise<ArchivedCopy[]>;
  /** Writes a copy back to its place. Returns false where a file is there. */
  restore(copy: ArchivedCopy): Promise<boolean>;
}

export function archiveIn(root: string, replacer: FileReplacer): Archive {
  const keep = async (path: string, bytes: Uint8Array): Promise<string> => {
    const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
    const copy = `${FOLDER}/${path.replace(/\.md$/, "")}@${hash}.md`;
    await replacer.create(copy, bytes, path);
    return copy;
  };
  return {
    keep,
    async take(path, bytes) {
      await keep(path, bytes);
      const taken = await writing(path, () =>
        atPlace(root, path, async (place) => {
          const now = await readPlain(place).catch(() => undefined);
          if (!now?.equals(bytes)) return false;
          // Another process may have taken it since that look; rm() would not always tell.
          return unlink(place).then(
            () => true,
            (error) => noneThere(error) ?? false,
          );
        }),
      );
      return taken ?? false;
    },
    async list() {
      const copies = await glob(`${FOLDER}/**/*.md`, { cwd: root, dot: true, followSymbolicLinks: false });
      return copies.sort().flatMap((copy) => {
        const [, place] = COPY.exec(copy) ?? [];
        const path = `${place}.md`;
        return place === undefined ? [] : [{ id: idOf(path), path, copy }];
      });
    },
    async restore({ path, copy }) {
      const bytes = await readPlainFile(root, copy);
      return bytes !== undefined && replacer.create(path, bytes, copy);
    },
  };
}
