import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join, posix } from "node:path";
import { QavrError } from "@qavr/core";
import { escapePath } from "tinyglobby";
import { type MarkdownFiles, markdownFiles } from "./markdown-files.js";
import { closing, inMadeFolder, synced, WRITE } from "./own-folders.js";

/** Files of lessons below a folder. */
export interface LessonFiles extends MarkdownFiles {
  /** @throws INVALID_ARGUMENT if the path leads through a symbolic link, since links are not searched */
  assertOwn(path: string): Promise<void>;
  /** Appends a text in one write, so that no other writer's text is lost; resolves when it is durable. Makes the file. @throws STORE_UNWRITABLE */
  append(path: string, text: string): Promise<void>;
}

/** @param name Name of the files, in any folder. */
export function lessonFiles(root: string, name: string): LessonFiles {
  return {
    ...markdownFiles(root, `**/${escapePath(name)}`),

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

    async append(path, text) {
      try {
        await inMadeFolder(root, posix.dirname(path), async (folder) => {
          const file = await open(join(folder, posix.basename(path)), WRITE | constants.O_APPEND);
          await closing(file, async () => {
            await file.appendFile(text);
            await synced(file);
          });
        });
      } catch (cause) {
        const says = `The lesson could not be written to ${path}. Check the permissions of the folder and the space on the disk.`;
        throw new QavrError("STORE_UNWRITABLE", says, { details: { path }, cause });
      }
    },
  };
}
