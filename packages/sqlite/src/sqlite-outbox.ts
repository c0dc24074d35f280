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
import { logKeeper } from "./log-keeper.js";
import { openDatabase, prepareTables } from "./open-database.js";
import { OUTBOX, outboxTables, sizeOf } from "./outbox-tables.js";
import { onFile, toStoreError } from "./sqlite-errors.js";
import { FILE_NAME, resolveSqliteOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { writeQueue } from "./write-queue.js";

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
  const { maxCommits, maxBytes, ...file } = resolveOptions("sqliteOutbox()", named, OUTBOX_DEFAULTS, RULES);
  const resolved = resolveSqliteOptions(file);
  const { path } = resolved;
  const opened = openDatabase(resolved, { format: OUTBOX });
  const { db } = opened;
  const tables = prepareTables(db, path, () => outboxTables(db, path));
  const log = logKeeper(opened, resolved);
  const queue = writeQueue<undefined>(db, resolved, {
    prepare: log.look,
    begin: () => undefined,
    write: () => undefined,
    committed: log.committed,
    abandoned: () => undefined,
  });
  let closing: Promise<void> | undefined;

  const enter = (): void => {
    if (closing) throw new QavrError("STORE_CLOSED", `The outbox ${path} was closed before this call. Open it again.`);
  };
  const reading = <Result>(read: () => Result): Result => {
    try {
      return inSnapshot(db, read);
    } catch (error) {
      throw toStoreError(error, path);
    }
  };

  return {
    name: "sqlite outbox",

    async append(commit) {
      enter();
      assertName(commit.namespace, "namespace");
      for (const entry of commit.entries) assertEntry(entry);
      const bytes = sizeOf(commit);
      await queue.together(() => {
        const waiting = onFile(() => tables.extent());
        if (waiting.commits >= maxCommits || waiting.bytes + bytes > maxBytes) throw full(path, waiting.commits);
        onFile(() => tables.add(commit));
      });
    },

    async read({ after = 0, limit }) {
      enter();
      return reading(() => tables.read(after, limit));
    },

    async remove(ids) {
      enter();
      if (ids.length === 0) return;
      await queue.together(() => {
        for (const id of ids) onFile(() => tables.remove(id));
      });
      // Without waiting for readers, since an outcome waits for this; a later commit tries again.
      await log.cut(0);
    },

    async size() {
      enter();
      return reading(() => tables.extent().commits);
    },

    close() {
      closing ??= queue.drained().then(() => {
        log.close();
        db.close();
      });
      return closing;
    },
  };
}

function full(path: string, waiting: number): QavrError {
  return new QavrError(
    "OUTBOX_FULL",
    `The outbox ${path} is full with ${waiting} outcomes. Bring the store back, or raise maxCommits and maxBytes.`,
    { details: { path, waiting } },
  );
}
