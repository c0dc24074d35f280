import type { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import { loadSqlite } from "./sqlite-module.js";
import { rollBack } from "./transaction.js";

/** "qavr" in ASCII. */
export const APPLICATION_ID = 0x71617672;

/** A kind of file that this package keeps. */
export interface FileFormat {
  /** For messages: the word for such a file. */
  readonly what: string;
  /** In the header of every such file; distinguishes it from databases of other applications. */
  readonly applicationId: number;
  /** SQL that brings a file from schema n to n + 1; `user_version` counts the steps. A released step never changes. */
  readonly migrations: readonly string[];
}

/**
 * The format of a ledger. `base` is the last entry that was compacted away.
 *
 * Names are BLOBs of UTF-8: some versions of node:sqlite cut TEXT at a NUL when they read it, and BLOBs compare byte by byte
 * whatever the collation. `state` keeps a rowid: with values of about 1 KB a WITHOUT ROWID table spills every row to an
 * overflow page (measured: 3.3 times the size, a batch of 50 reads 7 times slower).
 */
export const LEDGER: FileFormat = {
  what: "ledger",
  applicationId: APPLICATION_ID,
  migrations: [
    `
    CREATE TABLE namespace (
      id                INTEGER PRIMARY KEY,
      name              BLOB    NOT NULL UNIQUE,
      head              INTEGER NOT NULL,
      digest            BLOB    NOT NULL,
      base              INTEGER NOT NULL DEFAULT 0,
      base_digest       BLOB    NOT NULL,
      checkpoint_digest BLOB    NOT NULL DEFAULT x''
    ) STRICT;

    CREATE TABLE entry (
      id        INTEGER PRIMARY KEY,
      namespace INTEGER NOT NULL,
      seq       INTEGER NOT NULL,
      key       BLOB    NOT NULL,
      type      BLOB    NOT NULL,
      at        REAL    NOT NULL,
      payload   BLOB    NOT NULL,
      digest    BLOB    NOT NULL,
      UNIQUE (namespace, seq),
      UNIQUE (namespace, key)
    ) STRICT;

    CREATE TABLE scope (
      id        INTEGER PRIMARY KEY,
      namespace INTEGER NOT NULL,
      name      BLOB    NOT NULL,
      UNIQUE (namespace, name)
    ) STRICT;

    CREATE TABLE state (
      scope INTEGER NOT NULL,
      id    BLOB    NOT NULL,
      value BLOB    NOT NULL,
      PRIMARY KEY (scope, id)
    ) STRICT;

    CREATE TABLE checkpoint_state (
      namespace INTEGER NOT NULL,
      scope     BLOB    NOT NULL,
      id        BLOB    NOT NULL,
      value     BLOB    NOT NULL,
      PRIMARY KEY (namespace, scope, id)
    ) STRICT;

    CREATE TABLE compacted_key (
      namespace      INTEGER NOT NULL,
      key            BLOB    NOT NULL,
      seq            INTEGER NOT NULL,
      payload_digest BLOB    NOT NULL,
      digest         BLOB    NOT NULL,
      PRIMARY KEY (namespace, key)
    ) STRICT, WITHOUT ROWID;
    `,
  ],
};

/** Tables whose rows belong to a row of another table. The owner's name is also the name of the column that refers to it. */
export const OWNED = {
  namespace: ["entry", "scope", "checkpoint_state", "compacted_key"],
  scope: ["state"],
} as const;

/** State of a file before anything is written to it. */
export type FileKind = "new" | "current" | "older";

/**
 * Judges an open database without changing it. Several statements: call it inside a transaction.
 *
 * @throws STORE_FOREIGN for another application's database, STORE_NEWER_SCHEMA for a file of a newer version of this package,
 * STORE_CORRUPT where its tables are not those of its schema
 */
export function inspect(db: DatabaseSync, path: string, format: FileFormat = LEDGER): FileKind {
  const { what, migrations } = format;
  const applicationId = pragma(db, "application_id");
  const version = pragma(db, "user_version");
  const objects = Number(db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n);
  if (applicationId === 0 && version === 0 && objects === 0) return "new";
  if (applicationId !== format.applicationId) {
    throw new QavrError(
      "STORE_FOREIGN",
      `The file ${path} is the database of another application. Choose another path for the ${what}.`,
      { details: { path, applicationId } },
    );
  }
  if (version > migrations.length) {
    throw new QavrError(
      "STORE_NEWER_SCHEMA",
      `The ${what} ${path} has schema ${version}; this version of @qavr/sqlite knows schemas up to ${migrations.length}. Upgrade @qavr/sqlite.`,
      { details: { path, schema: version, known: migrations.length } },
    );
  }
  const changed = changedObject(db, migrations.slice(0, version));
  if (changed !== undefined || version === 0) {
    throw new QavrError(
      "STORE_CORRUPT",
      `The ${what} ${path} was changed by something other than @qavr/sqlite: ${changed ?? "its schema version"} is not as it was created. Undo that, or restore a backup.`,
      { details: { path, changed: changed ?? "user_version" } },
    );
  }
  return version === migrations.length ? "current" : "older";
}

/**
 * The first table, column list or index that is missing or other than `steps` create it, or a trigger that they do not create: it could
 * drop written rows. Undefined for none. Further tables, indexes and views do no harm.
 */
function changedObject(db: DatabaseSync, steps: readonly string[]): string | undefined {
  const model = new (loadSqlite().DatabaseSync)(":memory:");
  try {
    for (const step of steps) model.exec(step);
    const [expected, found] = [objectsIn(model), objectsIn(db)];
    for (const [object, sql] of expected) if (found.get(object) !== sql) return object;
    return [...found.keys()].find((object) => object.startsWith("trigger ") && !expected.has(object));
  } finally {
    model.close();
  }
}

/** The SQL of each object by kind and name, without SQLite's own ones. */
function objectsIn(db: DatabaseSync): Map<string, string> {
  const rows = db
    .prepare(
      `SELECT type || ' ' || name AS object, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')`,
    )
    .all();
  return new Map(rows.map(({ object, sql }) => [String(object), String(sql).replaceAll(/\s+/g, " ")]));
}

/**
 * Brings a file to the newest schema in one transaction: after a failure the file is unchanged. Inspects the file again under the
 * write lock, so that only one of several processes migrates it.
 *
 * @throws the errors of {@link inspect} and of SQLite
 */
export function migrate(db: DatabaseSync, path: string, format: FileFormat = LEDGER): void {
  const { applicationId, migrations } = format;
  db.exec("BEGIN IMMEDIATE");
  try {
    if (inspect(db, path, format) !== "current") {
      for (const step of migrations.slice(pragma(db, "user_version"))) db.exec(step);
      db.exec(`PRAGMA application_id = ${applicationId}`);
      db.exec(`PRAGMA user_version = ${migrations.length}`);
    }
    db.exec("COMMIT");
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function pragma(db: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
