import type { DatabaseSync } from "node:sqlite";
import { bytesToName, type LedgerCheck, type LedgerDamage, QavrError, sameBytes } from "@qavr/core";
import type { CheckpointTables } from "./checkpoint-tables.js";
import { digestOf, entryDigest, firstDigest } from "./entry-digest.js";
import type { EntryRow, NamespaceRow } from "./ledger-tables.js";

/** Damages that a check names. */
const NAMED = 100;

/**
 * Reads a whole ledger, or one namespace of it, and holds everything against its digests. Call it inside a transaction. Of the states
 * it checks what SQLite can (their pages and indexes): whether they follow from the entries only a fold can tell.
 *
 * @param only the namespace to look at; undefined: all of them, and the file
 */
export function verifyLedger(db: DatabaseSync, checkpoints: CheckpointTables, only?: Uint8Array): LedgerCheck {
  const damage: LedgerDamage[] = [];
  let damaged = 0;
  const found = (...problems: LedgerDamage[]): void => {
    damaged += problems.length;
    damage.push(...problems.slice(0, NAMED - damage.length));
  };
  const digests: Uint8Array[] = [];
  let [namespaces, entries] = [0, 0];
  if (!only) found(...attempt(() => fileProblems(db)));
  const rows = attemptRows(db, only, found);
  for (const row of rows) {
    namespaces += 1;
    found(
      ...attempt(() => {
        const chain = checkChain(db, row);
        entries += chain.entries;
        return [...chain.damage, ...checkCheckpoint(checkpoints, row)];
      }),
    );
    digests.push(row.digest);
  }
  const digest = only ? (digests[0] ?? firstDigest(bytesToName(only))) : digestOf(Buffer.concat(digests));
  return { namespaces, entries, digest: Buffer.from(digest).toString("hex"), damaged, damage };
}

/** What SQLite finds: pages, rows and indexes that do not fit together. */
function fileProblems(db: DatabaseSync): LedgerDamage[] {
  const messages = db
    .prepare(`PRAGMA integrity_check(${NAMED})`)
    .all()
    .map(({ integrity_check }) => String(integrity_check));
  return messages.filter((message) => message !== "ok").map((problem) => ({ problem }));
}

function attemptRows(
  db: DatabaseSync,
  only: Uint8Array | undefined,
  found: (problem: LedgerDamage) => void,
): NamespaceRow[] {
  try {
    const query = db.prepare(`SELECT * FROM namespace ${only ? "WHERE name = ?" : "ORDER BY name"}`);
    return (only ? query.all(only) : query.all()) as unknown as NamespaceRow[];
  } catch (error) {
    found(asDamage(error));
    return [];
  }
}

function attempt(check: () => LedgerDamage[]): LedgerDamage[] {
  try {
    return check();
  } catch (error) {
    return [asDamage(error)];
  }
}

/** What the look itself stumbled over is damage, too. */
function asDamage(error: unknown): LedgerDamage {
  return { problem: error instanceof Error ? error.message : String(error) };
}

function checkChain(
  db: DatabaseSync,
  row: NamespaceRow,
): { readonly entries: number; readonly damage: LedgerDamage[] } {
  const namespace = bytesToName(row.name);
  const select = db.prepare("SELECT seq, key, type, at, payload, digest FROM entry WHERE namespace = ? ORDER BY seq");
  let last: { readonly seq: number; readonly digest: Uint8Array } = { seq: row.base, digest: row.base_digest };
  let entries = 0;
  const problem = (what: string): ReturnType<typeof checkChain> => ({
    entries,
    damage: [{ namespace, seq: last.seq + 1, problem: what }],
  });
  if (row.base === 0 && !sameBytes(row.base_digest, firstDigest(namespace))) {
    return problem("the ledger's first digest is not that of its namespace");
  }
  for (const entry of select.iterate(row.id) as Iterable<unknown> as Iterable<EntryRow>) {
    if (entry.seq !== last.seq + 1) return problem(`the next entry has the place ${entry.seq}`);
    if (!sameBytes(entryDigest(last.digest, entry), entry.digest)) return problem("the entry does not fit its digest");
    entries += 1;
    last = entry;
  }
  if (last.seq !== row.head) return problem(`the ledger ends before its head, ${row.head}`);
  if (!sameBytes(last.digest, row.digest)) return problem("the last entry is not the one that the namespace names");
  return { entries, damage: [] };
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
