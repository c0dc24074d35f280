import type { DatabaseSync } from "node:sqlite";
import {
  type ChainedKey,
  type Checkpoint,
  type CheckpointColumns,
  checkpointRows,
  checkpointStates,
  nameToBytes,
  type StoredState,
} from "@qavr/core/store";
import { digests, type LedgerTables, type NamespaceRow } from "./ledger-tables.js";

/** The SQL of checkpoints and of the keys of compacted entries. None of the methods opens a transaction. */
export interface CheckpointTables {
  /** States at the base, undefined when they are damaged. */
  states(namespace: NamespaceRow): readonly StoredState[] | undefined;
  /** Keys of compacted entries. */
  keys(namespace: NamespaceRow): Iterable<ChainedKey>;
  /** Drops entries, keeping their keys, and sets the checkpoint. @throws STORE_CORRUPT for a damaged entry among them */
  write(namespace: NamespaceRow, checkpoint: Checkpoint): void;
}

/** Entries that are dropped at once. */
const PAGE = 1_000;

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function checkpointTables(db: DatabaseSync, ledger: LedgerTables): CheckpointTables {
  const states = db.prepare("SELECT place, scope, id, value FROM checkpoint_state WHERE namespace = ? ORDER BY place");
  const addState = db.prepare(
    "INSERT INTO checkpoint_state (namespace, place, scope, id, value) VALUES (?, ?, ?, ?, ?)",
  );
  const dropStates = db.prepare("DELETE FROM checkpoint_state WHERE namespace = ?");
  const keys = db.prepare(
    "SELECT seq, key, payload_digest AS payloadDigest, digest FROM compacted_key WHERE namespace = ?",
  );
  const addKey = db.prepare(
    "INSERT INTO compacted_key (namespace, key, seq, payload_digest, digest) VALUES (?, ?, ?, ?, ?)",
  );
  const dropEntries = db.prepare("DELETE FROM entry WHERE namespace = ? AND seq <= ?");
  const setBase = db.prepare("UPDATE namespace SET base = ?, base_digest = ?, checkpoint_digest = ? WHERE id = ?");

  return {
    states: (row) => checkpointStates(states.all(row.id) as unknown as CheckpointColumns[], row, digests),

    keys: ({ id }) => keys.iterate(id) as Iterable<unknown> as Iterable<ChainedKey>,

    write({ id, namespace, base }, { seq: through, states: kept }) {
      for (let after = base; after < through; ) {
        const page = ledger.entries(namespace, after, Math.min(PAGE, through - after));
        for (const { seq, key, payload } of page) {
          const row = { seq, key: nameToBytes(key), payloadDigest: digests.of(payload) };
          addKey.run(id, row.key, seq, row.payloadDigest, digests.dropped(namespace, row));
        }
        after += page.length;
      }
      const baseDigest = ledger.digestAt(id, through) as Uint8Array;
      dropEntries.run(id, through);
      dropStates.run(id);
      const rows = checkpointRows(kept);
      for (const { place, scope, id: state, value } of rows) addState.run(id, place, scope, state, value);
      setBase.run(through, baseDigest, digests.checkpoint(through, baseDigest, rows), id);
    },
  };
}
