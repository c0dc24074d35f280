import { QavrError } from "@qavr/core";
import {
  assertEntry,
  assertName,
  type Defined,
  type FieldRule,
  type Outbox,
  resolveOptions,
  whole,
} from "@qavr/core/store";
import { OUTBOX, outboxTables, sizeOf } from "./outbox-tables.js";
import { openSqliteFile } from "./sqlite-file.js";
import { FILE_NAME } from "./sqlite-options.js";

/** File and limits of an outbox. */
export interface SqliteOutboxOptions {
  /** File of the outbox, on a local disk, relative to the working folder; missing folders are created. */
  readonly path: string;
  /** Most waiting outcomes (with their exposures). Raise it for longer outages of a busy application. @default 10,000 */
  readonly maxCommits?: number | undefined;
  /** Most bytes of waiting entries. @default 67,108,864 (64 MiB) */
  readonly maxBytes?: number | undefined;
}

/** Default options. */
export const OUTBOX_DEFAULTS: Defined<Omit<SqliteOutboxOptions, "path">> = {
  maxCommits: 10_000,
  maxBytes: 64 * 1024 * 1024,
};

const RULES: Readonly<Record<keyof SqliteOutboxOptions, FieldRule>> = {
  path: FILE_NAME,
  maxCommits: whole(1),
  maxBytes: whole(1),
};

/**
 * Keeps outcomes in a local SQLite file while a store is out of reach; for `withOutbox()` of `@qavr/core/store`. The
 * outbox survives power loss. Put it on another disk than the store, or on this machine when the store is on another.
 *
 * @param options the file's path, or all options
 * @throws INVALID_ARGUMENT, STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE
 * @example
 * const engine = createEngine({ store: withOutbox(store, sqliteOutbox(".qavr/outbox.db")) });
 */
export function sqliteOutbox(options: string | SqliteOutboxOptions): Outbox {
  const named = typeof options === "string" ? { path: options } : options;
  const { maxCommits, maxBytes, path } = resolveOptions("sqliteOutbox()", named, OUTBOX_DEFAULTS, RULES, ["path"]);
  const file = openSqliteFile(path, OUTBOX, outboxTables);

  return {
    name: "sqlite outbox",

    async append(commit) {
      assertName(commit.namespace, "namespace");
      for (const entry of commit.entries) assertEntry(entry);
      const bytes = sizeOf(commit);
      await file.write((tables) => {
        const waiting = tables.extent();
        if (waiting.commits >= maxCommits || waiting.bytes + bytes > maxBytes) throw full(file.path, waiting.commits);
        tables.add(commit);
      });
    },

    async read({ after = 0, limit }) {
      return file.read((tables) => tables.read(after, limit));
    },

    async remove(ids) {
      if (ids.length === 0) return;
      await file.write((tables) => {
        for (const id of ids) tables.remove(id);
      });
      // Without waiting for readers, since an outcome waits for this; a later commit tries again.
      await file.cutLog(0);
    },

    async size() {
      return file.read((tables) => tables.extent().commits);
    },

    close: file.close,
  };
}

function full(path: string, waiting: number): QavrError {
  return new QavrError(
    "OUTBOX_FULL",
    `The outbox ${path} is full with ${waiting} outcomes. Bring the store back, or raise maxCommits and maxBytes.`,
    { details: { path, waiting } },
  );
}
