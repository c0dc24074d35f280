import type { DatabaseSync } from "node:sqlite";
import {
  bytesToName,
  type Checkpoint,
  type CheckpointColumns,
  type Compaction,
  nameToBytes,
  QavrError,
  type StateWrite,
  sameBytes,
} from "@qavr/core";
import { digests } from "./digests.js";
import type { LedgerTables, NamespaceRow } from "./ledger-tables.js";

interface CompactedKeyRow {
  readonly key: Uint8Array;
  readonly seq: number;
  readonly payload_digest: Uint8Array;
  readonly digest: Uint8Array;
}

/** The SQL of what is left of entries that were compacted away. None of the methods opens a transaction. */
export interface CheckpointTables {
  /** Undefined for a namespace whose ledger is whole. @throws STORE_CORRUPT */
  read(namespace: NamespaceRow): Checkpoint | undefined;
  /** Drops entries, keeping their keys, and sets the checkpoint. @throws STORE_CORRUPT for a damaged entry among them */
  write(namespace: NamespaceRow, compaction: Compaction): void;
  /** How many keys of dropped entries there are, and the place of the first one that is damaged. */
  checkKeys(namespace: NamespaceRow): { readonly keys: number; readonly damaged: number | undefined };
}

/** Entries that are dropped at once. */
const PAGE = 1_000;

/** Prepares every statement. @throws SQLite's error if a table is missing. */
export function checkpointTables(db: DatabaseSync, path: string, ledger: LedgerTables): CheckpointTables {
  const states = db.prepare("SELECT place, scope, id, value FROM checkpoint_state WHERE namespace = ? ORDER BY place");
  const addState = db.prepare(
    "INSERT INTO checkpoint_state (namespace, place, scope, id, value) VALUES (?, ?, ?, ?, ?)",
  );
  const dropStates = db.prepare("DELETE FROM checkpoint_state WHERE namespace = ?");
  const keys = db.prepare("SELECT key, seq, payload_digest, digest FROM compacted_key WHERE namespace = ?");
  const addKey = db.prepare(
    "INSERT INTO compacted_key (namespace, key, seq, payload_digest, digest) VALUES (?, ?, ?, ?, ?)",
  );
  const digestAt = db.prepare("SELECT digest FROM entry WHERE namespace = ? AND seq = ?");
  const dropEntries = db.prepare("DELETE FROM entry WHERE namespace = ? AND seq <= ?");
  const setBase = db.prepare("UPDATE namespace SET base = ?, base_digest = ?, checkpoint_digest = ? WHERE id = ?");

  return {
    read(namespace) {
      if (namespace.base === 0) return undefined;
      const rows = states.all(namespace.id) as unknown as CheckpointColumns[];
      if (!sameBytes(digestOfRows(namespace, rows), namespace.checkpoint_digest)) {
        throw new QavrError(
          "STORE_CORRUPT",
          `The checkpoint at ${namespace.base} in the ledger ${path} is damaged. Restore a backup.`,
          {
            details: { path, seq: namespace.base },
          },
        );
      }
      return {
        seq: namespace.base,
        states: rows.map(
          ({ scope, id, value }): StateWrite => ({ scope: bytesToName(scope), id: bytesToName(id), value }),
        ),
      };
    },

    write(namespace, { through, checkpoint }) {
      const name = bytesToName(namespace.name);
      for (let after = namespace.base; after < through; ) {
        const page = ledger.entries(name, after, Math.min(PAGE, through - after));
        for (const { seq, key, payload } of page) {
          const row = { key: nameToBytes(key), seq, payload_digest: digests.of(payload) };
          addKey.run(namespace.id, row.key, seq, row.payload_digest, keyDigest(name, row));
        }
        after += page.length;
      }
      const base = {
        ...namespace,
        base: through,
        base_digest: digestAt.get(namespace.id, through)?.digest as Uint8Array,
      };
      dropEntries.run(namespace.id, through);
      dropStates.run(namespace.id);
      const rows = checkpoint
        .filter((state): state is StateWrite & { value: Uint8Array } => state.value !== null)
        .map(({ scope, id, value }, place) => ({ place, scope: nameToBytes(scope), id: nameToBytes(id), value }));
      for (const { place, scope, id, value } of rows) addState.run(namespace.id, place, scope, id, value);
      setBase.run(through, base.base_digest, digestOfRows(base, rows), namespace.id);
    },

    checkKeys(namespace) {
      const name = bytesToName(namespace.name);
      let count = 0;
      let damaged: number | undefined;
      for (const row of keys.iterate(namespace.id) as Iterable<unknown> as Iterable<CompactedKeyRow>) {
        count += 1;
        if (!sameBytes(keyDigest(name, row), row.digest)) damaged ??= row.seq;
      }
      return { keys: count, damaged };
    },
  };
}

function digestOfRows({ base, base_digest }: NamespaceRow, rows: readonly CheckpointColumns[]): Uint8Array {
  return digests.checkpoint(base, base_digest, rows);
}

function keyDigest(namespace: string, { key, seq, payload_digest }: Omit<CompactedKeyRow, "digest">): Uint8Array {
  return digests.dropped(namespace, { key, seq, payloadDigest: payload_digest });
}
