import type { DatabaseSync } from "node:sqlite";
import {
  bytesToName,
  type KnownKey,
  nameToBytes,
  QavrError,
  type ScannedState,
  type ScanOptions,
  type SequencedEntry,
} from "@qavr/core";
import { entryChecksum } from "./entry-checksum.js";

/** Where a namespace stands. */
export interface NamespaceRow {
  readonly id: number;
  readonly head: number;
}

interface EntryRow {
  readonly seq: number;
  readonly key: Uint8Array;
  readonly type: Uint8Array;
  readonly at: number;
  readonly payload: Uint8Array;
  readonly checksum: number;
}

/** The SQL of the ledger. Every method is one statement and therefore sees one moment; none opens a transaction. */
export interface LedgerTables {
  /** A number that changes when another connection has committed; own commits leave it alone. */
  dataVersion(): number;
  namespace(name: string): NamespaceRow | undefined;
  namespaces(options: ScanOptions): string[];
  entries(namespace: string, after: number, limit: number): SequencedEntry[];
  states(namespace: string, scope: string, ids: readonly string[]): (Uint8Array | undefined)[];
  scan(namespace: string, scope: string, options: ScanOptions): ScannedState[];
  knownKey(namespaceId: number, key: string): KnownKey | undefined;
  /** Sets the head, adding the namespace when it is new. Returns its row id. */
  setHead(namespace: string, head: number): number;
  appendEntry(namespaceId: number, entry: SequencedEntry): void;
  /** Row id of a scope, which is added when it is new. */
  scopeId(namespaceId: number, scope: string): number;
  writeState(scopeId: number, id: string, value: Uint8Array | null): void;
  deleteStates(namespaceId: number): void;
  deleteNamespace(namespaceId: number): void;
}

const NAMESPACE_ID = "(SELECT id FROM namespace WHERE name = ?)";
const SCOPE_ID = `(SELECT id FROM scope WHERE namespace = ${NAMESPACE_ID} AND name = ?)`;
const NOTHING = new Uint8Array();

/** Prepares every statement. @throws SQLite's error if a table is missing. */
export function ledgerTables(db: DatabaseSync, path: string): LedgerTables {
  const dataVersion = db.prepare("PRAGMA data_version");
  const namespace = db.prepare("SELECT id, head FROM namespace WHERE name = ?");
  const namespaces = db.prepare("SELECT name FROM namespace WHERE name > ? ORDER BY name LIMIT ?");
  const entries = db.prepare(
    `SELECT seq, key, type, at, payload, checksum FROM entry WHERE namespace = ${NAMESPACE_ID} AND seq > ? ORDER BY seq LIMIT ?`,
  );
  // One statement for any number of ids. json_each numbers them, so that no id has to be read back.
  const states = db.prepare(
    `SELECT j.key AS place, s.value FROM json_each(?) AS j
     CROSS JOIN state AS s ON s.scope = ${SCOPE_ID} AND s.id = CAST(j.value AS BLOB)`,
  );
  const scan = db.prepare(`SELECT id, value FROM state WHERE scope = ${SCOPE_ID} AND id > ? ORDER BY id LIMIT ?`);
  const knownKey = db.prepare("SELECT seq, payload FROM entry WHERE namespace = ? AND key = ?");
  const setHead = db.prepare(
    "INSERT INTO namespace (name, head) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET head = excluded.head RETURNING id",
  );
  const appendEntry = db.prepare(
    "INSERT INTO entry (namespace, seq, key, type, at, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const scopeId = db.prepare("SELECT id FROM scope WHERE namespace = ? AND name = ?");
  const addScope = db.prepare("INSERT INTO scope (namespace, name) VALUES (?, ?) RETURNING id");
  const writeState = db.prepare(
    "INSERT INTO state (scope, id, value) VALUES (?, ?, ?) ON CONFLICT (scope, id) DO UPDATE SET value = excluded.value",
  );
  const removeState = db.prepare("DELETE FROM state WHERE scope = ? AND id = ?");
  const deleteStates = db.prepare("DELETE FROM state WHERE scope IN (SELECT id FROM scope WHERE namespace = ?)");
  const deletions = ["scope WHERE namespace", "entry WHERE namespace", "namespace WHERE id"].map((where) =>
    db.prepare(`DELETE FROM ${where} = ?`),
  );

  const toEntry = (row: EntryRow): SequencedEntry => {
    const { seq, at, payload } = row;
    if (entryChecksum(row) !== row.checksum) {
      throw new QavrError("STORE_CORRUPT", `Entry ${seq} in the ledger ${path} is damaged. Restore a backup.`, {
        details: { path, seq },
      });
    }
    return { key: bytesToName(row.key), type: bytesToName(row.type), at, payload, seq };
  };

  return {
    dataVersion: () => dataVersion.get()?.data_version as number,

    namespace: (name) => namespace.get(nameToBytes(name)) as NamespaceRow | undefined,

    namespaces: ({ after, limit }) =>
      namespaces
        .all(after === undefined ? NOTHING : nameToBytes(after), limit)
        .map((row) => bytesToName(row.name as Uint8Array)),

    entries: (name, after, limit) =>
      (entries.all(nameToBytes(name), after, limit) as unknown as EntryRow[]).map(toEntry),

    states(name, scope, ids) {
      const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
      for (const row of states.all(JSON.stringify(ids), nameToBytes(name), nameToBytes(scope))) {
        values[row.place as number] = row.value as Uint8Array;
      }
      return values;
    },

    scan: (name, scope, { after, limit }) =>
      scan
        .all(nameToBytes(name), nameToBytes(scope), after === undefined ? NOTHING : nameToBytes(after), limit)
        .map((row) => ({ id: bytesToName(row.id as Uint8Array), value: row.value as Uint8Array })),

    knownKey: (namespaceId, key) => knownKey.get(namespaceId, nameToBytes(key)) as KnownKey | undefined,

    setHead: (name, head) => setHead.get(nameToBytes(name), head)?.id as number,

    appendEntry(namespaceId, entry) {
      const { seq, at, payload } = entry;
      const [key, type] = [nameToBytes(entry.key), nameToBytes(entry.type)];
      const checksum = entryChecksum({ seq, key, type, at, payload });
      appendEntry.run(namespaceId, seq, key, type, at, payload, checksum);
    },

    scopeId(namespaceId, scope) {
      const name = nameToBytes(scope);
      return (scopeId.get(namespaceId, name) ?? addScope.get(namespaceId, name))?.id as number;
    },

    writeState(scope, id, value) {
      if (value === null) removeState.run(scope, nameToBytes(id));
      else writeState.run(scope, nameToBytes(id), value);
    },

    deleteStates(namespaceId) {
      deleteStates.run(namespaceId);
    },

    deleteNamespace(namespaceId) {
      deleteStates.run(namespaceId);
      for (const deletion of deletions) deletion.run(namespaceId);
    },
  };
}
