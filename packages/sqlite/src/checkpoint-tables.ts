import type { DatabaseSync } from "node:sqlite";
import {
  type ChainedKey,
  type CheckpointChange,
  type CheckpointColumns,
  checkpointStates,
  NO_DIGESTS,
  nameToBytes,
  type StoredState,
  withDigest,
} from "@qavr/core/store";
import { digests, type LedgerTables, type NamespaceRow } from "./ledger-tables.js";

/** The SQL of checkpoints and of the keys of compacted entries. None of the methods opens a transaction. */
export interface CheckpointTables {
  /** States at the base, undefined when they are damaged. */
  states(namespace: NamespaceRow): readonly StoredState[] | undefined;
  /** Keys of compacted entries. */
  keys(namespace: NamespaceRow): Iterable<ChainedKey>;
  /** Drops entries, keeping their keys, and changes the checkpoint. @throws STORE_CORRUPT for a damaged entry among them */
  write(namespace: NamespaceRow, change: CheckpointChange): void;
}

/** Entries that are dropped at once. */
const PAGE = 1_000;

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function checkpointTables(db: DatabaseSync, ledger: LedgerTables): CheckpointTables {
  const states = db.prepare("SELECT scope, id, value FROM checkpoint_state WHERE namespace = ?");
  const state = db.prepare("SELECT value FROM checkpoint_state WHERE namespace = ? AND scope = ? AND id = ?");
  const setState = db.prepare(
    "INSERT INTO checkpoint_state (namespace, scope, id, value) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const dropState = db.prepare("DELETE FROM checkpoint_state WHERE namespace = ? AND scope = ? AND id = ?");
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

    write({ id, namespace, base, baseDigest, checkpointDigest }, { seq: through, states: changed }) {
      for (let after = base; after < through; ) {
        const page = ledger.entries(namespace, after, Math.min(PAGE, through - after));
        for (const { seq, key, payload } of page) {
          const row = { seq, key: nameToBytes(key), payloadDigest: digests.of(payload) };
          addKey.run(id, row.key, seq, row.payloadDigest, digests.dropped(namespace, row));
        }
        after += page.length;
      }
      const throughDigest = through > base ? ledger.digestAt(id, through) : baseDigest;
      dropEntries.run(id, through);
      let sum = base === 0 ? NO_DIGESTS : checkpointDigest;
      for (const { scope, id: name, value } of changed) {
        const [scopeBytes, nameBytes] = [nameToBytes(scope), nameToBytes(name)];
        const digestOf = (kept: Uint8Array): Uint8Array =>
          digests.kept(namespace, { scope: scopeBytes, id: nameBytes, value: kept });
        const before = state.get(id, scopeBytes, nameBytes);
        if (before) sum = withDigest(sum, digestOf(before.value as Uint8Array));
        if (value) sum = withDigest(sum, digestOf(value));
        if (value) setState.run(id, scopeBytes, nameBytes, value);
        else dropState.run(id, scopeBytes, nameBytes);
      }
      setBase.run(through, throughDigest as Uint8Array, sum, id);
    },
  };
}
