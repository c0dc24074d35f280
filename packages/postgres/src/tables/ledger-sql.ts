import {
  bytesToName,
  type ChainedEntry,
  chainedEntries,
  type DroppedKey,
  nameToBytes,
  type QavrError,
  type ScannedState,
  type ScanOptions,
  type SequencedEntry,
  type StateRef,
  type StateWrite,
  sameBytes,
} from "@qavr/core";
import { type Connection, type Row, type Statement, statement } from "../connection/connections.js";
import { oneByOne } from "../connection/one-by-one.js";
import { damagedEntry } from "../connection/postgres-errors.js";
import { onItsOwn } from "../connection/transaction.js";
import { writeIfAt } from "../connection/write-if-at.js";
import type { ResolvedOptions } from "../postgres-options.js";
import { chunks } from "./chunks.js";
import { digests } from "./digests.js";
import { ABSENT, type Moment } from "./moment.js";
import { nameId } from "./name-id.js";
import { quoted } from "./quoting.js";

/** Where a namespace stands. */
export interface NamespaceRow extends Moment {
  readonly head: number;
  /** Place of the last entry that was compacted away, 0 for a whole ledger. */
  readonly base: number;
}

/** States of one moment. */
export interface StatesRead {
  readonly moment: Moment;
  readonly values: (Uint8Array | undefined)[];
}

/** Which of some keys are taken at one moment. */
export interface KeysRead {
  readonly moment: Moment;
  /** Payloads may be large, so they are held against digests. */
  readonly taken: ReadonlyMap<string, DroppedKey>;
  /** Commits may have to wait for replicas. */
  readonly isReplicated: boolean;
}

/** The SQL of the ledger, for one schema. Each method is one statement on the connection and therefore sees one moment, unless it says otherwise. */
export interface LedgerSql {
  moment(connection: Connection, namespace: string): Promise<Moment>;
  head(connection: Connection, namespace: string): Promise<number>;
  namespaces(connection: Connection, options: ScanOptions): Promise<string[]>;
  /** @throws STORE_CORRUPT for an entry that does not follow from the one before it */
  entries(connection: Connection, namespace: string, after: number, limit: number): Promise<SequencedEntry[]>;
  states(connection: Connection, namespace: string, scope: string, ids: readonly string[]): Promise<StatesRead>;
  /** The same across scopes. */
  statesOf(connection: Connection, namespace: string, refs: readonly StateRef[]): Promise<StatesRead>;
  scan(connection: Connection, namespace: string, scope: string, options: ScanOptions): Promise<ScannedState[]>;
  /** Statement that locks the namespace's head until the transaction ends, and selects it. */
  lockHead(namespace: string): string;
  /** Reads what {@link lockHead} selected; undefined: there is no such namespace, and nothing is locked. */
  lockedHead(rows: readonly Row[]): NamespaceRow | undefined;
  /** Adds an empty namespace if there is none. Waits for a transaction that is about to add or erase it. */
  addNamespace(connection: Connection, namespace: string): Promise<void>;
  knownKeys(connection: Connection, namespace: string, keys: readonly string[]): Promise<KeysRead>;
  /**
   * Writes a change as one statement, which does nothing and returns false if the namespace is not at the moment `before` or if one
   * of the keys is taken. Only for a change that {@link fitsOneStatement}.
   */
  writeIfAt(connection: Connection, namespace: string, before: Moment, change: NamespaceChange): Promise<boolean>;
  /**
   * Changes nothing, and has something to commit all the same. The acknowledgement of that is one of everything before it: when a
   * connection is lost while a commit waits for a replica, the commit stands on one machine, and nobody waits for it any more.
   */
  confirm(connection: Connection, namespace: string): Promise<void>;
  /** Several statements: large changes are written in pieces. For whoever holds the lock. */
  write(connection: Connection, namespace: string, change: NamespaceChange): Promise<void>;
  /**
   * A revision that the namespace has in no other history either, for a change that leaves the digest as it is: the time in
   * microseconds, if the namespace has not come further.
   */
  leapTo(connection: Connection, namespace: string): Promise<number>;
  deleteStates(connection: Connection, namespace: string): Promise<void>;
  /** Several statements. */
  deleteNamespace(connection: Connection, namespace: string): Promise<void>;
}

/** What a transaction writes. */
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
  const now = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";
  const sql = {
    moment: statement(moment),
    head: statement(`select head from ${schema}.namespace where id = $1`),
    // An empty namespace is one whose first commit has not been made yet.
    namespaces: statement(`select name from ${schema}.namespace where name > $1 and head > 0 order by name limit $2`),
    // From the one before on: its digest is what the first one's builds on. One row at least, so that the head comes with its entries.
    entries: statement(`
      select known.head, known.base, known.base_digest, found.seq, found.key, found.type, found.at, found.payload, found.digest
      from (select) as one left join (select head, base, base_digest from ${schema}.namespace where id = $1) as known on true
      left join lateral (
        select seq, key, type, at, payload, digest
        from ${schema}.entry where namespace = $1 and seq >= greatest($2::bigint, known.base + 1) order by seq limit $3
      ) as found on true order by found.seq`),
    // One row at least, so that the moment comes with its states.
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
    // The first revision is the time in microseconds: above every revision that an erased namespace of this name ever had.
    addNamespace: statement(`
      insert into ${schema}.namespace (id, name, head, revision, digest, base_digest)
      values ($1, $2, 0, ${now}, $3, $3)
      on conflict (id) do nothing`),
    // Digests in place of payloads; of an entry that was compacted away that is all there is.
    knownKeys: statement(`
      select now.revision, now.digest, found.key, found.seq, found.payload_digest,
        (current_setting('synchronous_standby_names', true) <> '')::int as replicated
      from (select) as one left join (select revision, digest, base from ${schema}.namespace where id = $1) as now on true
      left join lateral (
        select taken.key, taken.seq,
          case when taken.seq > coalesce(now.base, 0) then substring(sha256(taken.payload) for 16) else taken.payload end as payload_digest
        from unnest($2::bytea[]) as wanted (key)
        ${oneByOne(`select key, seq, payload from ${schema}.entry where namespace = $1 and key = wanted.key`, "taken")}
      ) as found on true`),
    writeIfAt: statement(writeIfAt(schema, false, lockTimeout)),
    writeAndRemoveIfAt: statement(writeIfAt(schema, true, lockTimeout)),
    confirm: statement(`update ${schema}.namespace set head = head where id = $1 and ${onItsOwn(lockTimeout)}`),
    setHead: statement(`update ${schema}.namespace set head = $2, revision = $3, digest = $4 where id = $1`),
    appendEntries: statement(`
      insert into ${schema}.entry (namespace, seq, key, type, at, payload, digest)
      select $1, * from unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::double precision[], $6::bytea[], $7::bytea[])`),
    writeStates: statement(`
      insert into ${schema}.state (namespace, scope, id, value)
      select $1, * from unnest($2::uuid[], $3::bytea[], $4::bytea[])
      on conflict (namespace, scope, id) do update set value = excluded.value`),
    removeStates: statement(`
      delete from ${schema}.state using unnest($2::uuid[], $3::bytea[]) as gone (scope, id)
      where state.namespace = $1 and state.scope = gone.scope and state.id = gone.id`),
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
      return (row?.head as number | undefined) ?? 0;
    },

    async namespaces(connection, { after, limit }) {
      const rows = await connection.rows(sql.namespaces, [bytesAfter(after), limit]);
      return rows.map(({ name }) => bytesToName(name as Uint8Array));
    },

    async entries(connection, namespace, after, limit) {
      const rows: readonly unknown[] = await connection.rows(sql.entries, [nameId(namespace), after, limit + 1]);
      const ends = rows[0] as Ends;
      const chain = (rows as readonly (ChainedEntry | NoEntry)[]).filter((row) => row.seq !== null);
      const [first] = chain;
      if (ends.base === null) {
        // Entries without their namespace's own row: where the ledger begins, and what it is chained from, is gone.
        if (first) throw corrupt(first.seq);
        return [];
      }
      if (after <= ends.base) {
        const before = { seq: ends.base, digest: ends.base_digest };
        return chainedEntries(chain.slice(0, limit), before, Math.min(ends.head, ends.base + limit), digests, corrupt);
      }
      // Without the one before the first one cannot be checked: then it is the damaged one.
      const before = first?.seq === after ? first : { seq: after, digest: NOTHING };
      const following = before === first ? chain.slice(1) : chain;
      return chainedEntries(following, before, Math.min(ends.head, after + limit), digests, corrupt);
    },

    async states(connection, namespace, scope, ids) {
      const rows = await connection.rows(sql.states, [nameId(namespace), nameId(scope), ids.map(toBytes)]);
      return toStates(rows, ids.length);
    },

    async statesOf(connection, namespace, refs) {
      const addresses = [scopeIds(refs), refs.map(({ id }) => toBytes(id))];
      return toStates(await connection.rows(sql.statesOf, [nameId(namespace), ...addresses]), refs.length);
    },

    async scan(connection, namespace, scope, { after, limit }) {
      const values = [nameId(namespace), nameId(scope), bytesAfter(after), limit];
      const rows = await connection.rows(sql.scan, values);
      return rows.map(({ id, value }) => ({ id: bytesToName(id as Uint8Array), value: value as Uint8Array }));
    },

    lockHead: (namespace) =>
      `select head, revision, digest, base from ${schema}.namespace where id = '${nameId(namespace)}' for update`,

    lockedHead: ([row]) => row as NamespaceRow | undefined,

    async addNamespace(connection, namespace) {
      const first = toBuffer(digests.first(namespace));
      await connection.rows(sql.addNamespace, [nameId(namespace), toBytes(namespace), first]);
    },

    async knownKeys(connection, namespace, keys) {
      const rows = await connection.rows(sql.knownKeys, [nameId(namespace), keys.map(toBytes)]);
      const taken = new Map<string, DroppedKey>();
      for (const { key, seq, payload_digest: digest } of rows) {
        if (key === null) continue;
        const hasPayload = (payload: Uint8Array): boolean => sameBytes(digest as Uint8Array, digests.of(payload));
        taken.set(bytesToName(key as Uint8Array), { seq: seq as number, hasPayload });
      }
      return { moment: momentOf(rows), taken, isReplicated: rows[0]?.replicated === 1 };
    },

    async writeIfAt(connection, namespace, before, { head, revision, digest, entries, states }) {
      const { kept, removed } = inKeyOrder(states);
      const moved = [nameId(namespace), before.revision, toBuffer(before.digest), head, revision, toBuffer(digest)];
      const values = [...moved, ...entryColumns(entries), ...stateColumns(kept)];
      const rows =
        removed.length === 0
          ? await connection.rows(sql.writeIfAt, values)
          : await connection.rows(sql.writeAndRemoveIfAt, [...values, ...addressColumns(removed)]);
      return rows.length === 1;
    },

    async confirm(connection, namespace) {
      await connection.rows(sql.confirm, [nameId(namespace)]);
    },

    async write(connection, namespace, { head, revision, digest, entries, states }) {
      const id = nameId(namespace);
      for (const some of chunks(entries, ({ payload }) => payload.length)) {
        await connection.rows(sql.appendEntries, [id, ...entryColumns(some)]);
      }
      const { kept, removed } = inKeyOrder(states);
      for (const some of chunks(kept, ({ value }) => value.length)) {
        await connection.rows(sql.writeStates, [id, ...stateColumns(some)]);
      }
      for (const some of chunks(removed, () => 0)) {
        await connection.rows(sql.removeStates, [id, ...addressColumns(some)]);
      }
      await connection.rows(sql.setHead, [id, head, revision, toBuffer(digest)]);
    },

    async leapTo(connection, namespace) {
      const [row] = await connection.rows(sql.leapTo, [nameId(namespace)]);
      return row?.revision as number;
    },

    async deleteStates(connection, namespace) {
      await connection.rows(sql.deleteStates, [nameId(namespace)]);
    },

    async deleteNamespace(connection, namespace) {
      const id = nameId(namespace);
      for (const deletion of [sql.deleteStates, sql.deleteCheckpoint, sql.deleteEntries, sql.deleteNamespace]) {
        await connection.rows(deletion, [id]);
      }
    },
  };
}

/** Whether a change can be written by one statement. */
export function fitsOneStatement({ entries, states }: NamespaceChange): boolean {
  const sizes = [...entries.map(({ payload }) => payload.length), ...states.map(({ value }) => value?.length ?? 0)];
  return [...chunks(sizes, (size) => size)].length <= 1;
}

/** Where the ledger of a namespace begins and ends, null without a namespace. */
type Ends =
  | { readonly head: number; readonly base: number; readonly base_digest: Uint8Array }
  | { readonly head: null; readonly base: null; readonly base_digest: null };

/** In place of entries, where there are none. */
interface NoEntry {
  readonly seq: null;
}

/** A state to write, its address as the table has it. */
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

/** Every transaction touches rows in one order, so that no two of them can wait for each other. */
function inKeyOrder(states: readonly StateWrite[]): {
  readonly kept: KeptState[];
  readonly removed: KeyedState[];
} {
  const scopes = scopeIds(states);
  const keyed = states
    .map(({ id, value }, place) => ({ scope: scopes[place] as string, id: toBytes(id), value }))
    .sort((a, b) => (a.scope < b.scope ? -1 : a.scope > b.scope ? 1 : Buffer.compare(a.id, b.id)));
  return {
    kept: keyed.flatMap(({ scope, id, value }) => (value === null ? [] : [{ scope, id, value }])),
    removed: keyed.filter(({ value }) => value === null),
  };
}

/** Rows as values in the order that they were asked for in. */
function toStates(rows: readonly Row[], count: number): StatesRead {
  const values = new Array<Uint8Array | undefined>(count).fill(undefined);
  for (const { place, value } of rows) {
    if (place !== null) values[(place as number) - 1] = value as Uint8Array;
  }
  return { moment: momentOf(rows), values };
}

/** Ids of the scopes of some states; few scopes, so each is hashed once. */
function scopeIds(refs: readonly StateRef[]): string[] {
  const known = new Map<string, string>();
  return refs.map(({ scope }) => {
    const id = known.get(scope) ?? nameId(scope);
    known.set(scope, id);
    return id;
  });
}

/** Of a namespace that is not there nothing is selected, or null. */
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
