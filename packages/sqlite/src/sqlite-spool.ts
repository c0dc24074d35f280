import {
  assertEntry,
  assertKnownFields,
  assertName,
  type Defined,
  definedOnly,
  type FieldsOf,
  illegalOption,
  QavrError,
  type Spool,
} from "@qavr/core";
import { logKeeper } from "./log-keeper.js";
import { openDatabase, prepareTables } from "./open-database.js";
import { SPOOL, sizeOf, spoolTables } from "./spool-tables.js";
import { onFile, toStoreError } from "./sqlite-errors.js";
import { resolveOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { writeQueue } from "./write-queue.js";

/** Where outcomes wait, and how many may. */
export interface SqliteSpoolOptions {
  /** File of the spool, on a local disk, relative to the working folder; missing folders are created. */
  readonly path: string;
  /** Outcomes (with their exposures) that may wait. Raise it for longer outages of a busy application. @default 10,000 */
  readonly maxCommits?: number | undefined;
  /** Bytes of entries that may wait. @default 67,108,864 (64 MiB) */
  readonly maxBytes?: number | undefined;
}

/** What applies when an option is left out. */
export const SPOOL_DEFAULTS: Defined<Omit<SqliteSpoolOptions, "path">> = {
  maxCommits: 10_000,
  maxBytes: 64 * 1024 * 1024,
};

const OPTIONS: FieldsOf<SqliteSpoolOptions> = { path: true, maxCommits: true, maxBytes: true };

/**
 * Keeps outcomes in a local SQLite file while an engine's store is out of reach; for `createEngine({ spool })`. What is kept
 * survives power loss. Put it on another disk than the store, or on this machine when the store is another's.
 *
 * @param options the file's path, or all options
 * @throws INVALID_ARGUMENT, STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE
 * @example
 * const engine = createEngine({ store, spool: sqliteSpool(".qavr/spool.db") });
 */
export function sqliteSpool(options: string | SqliteSpoolOptions): Spool {
  const { maxCommits, maxBytes, ...file } = withDefaults(options);
  const resolved = resolveOptions(file);
  const { path } = resolved;
  const opened = openDatabase(resolved, { format: SPOOL });
  const { db } = opened;
  const tables = prepareTables(db, path, () => spoolTables(db, path));
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
    if (closing) throw new QavrError("STORE_CLOSED", `The spool ${path} was closed before this call. Open it again.`);
  };
  const reading = <Result>(read: () => Result): Result => {
    try {
      return inSnapshot(db, read);
    } catch (error) {
      throw toStoreError(error, path);
    }
  };

  return {
    name: "sqlite spool",

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
      // An outcome waits for this: what somebody else's reading forbids now is done with a later commit.
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

/** @throws INVALID_ARGUMENT */
function withDefaults(given: string | SqliteSpoolOptions): Defined<SqliteSpoolOptions> {
  const named = typeof given === "string" ? { path: given } : (given ?? {});
  assertKnownFields(named, "sqliteSpool() has no option", OPTIONS);
  // The path is checked with what else the file needs.
  const options = {
    ...SPOOL_DEFAULTS,
    ...definedOnly<Partial<SqliteSpoolOptions>>(named, OPTIONS),
  } as Defined<SqliteSpoolOptions>;
  for (const option of ["maxCommits", "maxBytes"] as const) {
    if (Number.isInteger(options[option]) && options[option] >= 1) continue;
    throw illegalOption(option, `The option ${option} must be a whole number of at least 1`, options[option]);
  }
  return options;
}

function full(path: string, waiting: number): QavrError {
  return new QavrError(
    "SPOOL_FULL",
    `The spool ${path} holds ${waiting} outcomes, as many as it may. Bring the store back, or raise maxCommits and maxBytes.`,
    { details: { path, waiting } },
  );
}
