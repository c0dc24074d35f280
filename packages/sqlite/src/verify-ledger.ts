import type { DatabaseSync } from "node:sqlite";
import {
  bytesToName,
  ChainCheck,
  type ChainedEntry,
  DamageReport,
  type LedgerCheck,
  type LedgerDamage,
  QavrError,
} from "@qavr/core";
import type { CheckpointTables } from "./checkpoint-tables.js";
import { digests } from "./digests.js";
import type { NamespaceRow } from "./ledger-tables.js";
import { OWNED } from "./schema.js";

/** Problems that SQLite is asked for at most. */
const NAMED = 100;

/**
 * Reads a whole ledger, or one namespace of it, and holds everything against its digests. Call it inside a transaction. Of the states
 * it checks what SQLite can (their pages and indexes): whether they follow from the entries only a fold can tell.
 *
 * @param only the namespace to look at; undefined: all of them, and the file
 */
export function verifyLedger(db: DatabaseSync, checkpoints: CheckpointTables, only?: Uint8Array): LedgerCheck {
  const report = new DamageReport();
  if (!only) {
    report.attempt(() => report.add(...fileProblems(db)));
    for (const [owner, tables] of Object.entries(OWNED)) {
      for (const table of tables) report.attempt(() => report.add(...lostRows(db, table, owner)));
    }
  }
  let rows: readonly NamespaceRow[] = [];
  report.attempt(() => {
    rows = namespaceRows(db, only);
  });
  for (const row of rows) {
    report.addNamespace(row.digest);
    report.attempt(() => checkChain(db, row, report));
    report.attempt(() => report.add(...checkCheckpoint(checkpoints, row)));
  }
  return report.result(digests, only && bytesToName(only));
}

/** What SQLite finds: pages, rows and indexes that do not fit together. */
function fileProblems(db: DatabaseSync): LedgerDamage[] {
  const messages = db
    .prepare(`PRAGMA integrity_check(${NAMED})`)
    .all()
    .map(({ integrity_check }) => String(integrity_check));
  return messages.filter((message) => message !== "ok").map((problem) => ({ problem }));
}

/** Rows of a table that belong to a row which is not there: SQLite sees nothing in that, and no name leads to them. */
function lostRows(db: DatabaseSync, table: string, owner: string): LedgerDamage[] {
  // As text: a damaged number may be larger than those of JavaScript.
  const lost = db.prepare(
    `SELECT CAST(${owner} AS TEXT) AS id, count(*) AS rows FROM ${table}
     WHERE ${owner} NOT IN (SELECT id FROM ${owner}) GROUP BY ${owner}`,
  );
  return lost.all().map(({ id, rows }) => ({
    problem: `${rows} rows of table ${table} belong to a ${owner} that is not there, ${id}`,
  }));
}

function namespaceRows(db: DatabaseSync, only: Uint8Array | undefined): readonly NamespaceRow[] {
  const query = db.prepare(`SELECT * FROM namespace ${only ? "WHERE name = ?" : "ORDER BY name"}`);
  return (only ? query.all(only) : query.all()) as unknown as NamespaceRow[];
}

function checkChain(db: DatabaseSync, row: NamespaceRow, report: DamageReport): void {
  const select = db.prepare("SELECT seq, key, type, at, payload, digest FROM entry WHERE namespace = ? ORDER BY seq");
  const chain = new ChainCheck({ ...row, namespace: bytesToName(row.name), baseDigest: row.base_digest }, digests);
  try {
    for (const entry of select.iterate(row.id) as Iterable<unknown> as Iterable<ChainedEntry>) {
      if (!chain.next(entry)) break;
    }
    const damage = chain.end();
    if (damage) report.add(damage);
  } finally {
    report.entries += chain.entries;
  }
}

function checkCheckpoint(checkpoints: CheckpointTables, row: NamespaceRow): LedgerDamage[] {
  const namespace = bytesToName(row.name);
  const damage: LedgerDamage[] = [];
  try {
    checkpoints.read(row);
  } catch (error) {
    if (!QavrError.isInstance(error, "STORE_CORRUPT")) throw error;
    damage.push({ namespace, seq: row.base, problem: "the states of the checkpoint do not fit their digest" });
  }
  const { keys, damaged } = checkpoints.checkKeys(row);
  if (damaged !== undefined)
    damage.push({ namespace, seq: damaged, problem: "the key of a compacted entry is damaged" });
  else if (keys !== row.base)
    damage.push({ namespace, problem: `${row.base - keys} keys of compacted entries are missing` });
  return damage;
}
