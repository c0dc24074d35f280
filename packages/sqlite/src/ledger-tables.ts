import { hash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { QavrError } from "@qavr/core";
import {
  bytesToName,
  type ChainedEntry,
  chainedEntries,
  chainOn,
  isDamagedEnd,
  type LastEntry,
  type LedgerDigests,
  type LedgerEnds,
  ledgerDigests,
  namesLastEntry,
  nameToBytes,
  type ScannedState,
  type ScanOptions,
  type SequencedEntry,
  type StateWrite,
  sameBytes,
  sealState,
  unsealState,
} from "@qavr/core/store";
import { OWNED } from "./schema.js";
import { damagedEntry, damagedHead, entriesMissing } from "./sqlite-errors.js";

/** An entry that was found by its key. */
export interface EntryAtKey {
  readonly seq: number;
  readonly payload: Uint8Array;
}

/** The key of a compacted entry. */
export interface CompactedKey {
  readonly seq: number;
  /** Digest of the entry's payload. */
  readonly payloadDigest: Uint8Array;
}

/** Both ends of a namespace's ledger, and its row id. */
export interface NamespaceRow extends LedgerEnds {
  readonly id: number;
}

/** The end of a namespace's ledger. */
export interface MarkedEnd {
  /** Row id. */
  readonly id: number;
  readonly head: number;
  readonly digest: Uint8Array;
}

/** The digests of a ledger, by Node's own SHA-256. A result as text takes a third of the time of a buffer. */
export const digests: LedgerDigests = ledgerDigests((bytes) => Buffer.from(hash("sha256", bytes, "binary"), "binary"));

/** Columns of a {@link NamespaceRow}. */
export const NAMESPACE_COLUMNS =
  "id, name, head, digest, base, base_digest AS baseDigest, checkpoint_digest AS checkpointDigest";

/**
 * Columns of an entry, its bytes in one value: each BLOB that is read costs an allocation. The result of || is TEXT with all the bytes of
 * BLOBs.
 */
const ENTRY_COLUMNS =
  "seq, at, length(key), length(type), length(digest), CAST(key || type || payload || digest AS BLOB)";

/** Entries of a namespace from a place on, as rows for {@link toEntryRow}. Its parameters are the namespace's row id, the place and a limit. */
export function entryRows(db: DatabaseSync): StatementSync {
  return inArrays(
    db.prepare(`SELECT ${ENTRY_COLUMNS} FROM entry WHERE namespace = ? AND seq >= ? ORDER BY seq LIMIT ?`),
  );
}

/** Makes a statement's rows arrays, which take half the time of objects. Node before 22.16 has objects only, see {@link columnsOf}. */
function inArrays(statement: StatementSync): StatementSync {
  (statement as Partial<StatementSync>).setReturnArrays?.(true);
  return statement;
}

function columnsOf(row: object): unknown[] {
  return Array.isArray(row) ? row : Object.values(row);
}

/** The columns of an entry as they were written. @throws TypeError for a damaged row */
export function toEntryRow(row: object): ChainedEntry {
  const [seq, at, keyLength, typeLength, digestLength, bytes] = columnsOf(row) as [
    seq: number,
    at: number,
    keyLength: number,
    typeLength: number,
    digestLength: number,
    bytes: Uint8Array,
  ];
  const [payloadAt, digestAt] = [keyLength + typeLength, bytes.length - digestLength];
  return {
    seq,
    at,
    key: bytes.subarray(0, keyLength),
    type: bytes.subarray(keyLength, payloadAt),
    payload: bytes.subarray(payloadAt, digestAt),
    digest: bytes.subarray(digestAt),
  };
}

/** @throws TypeError for a damaged name */
export function toNamespaceRow({ name, ...row }: Readonly<Record<string, unknown>>): NamespaceRow {
  return { ...row, namespace: bytesToName(name as Uint8Array) } as NamespaceRow;
}

/** The SQL of the ledger. No method opens a transaction. `entries` and the writing methods are several statements, the others one. */
export interface LedgerTables {
  /** A number that changes when another connection has committed; own commits leave it alone. */
  dataVersion(): number;
  namespace(name: string): NamespaceRow | undefined;
  /** A namespace whose row names its last entry. @throws STORE_CORRUPT */
  wholeNamespace(name: string): NamespaceRow | undefined;
  /** Sets rows that are damaged themselves to the last entry of their namespace. */
  mendEnds(): void;
  namespaces(options: ScanOptions): string[];
  entries(namespace: string, after: number, limit: number): SequencedEntry[];
  states(namespace: string, scope: string, ids: readonly string[]): (Uint8Array | undefined)[];
  scan(namespace: string, scope: string, options: ScanOptions): ScannedState[];
  knownKey(namespaceId: number, key: string): EntryAtKey | undefined;
  /** Checks one entry against its digest. @throws STORE_CORRUPT */
  assertEntryAt(namespace: NamespaceRow, seq: number): void;
  /** @throws STORE_CORRUPT */
  compactedKey(namespace: NamespaceRow, key: string): CompactedKey | undefined;
  /** A namespace by its row id. */
  namespaceAt(id: number): NamespaceRow | undefined;
  lastEntry(namespaceId: number): LastEntry | undefined;
  /** The stored digest of an entry. */
  digestAt(namespaceId: number, seq: number): Uint8Array | undefined;
  /** Appends entries in order after the head, adding the namespace when it is new. Returns its new end. */
  append(namespace: string, known: NamespaceRow | undefined, entries: readonly SequencedEntry[]): MarkedEnd;
  /** Row id of a scope, which is added when it is new. */
  scopeId(namespaceId: number, scope: string): number;
  writeState(scopeId: number, state: StateWrite): void;
  deleteNamespace(namespaceId: number): void;
  /** Deletes states whose scope is missing; nothing can read them. */
  deleteLostStates(): void;
}

const SCOPE_ID = "(SELECT id FROM scope WHERE namespace = (SELECT id FROM namespace WHERE name = ?) AND name = ?)";
const NOTHING = new Uint8Array();
/** Larger row ids are damage: counting never gets there, and numbers of JavaScript end at 2^53. */
const LARGEST_ID = 2 ** 52;

/**
 * A row id unused in the whole file, one above the largest. SQLite's own choice looks at one table only: rows whose owner was lost by
 * damage would pass to the next owner that is added.
 */
function freeId(owner: keyof typeof OWNED): string {
  const places = [[owner, "id"], ...OWNED[owner].map((table) => [table, owner])];
  const largest = places.map(
    ([table, column]) => `(SELECT coalesce(max(${column}), 0) FROM ${table} WHERE ${column} < ${LARGEST_ID})`,
  );
  return `1 + max(${largest.join(", ")})`;
}

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function ledgerTables(db: DatabaseSync, path: string): LedgerTables {
  const dataVersion = db.prepare("PRAGMA data_version");
  const namespace = db.prepare(`SELECT ${NAMESPACE_COLUMNS} FROM namespace WHERE name = ?`);
  const namespaceAt = db.prepare(`SELECT ${NAMESPACE_COLUMNS} FROM namespace WHERE id = ?`);
  const allNamespaces = db.prepare(`SELECT ${NAMESPACE_COLUMNS} FROM namespace`);
  const lastEntry = db.prepare("SELECT seq, digest FROM entry WHERE namespace = ? ORDER BY seq DESC LIMIT 1");
  const digestAt = db.prepare("SELECT digest FROM entry WHERE namespace = ? AND seq = ?");
  const namespaces = db.prepare("SELECT name FROM namespace WHERE name > ? ORDER BY name LIMIT ?");
  // Includes the entry before, whose digest the first one builds on.
  const entries = entryRows(db);
  // One statement for any number of ids. json_each numbers them, so that no id has to be read back.
  const states = db.prepare(
    `SELECT j.key AS place, s.value FROM json_each(?) AS j
     CROSS JOIN state AS s ON s.scope = ${SCOPE_ID} AND s.id = CAST(j.value AS BLOB)`,
  );
  const scan = inArrays(
    db.prepare(
      `SELECT length(value), CAST(value || id AS BLOB) FROM state WHERE scope = ${SCOPE_ID} AND id > ? ORDER BY id LIMIT ?`,
    ),
  );
  const knownKey = db.prepare("SELECT seq, payload FROM entry WHERE namespace = ? AND key = ?");
  const compactedKey = db.prepare(
    "SELECT seq, payload_digest AS payloadDigest, digest FROM compacted_key WHERE namespace = ? AND key = ?",
  );
  const setHead = db.prepare("UPDATE namespace SET head = ?, digest = ? WHERE id = ?");
  const addNamespace = db.prepare(
    `INSERT INTO namespace (id, name, head, digest, base_digest) VALUES (${freeId("namespace")}, ?, ?, ?, ?) RETURNING id`,
  );
  const appendEntry = db.prepare(
    "INSERT INTO entry (namespace, seq, key, type, at, payload, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const scopeId = db.prepare("SELECT id FROM scope WHERE namespace = ? AND name = ?");
  const addScope = db.prepare(`INSERT INTO scope (id, namespace, name) VALUES (${freeId("scope")}, ?, ?) RETURNING id`);
  const writeState = db.prepare(
    "INSERT INTO state (scope, id, value) VALUES (?, ?, ?) ON CONFLICT (scope, id) DO UPDATE SET value = excluded.value",
  );
  const removeState = db.prepare("DELETE FROM state WHERE scope = ? AND id = ?");
  const deleteStates = db.prepare("DELETE FROM state WHERE scope IN (SELECT id FROM scope WHERE namespace = ?)");
  const deleteLostStates = db.prepare("DELETE FROM state WHERE scope NOT IN (SELECT id FROM scope)");
  const deletions = [...OWNED.namespace.map((table) => `${table} WHERE namespace`), "namespace WHERE id"].map((where) =>
    db.prepare(`DELETE FROM ${where} = ?`),
  );

  const lastOf = (id: number): LastEntry | undefined => lastEntry.get(id) as unknown as LastEntry | undefined;
  const corrupt = (seq: number): QavrError => damagedEntry(path, seq);
  const rowOf = (name: string): NamespaceRow | undefined => {
    const row = namespace.get(nameToBytes(name));
    return row && toNamespaceRow(row);
  };

  /** Entries, each checked against its digest, which builds on that of the entry before it. */
  const entriesAfter = (known: NamespaceRow, after: number, limit: number): SequencedEntry[] => {
    const { id, head, base, baseDigest } = known;
    const isInside = after > base;
    const rows = entries.all(id, after, isInside ? limit + 1 : limit).map(toEntryRow);
    // If the entry before is missing, the first one cannot be checked and counts as damaged.
    let before = isInside ? { seq: after, digest: NOTHING } : { seq: base, digest: baseDigest };
    if (isInside && rows[0]?.seq === after) before = rows.shift() as ChainedEntry;
    return chainedEntries(rows, before, Math.min(head, before.seq + limit), digests, corrupt);
  };

  return {
    dataVersion: () => dataVersion.get()?.data_version as number,

    namespace: rowOf,

    namespaceAt(id) {
      const row = namespaceAt.get(id);
      return row && toNamespaceRow(row);
    },

    lastEntry: lastOf,

    wholeNamespace(name) {
      const row = rowOf(name);
      const last = row && lastOf(row.id);
      if (!row || namesLastEntry(row, last)) return row;
      throw last && isDamagedEnd(row, last)
        ? damagedHead(path, row, last.seq)
        : entriesMissing(path, row, last?.seq ?? row.base);
    },

    mendEnds() {
      for (const row of allNamespaces.all().map(toNamespaceRow)) {
        const last = lastOf(row.id);
        if (!last || namesLastEntry(row, last) || !isDamagedEnd(row, last)) continue;
        // The entry itself must follow from the one before it.
        if (entriesAfter({ ...row, head: last.seq }, last.seq - 1, 1).length === 1)
          setHead.run(last.seq, last.digest, row.id);
      }
    },

    digestAt: (id, seq) => digestAt.get(id, seq)?.digest as Uint8Array | undefined,

    namespaces: ({ after, limit }) =>
      namespaces
        .all(after === undefined ? NOTHING : nameToBytes(after), limit)
        .map((row) => bytesToName(row.name as Uint8Array)),

    entries(name, after, limit) {
      const known = rowOf(name);
      return !known || after >= known.head ? [] : entriesAfter(known, after, limit);
    },

    states(name, scope, ids) {
      const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
      for (const row of states.all(JSON.stringify(ids), nameToBytes(name), nameToBytes(scope))) {
        const place = row.place as number;
        values[place] = unsealState({ scope, id: ids[place] as string }, row.value as Uint8Array);
      }
      return values;
    },

    scan: (name, scope, { after, limit }) =>
      scan
        .all(nameToBytes(name), nameToBytes(scope), after === undefined ? NOTHING : nameToBytes(after), limit)
        .map((row) => {
          const [length, bytes] = columnsOf(row) as [length: number, bytes: Uint8Array];
          const id = bytesToName(bytes.subarray(length));
          return { id, value: unsealState({ scope, id }, bytes.subarray(0, length)) };
        }),

    knownKey: (namespaceId, key) => knownKey.get(namespaceId, nameToBytes(key)) as EntryAtKey | undefined,

    assertEntryAt(known, seq) {
      if (entriesAfter(known, seq - 1, 1).length === 0) throw corrupt(seq);
    },

    compactedKey({ id, namespace: name }, key) {
      const bytes = nameToBytes(key);
      const found = compactedKey.get(id, bytes) as (CompactedKey & { readonly digest: Uint8Array }) | undefined;
      if (found && !sameBytes(digests.dropped(name, { ...found, key: bytes }), found.digest)) {
        throw corrupt(found.seq);
      }
      return found;
    },

    append(name, known, appended) {
      const first = known?.baseDigest ?? digests.first(name);
      const rows = chainOn(known?.digest ?? first, appended, digests);
      const { seq: head, digest } = rows.at(-1) as ChainedEntry;
      if (known) setHead.run(head, digest, known.id);
      const id = known?.id ?? (addNamespace.get(nameToBytes(name), head, digest, first)?.id as number);
      for (const row of rows) appendEntry.run(id, row.seq, row.key, row.type, row.at, row.payload, row.digest);
      return { id, head, digest };
    },

    scopeId(namespaceId, scope) {
      const name = nameToBytes(scope);
      return (scopeId.get(namespaceId, name) ?? addScope.get(namespaceId, name))?.id as number;
    },

    writeState(scopeId, state) {
      const { id, value } = state;
      if (value === null) removeState.run(scopeId, nameToBytes(id));
      else writeState.run(scopeId, nameToBytes(id), sealState(state, value));
    },

    deleteLostStates() {
      deleteLostStates.run();
    },

    deleteNamespace(namespaceId) {
      deleteStates.run(namespaceId);
      for (const deletion of deletions) deletion.run(namespaceId);
    },
  };
}
