import type { QavrError } from "@qavr/core";
import {
  bytesToName,
  type ChainedEntry,
  chainedEntries,
  namesLastEntry,
  nameToBytes,
  type ScannedState,
  type ScanOptions,
  type SequencedEntry,
  type StateRef,
  type StateWrite,
  sameBytes,
  sealState,
  type TakenKey,
  unsealState,
} from "@qavr/core/store";
import { type Connection, type Row, type Statement, statement } from "../connection/connections.js";
import { damagedEntry, damagedHead } from "../connection/postgres-errors.js";
import type { ResolvedOptions } from "../postgres-options.js";
import { chunks } from "./chunks.js";
import { digests, nameId } from "./digests.js";
import { ENTRY_TIME, withTime } from "./entry-time.js";
import { ABSENT, type Moment } from "./moment.js";
import { isSharded, writeOnShard } from "./shards.js";
import { oneByOne, quoted, writeIfAt } from "./sql-text.js";

/** The row of a namespace. */
export interface NamespaceRow extends Moment {
  readonly head: number;
  /** Place of the last compacted entry, 0 for a whole ledger. */
  readonly base: number;
}

/** States of one moment. */
export interface StatesRead {
  readonly moment: Moment;
  readonly values: (Uint8Array | undefined)[];
}

/** Keys of a commit that are taken at one moment. */
export interface KeysRead {
  readonly moment: Moment;
  /** Compares payloads by digest, since they may be large. */
  readonly taken: ReadonlyMap<string, TakenKey>;
  /** Commits may have to wait for replicas. */
  readonly isReplicated: boolean;
  /** The tables are distributed over the nodes of a cluster. */
  readonly isSharded: boolean;
}

/** The SQL of the ledger, for one schema. Unless noted, a method is one statement and therefore sees one moment. */
export interface LedgerSql {
  moment(connection: Connection, namespace: string): Promise<Moment>;
  /** @throws STORE_CORRUPT for a namespace whose row does not name its last entry */
  head(connection: Connection, namespace: string): Promise<number>;
  /** @throws STORE_CORRUPT for an entry that does not follow from the one before it */
  entries(connection: Connection, namespace: string, after: number, limit: number): Promise<SequencedEntry[]>;
  states(connection: Connection, namespace: string, scope: string, ids: readonly string[]): Promise<StatesRead>;
  /** Like `states`, across scopes. */
  statesOf(connection: Connection, namespace: string, refs: readonly StateRef[]): Promise<StatesRead>;
  scan(connection: Connection, namespace: string, scope: string, options: ScanOptions): Promise<ScannedState[]>;
  /** Statement that locks the namespace's head until the transaction ends, and selects it. */
  lockHead(namespace: string): string;
  /** Reads the result of {@link lockHead}; undefined: the namespace does not exist, and nothing is locked. */
  lockedHead(rows: readonly Row[]): (NamespaceRow & Pick<KeysRead, "isSharded">) | undefined;
  /** Adds a missing namespace, empty. Waits for a transaction that is about to add or erase it. */
  addNamespace(connection: Connection, namespace: string): Promise<void>;
  /** @throws STORE_CORRUPT for a namespace whose row does not name its last entry */
  knownKeys(connection: Connection, namespace: string, keys: readonly string[]): Promise<KeysRead>;
  /**
   * Writes a change, in one statement if it {@link fitsOneStatement}; a larger one requires the lock. Returns false if the namespace is not
   * at the moment `before` or one of the keys is taken; then nothing must be committed. Without a change, writes the namespace's row as it
   * is.
   */
  writeIfAt(
    connection: Connection,
    namespace: string,
    before: NamespaceRow,
    change: NamespaceChange | undefined,
    options: Pick<KeysRead, "isSharded">,
  ): Promise<boolean>;
  /**
   * A revision that is unique across histories, for a change that keeps the digest: the time in microseconds, or the next revision if
   * that is greater.
   */
  leapTo(connection: Connection, namespace: string): Promise<number>;
  /** Several statements. */
  deleteNamespace(connection: Connection, namespace: string): Promise<void>;
}

/** The writes of a transaction. */
export interface NamespaceChange extends Moment {
  readonly head: number;
  readonly entries: readonly ChainedEntry[];
  readonly states: readonly StateWrite[];
}

type LedgerSqlOptions = Pick<ResolvedOptions, "schema" | "place" | "lockTimeout">;

const NOTHING = new Uint8Array();

/**
 * Prepares the text of every statement.
 *
 * @param options.place for messages
 */
export function ledgerSql({ schema: name, place, lockTimeout }: LedgerSqlOptions): LedgerSql {
  const schema = quoted(name);
  const moment = `select revision, digest from ${schema}.namespace where id = $1`;
  // The namespace's row beside its last entry: a row that does not name it is damaged.
  const ends = `
    select known.revision, known.digest, known.head, known.base, known.base_digest, last.seq as last, last.digest as last_digest
    from ${schema}.namespace as known left join lateral (
      select seq, digest from ${schema}.entry where namespace = $1 order by seq desc limit 1
    ) as last on true where known.id = $1`;
  const now = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";
  const sql = {
    moment: statement(moment),
    head: statement(`${ends}`),
    // Includes the entry before, whose digest the first one builds on. At least one row, so that the head comes with its entries.
    entries: statement(`
      select known.head, known.base, known.base_digest, found.seq, found.key, found.type, found.at, found.payload, found.digest
      from (select) as one left join (select head, base, base_digest from ${schema}.namespace where id = $1) as known on true
      left join lateral (
        select seq, key, type, ${ENTRY_TIME}, payload, digest
        from ${schema}.entry where namespace = $1 and seq >= greatest($2::bigint, known.base + 1) order by seq limit $3
      ) as found on true order by found.seq`),
    // At least one row, so that the moment comes with its states.
    states: statement(`
      select now.revision, now.digest, found.place, found.value
      from (select) as one left join (${moment}) as now on true left join lateral (
        select wanted.place, kept.value from unnest($3::bytea[]) with ordinality as wanted (id, place)
        ${oneByOne(`select value from ${schema}.state where namespace = $1 and scope = $2 and id = wanted.id`, "kept")}
      ) as found on true`),
    statesOf: statement(`
      select now.revision, now.digest, found.place, found.value
      from (select) as one left join (${moment}) as now on true left join lateral (
        select wanted.place, kept.value from unnest($2::uuid[], $3::bytea[]) with ordinality as wanted (scope, id, place)
        ${oneByOne(`select value from ${schema}.state where namespace = $1 and scope = wanted.scope and id = wanted.id`, "kept")}
      ) as found on true`),
    scan: statement(`
      select id, value from ${schema}.state where namespace = $1 and scope = $2 and id > $3 order by id limit $4`),
    // The first revision is the time in microseconds, above every revision of an erased namespace of this name.
    addNamespace: statement(`
      insert into ${schema}.namespace (id, name, head, revision, digest, base_digest)
      values ($1, $2, 0, ${now}, $3, $3)
      on conflict (id) do nothing`),
    // Digests in place of payloads; a compacted entry has only the digest.
    knownKeys: statement(`
      select now.*, found.key, found.seq, found.payload_digest,
        (current_setting('synchronous_standby_names', true) <> '')::int as replicated,
        (${isSharded(schema)})::int as sharded
      from (select) as one left join (${ends}) as now on true
      left join lateral (
        select taken.key, taken.seq,
          case when taken.seq > coalesce(now.base, 0) then substring(sha256(taken.payload) for 16) else taken.payload end as payload_digest
        from unnest($2::bytea[]) as wanted (key)
        ${oneByOne(`select key, seq, payload from ${schema}.entry where namespace = $1 and key = wanted.key`, "taken")}
      ) as found on true`),
    writeIfAt: statement(writeIfAt(schema, false, lockTimeout)),
    writeAndRemoveIfAt: statement(writeIfAt(schema, true, lockTimeout)),
    writeOnShard: statement(writeOnShard(schema, lockTimeout)),
    leapTo: statement(`select greatest(revision + 1, ${now}) as revision from ${schema}.namespace where id = $1`),
    deleteStates: statement(`delete from ${schema}.state where namespace = $1`),
    deleteCheckpoint: statement(`delete from ${schema}.checkpoint_state where namespace = $1`),
    deleteEntries: statement(`delete from ${schema}.entry where namespace = $1`),
    deleteNamespace: statement(`delete from ${schema}.namespace where id = $1`),
  } satisfies Record<string, Statement>;

  const corrupt = (seq: number): QavrError => damagedEntry(place, seq);

  return {
    async moment(connection, namespace) {
      return momentOf(await connection.rows(sql.moment, [nameId(namespace)]));
    },

    async head(connection, namespace) {
      const [row] = await connection.rows(sql.head, [nameId(namespace)]);
      if (row) assertNamesLast(row, namespace, place);
      return (row?.head as number | undefined) ?? 0;
    },

    async entries(connection, namespace, after, limit) {
      const found = await connection.rows(sql.entries, [nameId(namespace), after, limit + 1]);
      const rows: readonly unknown[] = found.map((row) => (row.seq === null ? row : withTime(row)));
      const ends = rows[0] as Ends;
      const chain = (rows as readonly (ChainedEntry | NoEntry)[]).filter((row) => row.seq !== null);
      const [first] = chain;
      if (ends.base === null) {
        // Entries without their namespace's own row: the start of the chain is lost.
        if (first) throw corrupt(first.seq);
        return [];
      }
      if (after <= ends.base) {
        const before = { seq: ends.base, digest: ends.base_digest };
        return chainedEntries(chain.slice(0, limit), before, Math.min(ends.head, ends.base + limit), digests, corrupt);
      }
      // If the entry before is missing, the first one cannot be checked and counts as damaged.
      const before = first?.seq === after ? first : { seq: after, digest: NOTHING };
      const following = before === first ? chain.slice(1) : chain;
      return chainedEntries(following, before, Math.min(ends.head, after + limit), digests, corrupt);
    },

    async states(connection, namespace, scope, ids) {
      const rows = await connection.rows(sql.states, [nameId(namespace), nameId(scope), ids.map(toBytes)]);
      return toStates(
        rows,
        ids.map((id) => ({ scope, id })),
      );
    },

    async statesOf(connection, namespace, refs) {
      const addresses = [scopeIds(refs), refs.map(({ id }) => toBytes(id))];
      return toStates(await connection.rows(sql.statesOf, [nameId(namespace), ...addresses]), refs);
    },

    async scan(connection, namespace, scope, { after, limit }) {
      const values = [nameId(namespace), nameId(scope), bytesAfter(after), limit];
      const rows = await connection.rows(sql.scan, values);
      return rows.map((row) => {
        const id = bytesToName(row.id as Uint8Array);
        return { id, value: unsealState({ scope, id }, row.value as Uint8Array) };
      });
    },

    lockHead: (namespace) =>
      `select head, revision, digest, base, (${isSharded(schema)})::int as sharded
       from ${schema}.namespace where id = '${nameId(namespace)}' for update`,

    lockedHead([row]) {
      if (!row) return undefined;
      const { sharded, ...head } = row;
      return { ...(head as unknown as NamespaceRow), isSharded: sharded === 1 };
    },

    async addNamespace(connection, namespace) {
      const first = toBuffer(digests.first(namespace));
      await connection.rows(sql.addNamespace, [nameId(namespace), toBytes(namespace), first]);
    },

    async knownKeys(connection, namespace, keys) {
      const rows = await connection.rows(sql.knownKeys, [nameId(namespace), keys.map(toBytes)]);
      if (rows[0] && rows[0].head !== null) assertNamesLast(rows[0], namespace, place);
      const taken = new Map<string, TakenKey>();
      for (const { key, seq, payload_digest: digest } of rows) {
        if (key === null) continue;
        const hasPayload = (payload: Uint8Array): boolean => sameBytes(digest as Uint8Array, digests.of(payload));
        taken.set(bytesToName(key as Uint8Array), { seq: seq as number, hasPayload });
      }
      return {
        moment: momentOf(rows),
        taken,
        isReplicated: rows[0]?.replicated === 1,
        isSharded: rows[0]?.sharded === 1,
      };
    },

    async writeIfAt(connection, namespace, before, change, { isSharded }) {
      for (const { head, revision, digest, entries, states } of pieces(before, change)) {
        const { kept, removed } = inKeyOrder(states);
        const moved = [nameId(namespace), before.revision, toBuffer(before.digest), head, revision, toBuffer(digest)];
        const values = [...moved, ...entryColumns(entries), ...stateColumns(kept)];
        const removing = [...values, ...addressColumns(removed)];
        const rows = isSharded
          ? (await connection.rows(sql.writeOnShard, removing)).filter(({ kept }) => kept === "t")
          : removed.length === 0
            ? await connection.rows(sql.writeIfAt, values)
            : await connection.rows(sql.writeAndRemoveIfAt, removing);
        if (rows.length === 0) return false;
      }
      return true;
    },

    async leapTo(connection, namespace) {
      const [row] = await connection.rows(sql.leapTo, [nameId(namespace)]);
      return row?.revision as number;
    },

    async deleteNamespace(connection, namespace) {
      const id = nameId(namespace);
      for (const deletion of [sql.deleteStates, sql.deleteCheckpoint, sql.deleteEntries, sql.deleteNamespace]) {
        await connection.rows(deletion, [id]);
      }
    },
  };
}

/** True when one statement can write a change. */
export function fitsOneStatement({ entries, states }: NamespaceChange): boolean {
  const sizes = [...entries.map(({ payload }) => payload.length), ...states.map(({ value }) => value?.length ?? 0)];
  return [...chunks(sizes, (size) => size)].length <= 1;
}

/** The changes that make up a change: all but the last one leave the namespace's row as it is. */
function pieces({ head, revision, digest }: NamespaceRow, change: NamespaceChange | undefined): NamespaceChange[] {
  const unchanged = { head, revision, digest, entries: [], states: [] };
  if (!change) return [unchanged];
  if (fitsOneStatement(change)) return [change];
  const parts: NamespaceChange[] = [
    ...[...chunks(change.entries, ({ payload }) => payload.length)].map((entries) => ({ ...unchanged, entries })),
    ...[...chunks(change.states, ({ value }) => value?.length ?? 0)].map((states) => ({ ...unchanged, states })),
  ];
  const last = parts.pop() ?? unchanged;
  return [...parts, { ...change, entries: last.entries, states: last.states }];
}

/** Both ends of the ledger of a namespace, null without a namespace. */
type Ends =
  | { readonly head: number; readonly base: number; readonly base_digest: Uint8Array }
  | { readonly head: null; readonly base: null; readonly base_digest: null };

/** The row of a result without entries. */
interface NoEntry {
  readonly seq: null;
}

/** A state to write, with its address in the table. */
interface KeyedState {
  readonly scope: string;
  readonly id: Buffer;
}

type KeptState = KeyedState & { readonly value: Uint8Array };

const addressColumns = (states: readonly KeyedState[]): unknown[] => [
  states.map(({ scope }) => scope),
  states.map(({ id }) => id),
];

const stateColumns = (states: readonly KeptState[]): unknown[] => [
  ...addressColumns(states),
  states.map(({ value }) => toBuffer(value)),
];

const entryColumns = (entries: readonly ChainedEntry[]): unknown[] => [
  entries.map(({ seq }) => seq),
  entries.map(({ key }) => toBuffer(key)),
  entries.map(({ type }) => toBuffer(type)),
  entries.map(({ at }) => at),
  entries.map(({ payload }) => toBuffer(payload)),
  entries.map(({ digest }) => toBuffer(digest)),
];

/** A namespace's row beside its last entry. */
interface EndColumns {
  readonly head: number;
  readonly digest: Uint8Array;
  readonly base: number;
  readonly base_digest: Uint8Array;
  /** Null for a ledger without entries. */
  readonly last: number | null;
  readonly last_digest: Uint8Array;
}

/** @throws STORE_CORRUPT for the row of a namespace that does not name its last entry */
function assertNamesLast(row: Row, namespace: string, place: string): void {
  const { head, digest, base, base_digest: baseDigest, last, last_digest } = row as unknown as EndColumns;
  const entry = last === null ? undefined : { seq: last, digest: last_digest };
  if (namesLastEntry({ head, digest, base, baseDigest }, entry)) return;
  throw damagedHead(place, { namespace, head }, last ?? base);
}

/** Sorts states: all transactions touch rows in one order, so that they cannot deadlock. */
function inKeyOrder(states: readonly StateWrite[]): {
  readonly kept: KeptState[];
  readonly removed: KeyedState[];
} {
  const scopes = scopeIds(states);
  const keyed = states
    .map((state, place) => ({
      scope: scopes[place] as string,
      id: toBytes(state.id),
      value: state.value && sealState(state, state.value),
    }))
    .sort((a, b) => (a.scope < b.scope ? -1 : a.scope > b.scope ? 1 : Buffer.compare(a.id, b.id)));
  return {
    kept: keyed.flatMap(({ scope, id, value }) => (value === null ? [] : [{ scope, id, value }])),
    removed: keyed.filter(({ value }) => value === null),
  };
}

/** Rows as values, in the order of the request. */
function toStates(rows: readonly Row[], refs: readonly StateRef[]): StatesRead {
  const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
  for (const { place, value } of rows) {
    if (place === null) continue;
    const index = (place as number) - 1;
    values[index] = unsealState(refs[index] as StateRef, value as Uint8Array);
  }
  return { moment: momentOf(rows), values };
}

/** Ids of the scopes of some states; each scope is hashed once. */
function scopeIds(refs: readonly StateRef[]): string[] {
  const known = new Map<string, string>();
  return refs.map(({ scope }) => {
    const id = known.get(scope) ?? nameId(scope);
    known.set(scope, id);
    return id;
  });
}

/** The moment in a result; {@link ABSENT} without a row, or with null in it. */
function momentOf([row]: readonly Row[]): Moment {
  return typeof row?.revision === "number" ? { revision: row.revision, digest: row.digest as Uint8Array } : ABSENT;
}

/** `pg` sends a Buffer as bytes, and any other array as a list. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function toBytes(name: string): Buffer {
  return toBuffer(nameToBytes(name));
}

function bytesAfter(name: string | undefined): Buffer {
  return toBuffer(name === undefined ? NOTHING : nameToBytes(name));
}
