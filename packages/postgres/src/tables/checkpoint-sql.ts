import {
  bytesToName,
  type ChainEnds,
  type ChainedEntry,
  type CheckpointColumns,
  type DroppedColumns,
  nameToBytes,
} from "@qavr/core";
import { type Connection, type Row, type Statement, statement } from "../connection/connections.js";
import { chunks } from "./chunks.js";
import { digests } from "./digests.js";
import { nameId } from "./name-id.js";
import { quoted } from "./quoting.js";

/** Where a namespace's ledger begins and ends. */
export interface LedgerEnds extends ChainEnds {
  /** Of the states at the base. */
  readonly checkpointDigest: Uint8Array;
}

/** A namespace as it is listed. */
export interface NamedRows {
  /** What its rows are keyed by. */
  readonly id: string;
  readonly name: string;
}

/** The tables whose rows belong to a namespace. */
export const KEPT_TABLES = ["entry", "state", "checkpoint_state"] as const;
export type KeptTable = (typeof KEPT_TABLES)[number];

/** What rows of a table are kept under, and whether a namespace is listed that they belong to. */
export interface KeptRows {
  readonly id: string;
  readonly isListed: boolean;
}

/** The SQL of what is checked, and of what is left of entries that were compacted away, for one schema. Pages come in order. */
export interface CheckpointSql {
  namespaces(connection: Connection, after: string | undefined, limit: number): Promise<readonly NamedRows[]>;
  /** What a table keeps rows under, in order; nothing where row-level security hides it. */
  kept(
    connection: Connection,
    table: KeptTable,
    after: string | undefined,
    limit: number,
  ): Promise<readonly KeptRows[]>;
  /** Undefined when there is no such namespace. */
  ends(connection: Connection, namespace: string): Promise<LedgerEnds | undefined>;
  /** Rows of entries as they are, unchecked, those that were compacted away included. */
  entries(connection: Connection, namespace: string, after: number, limit: number): Promise<readonly ChainedEntry[]>;
  /** @param after place of the last state before the page, −1 for the first one */
  states(
    connection: Connection,
    namespace: string,
    after: number,
    limit: number,
  ): Promise<readonly CheckpointColumns[]>;
  /** Leaves nothing of entries but their keys, and digests of their payloads. */
  dropEntries(connection: Connection, namespace: string, entries: readonly DroppedColumns[]): Promise<void>;
  /** Several statements. */
  replaceStates(connection: Connection, namespace: string, states: readonly CheckpointColumns[]): Promise<void>;
  setBase(connection: Connection, ends: LedgerEnds): Promise<void>;
}

/** Before all others. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

/** Prepares the text of every statement. */
export function checkpointSql(schemaName: string): CheckpointSql {
  const schema = quoted(schemaName);
  const sql = {
    // An empty namespace is one whose first commit has not been made yet.
    namespaces: statement(`
      select id::text as id, name from ${schema}.namespace where name > $1 and head > 0 order by name limit $2`),
    ends: statement(`
      select name, head, digest, base, base_digest, checkpoint_digest from ${schema}.namespace where id = $1`),
    entries: statement(`
      select seq, key, type, at, payload, digest from ${schema}.entry
      where namespace = $1 and seq > $2 order by seq limit $3`),
    states: statement(`
      select place, scope, id, value from ${schema}.checkpoint_state
      where namespace = $1 and place > $2 order by place limit $3`),
    // The row of a key stays where it is, so that one index knows all keys that were ever taken.
    dropEntries: statement(`
      update ${schema}.entry set type = '', at = 0, payload = gone.payload, digest = gone.digest
      from unnest($2::bigint[], $3::bytea[], $4::bytea[]) as gone (seq, payload, digest)
      where entry.namespace = $1 and entry.seq = gone.seq`),
    deleteStates: statement(`delete from ${schema}.checkpoint_state where namespace = $1`),
    addStates: statement(`
      insert into ${schema}.checkpoint_state (namespace, place, scope, id, value)
      select $1, * from unnest($2::integer[], $3::bytea[], $4::bytea[], $5::bytea[])`),
    setBase: statement(`
      update ${schema}.namespace set base = $2, base_digest = $3, checkpoint_digest = $4 where id = $1`),
  } satisfies Record<string, Statement>;
  // From one namespace's rows to the next one's by the primary key, however many rows each has.
  const kept = Object.fromEntries(
    KEPT_TABLES.map((table) => [
      table,
      statement(`
        with recursive kept (id, place) as (
          (select namespace, 1 from ${schema}.${table} where namespace > $1 order by namespace limit 1)
          union all
          select (
            select next.namespace from ${schema}.${table} as next where next.namespace > kept.id
            order by next.namespace limit 1
          ), place + 1
          from kept where id is not null and place < $2
        )
        select kept.id::text as id,
          (select count(*) from ${schema}.namespace where namespace.id = kept.id and head > 0) as listed
        from kept where kept.id is not null order by kept.id`),
    ]),
  ) as Record<KeptTable, Statement>;

  return {
    async kept(connection, table, after, limit) {
      const rows = await connection.rows(kept[table], [after ?? NO_ID, limit]);
      return rows.map(({ id, listed }) => ({ id: id as string, isListed: listed === 1 }));
    },

    async namespaces(connection, after, limit) {
      const rows = await connection.rows(sql.namespaces, [Buffer.from(nameToBytes(after ?? "")), limit]);
      return rows.map(({ id, name }) => ({ id: id as string, name: bytesToName(name as Uint8Array) }));
    },

    async ends(connection, namespace) {
      const [row] = await connection.rows(sql.ends, [nameId(namespace)]);
      return row && toEnds(row);
    },

    async entries(connection, namespace, after, limit) {
      const rows: readonly unknown[] = await connection.rows(sql.entries, [nameId(namespace), after, limit]);
      return rows as readonly ChainedEntry[];
    },

    async states(connection, namespace, after, limit) {
      const rows: readonly unknown[] = await connection.rows(sql.states, [nameId(namespace), after, limit]);
      return rows as readonly CheckpointColumns[];
    },

    async dropEntries(connection, namespace, entries) {
      await connection.rows(sql.dropEntries, [
        nameId(namespace),
        entries.map(({ seq }) => seq),
        entries.map(({ payloadDigest }) => Buffer.from(payloadDigest)),
        entries.map((entry) => Buffer.from(digests.dropped(namespace, entry))),
      ]);
    },

    async replaceStates(connection, namespace, states) {
      const id = nameId(namespace);
      await connection.rows(sql.deleteStates, [id]);
      for (const some of chunks(states, ({ value }) => value.length)) {
        await connection.rows(sql.addStates, [
          id,
          some.map(({ place }) => place),
          some.map((state) => Buffer.from(state.scope)),
          some.map((state) => Buffer.from(state.id)),
          some.map((state) => Buffer.from(state.value)),
        ]);
      }
    },

    async setBase(connection, { namespace, base, baseDigest, checkpointDigest }) {
      const values = [base, Buffer.from(baseDigest), Buffer.from(checkpointDigest)];
      await connection.rows(sql.setBase, [nameId(namespace), ...values]);
    },
  };
}

function toEnds({ name, head, digest, base, base_digest, checkpoint_digest }: Row): LedgerEnds {
  return {
    namespace: bytesToName(name as Uint8Array),
    head: head as number,
    digest: digest as Uint8Array,
    base: base as number,
    baseDigest: base_digest as Uint8Array,
    checkpointDigest: checkpoint_digest as Uint8Array,
  };
}

/** A state of a checkpoint as a row. */
export function checkpointRow(place: number, scope: string, id: string, value: Uint8Array): CheckpointColumns {
  return { place, scope: nameToBytes(scope), id: nameToBytes(id), value };
}
