import type { DatabaseSync } from "node:sqlite";
import type { Store } from "@qavr/core";
import { DamageReport, type LedgerCheck, type LedgerDamage, NamespaceCheck, nameToBytes } from "@qavr/core/store";
import type { CheckpointTables } from "./checkpoint-tables.js";
import {
  digests,
  entryRows,
  NAMESPACE_COLUMNS,
  type NamespaceRow,
  toEntryRow,
  toNamespaceRow,
} from "./ledger-tables.js";
import { OWNED } from "./schema.js";

/** Most problems that SQLite lists. */
const NAMED = 100;
/** Entries between two calls of `progress`. They are read at once, which takes less time than one by one. */
const PAGE = 100;

interface VerifyOptions {
  /** The namespace to check; undefined: all of them, and the file. */
  readonly only?: string | undefined;
  /** As of a store's `verify`. */
  readonly progress?: Parameters<Required<Store>["verify"]>[1];
}

/**
 * Reads a whole ledger, or one namespace of it, and checks everything against its digests. Call it inside a transaction. Of the states
 * it checks their pages and indexes only; whether they follow from the entries needs a fold.
 */
export function verifyLedger(
  db: DatabaseSync,
  checkpoints: CheckpointTables,
  { only, progress }: VerifyOptions,
): LedgerCheck {
  const report = new DamageReport();
  if (only === undefined) {
    report.attempt(() => report.add(...fileProblems(db)));
    for (const [owner, tables] of Object.entries(OWNED)) {
      for (const table of tables) report.attempt(() => report.add(...lostRows(db, table, owner)));
    }
  }
  const rows = db.prepare(
    `SELECT ${NAMESPACE_COLUMNS} FROM namespace ${only === undefined ? "ORDER BY name" : "WHERE name = ?"}`,
  );
  report.attempt(() => {
    for (const row of rows.all(...(only === undefined ? [] : [nameToBytes(only)]))) {
      report.addNamespace(row.digest as Uint8Array);
      report.attempt(() => checkNamespace(db, checkpoints, toNamespaceRow(row), report, progress));
    }
  });
  return report.result(digests, only);
}

/** Pages, rows and indexes that do not fit together. */
function fileProblems(db: DatabaseSync): LedgerDamage[] {
  const messages = db
    .prepare(`PRAGMA integrity_check(${NAMED})`)
    .all()
    .map(({ integrity_check }) => String(integrity_check));
  return messages.filter((message) => message !== "ok").map((problem) => ({ problem }));
}

/** Rows of a table whose owner is missing. SQLite does not notice them, and no name leads to them. */
function lostRows(db: DatabaseSync, table: string, owner: string): LedgerDamage[] {
  // As text: a damaged number may exceed the numbers of JavaScript.
  const lost = db.prepare(
    `SELECT CAST(${owner} AS TEXT) AS id, count(*) AS rows FROM ${table}
     WHERE ${owner} NOT IN (SELECT id FROM ${owner}) GROUP BY ${owner}`,
  );
  return lost.all().map(({ id, rows }) => ({
    problem: `${rows} rows of table ${table} belong to a ${owner} that is not there, ${id}`,
  }));
}

function checkNamespace(
  db: DatabaseSync,
  checkpoints: CheckpointTables,
  row: NamespaceRow,
  report: DamageReport,
  progress: VerifyOptions["progress"],
): void {
  const entries = entryRows(db);
  const check = new NamespaceCheck(row, digests);
  const total = report.entries + row.head - row.base;
  const page = (from: number): Iterable<object> => {
    try {
      return entries.all(row.id, from, PAGE);
    } catch {
      // The entries before the damage count as intact.
      return entries.iterate(row.id, from, PAGE);
    }
  };
  report.attempt(() => {
    try {
      for (let before = 0; check.entries === before; before += PAGE) {
        for (const entry of page(row.base + 1 + before)) if (!check.entry(toEntryRow(entry))) break;
        if (check.entries === before + PAGE) progress?.(report.entries + check.entries, total);
      }
      report.add(...check.chain());
    } finally {
      report.entries += check.entries;
    }
  });
  for (const key of checkpoints.keys(row)) check.key(key);
  report.add(...check.checkpoint(checkpoints.states(row)));
}
