import {
  bytesToName,
  type ChainedEntry,
  type CheckpointColumns,
  type DroppedColumns,
  type LedgerEnds,
  NO_DIGESTS,
  nameToBytes,
  type StateWrite,
  stateAddress,
  withDigest,
} from "@qavr/core/store";
import { type Connection, type Row, type Statement, statement } from "../connection/connections.js";
import { chunks } from "./chunks.js";
import { digests, nameId } from "./digests.js";
import { ENTRY_TIME, withTime } from "./entry-time.js";
import { quoted, quotedText } from "./sql-text.js";

/** A listed namespace. */
export interface NamedRows {
  /** Key of its rows. */
  readonly id: string;
  readonly name: string;
}

/** A page of the namespaces that can be listed. */
export interface NamedPage {
  readonly rows: readonly NamedRows[];
  /** Nodes of a cluster that do not answer; their namespaces are not listed. */
  readonly missing: readonly string[];
}

/** The tables whose rows belong to a namespace. */
export const KEPT_TABLES = ["entry", "state", "checkpoint_state"] as const;
export type KeptTable = (typeof KEPT_TABLES)[number];

/** Namespace id of rows in a table, and whether this namespace is listed. */
export interface KeptRows {
  readonly id: string;
  readonly isListed: boolean;
}

/** A later beginning of a ledger, or a change of its checkpoint. */
export interface LaterBeginning {
  readonly before: LedgerEnds;
  readonly after: LedgerEnds;
}

/** The SQL of checks, of checkpoints and of compacted entries, for one schema. Pages are in order. */
export interface CheckpointSql {
  namespaces(connection: Connection, after: string | undefined, limit: number): Promise<readonly NamedRows[]>;
  /** Like `namespaces`, on the nodes of a cluster that answer. */
  reachable(connection: Connection, after: string | undefined, limit: number): Promise<NamedPage>;
  /**
   * Namespace ids of a table, in order; none where row-level security hides the rows.
   *
   * @param sharded true for tables that are distributed over the nodes of a cluster
   */
  kept(
    connection: Connection,
    sharded: boolean,
    table: KeptTable,
    after: string | undefined,
    limit: number,
  ): Promise<readonly KeptRows[]>;
  /** Undefined when there is no such namespace. */
  ends(connection: Connection, namespace: string): Promise<LedgerEnds | undefined>;
  /** Rows of entries, unchecked, compacted ones included. */
  entries(connection: Connection, namespace: string, after: number, limit: number): Promise<readonly ChainedEntry[]>;
  /** Rows of all states of a checkpoint. Several statements: call it on one moment. */
  states(connection: Connection, namespace: string): Promise<readonly CheckpointColumns[]>;
  /** Drops entries except for their keys and the digests of their payloads. */
  dropEntries(connection: Connection, namespace: string, entries: readonly DroppedColumns[]): Promise<void>;
  /** Changes states of a checkpoint, each at most once. Returns the sum of its digests afterwards. Several statements. */
  changeStates(connection: Connection, ends: LedgerEnds, states: readonly StateWrite[]): Promise<Uint8Array>;
  /** Sets the beginning of a ledger; false when it is not the one `before`. */
  setBase(connection: Connection, beginning: LaterBeginning): Promise<boolean>;
}

/** States of a checkpoint that are read at once. */
const STATES_PAGE = 1_000;
/** Sorts before every id. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

/** Prepares the text of every statement. */
export function checkpointSql(schemaName: string): CheckpointSql {
  const schema = quoted(schemaName);
  const sql = {
    // A namespace is empty until its first commit.
    namespaces: statement(`
      select id::text as id, name from ${schema}.namespace where name > $1 and head > 0 order by name limit $2`),
    reachable: statement(`
      select nodename || ':' || nodeport as node, success::int as answered, result
      from run_command_on_shards(
        ${quotedText(`${schema}.namespace`)},
        format(
          'select coalesce(json_agg(json_build_array(id, encode(name, ''base64''))), ''[]'')
           from (select id, name from %%s where name > %L and head > 0 order by name limit %s) as page',
          $1::bytea, $2::integer)
      ) join pg_catalog.pg_dist_shard_placement using (shardid)`),
    ends: statement(`
      select name, head, digest, base, base_digest, checkpoint_digest from ${schema}.namespace where id = $1`),
    entries: statement(`
      select seq, key, type, ${ENTRY_TIME}, payload, digest from ${schema}.entry
      where namespace = $1 and seq > $2 order by seq limit $3`),
    states: statement(`
      select address::text as address, scope, id, value from ${schema}.checkpoint_state
      where namespace = $1 and address > $2 order by checkpoint_state.address limit ${STATES_PAGE}`),
    // The row of a key stays in the table, so that one index has all keys.
    dropEntries: statement(`
      update ${schema}.entry set type = '', at = 0, payload = gone.payload, digest = gone.digest
      from unnest($2::bigint[], $3::bytea[], $4::bytea[]) as gone (seq, payload, digest)
      where entry.namespace = $1 and entry.seq = gone.seq`),
    dropStates: statement(`
      delete from ${schema}.checkpoint_state where namespace = $1 and address = any($2::uuid[]) returning scope, id, value`),
    addStates: statement(`
      insert into ${schema}.checkpoint_state (namespace, address, scope, id, value)
      select $1, * from unnest($2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[])`),
    setBase: statement(`
      update ${schema}.namespace set base = $2, base_digest = $3, checkpoint_digest = $4
      where id = $1 and base = $5 and checkpoint_digest = $6 returning base`),
  } satisfies Record<string, Statement>;
  // Jumps from one namespace to the next by the primary key, so that the number of rows does not matter.
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

  // A cluster does not run that: each shard groups its own rows, and sends one page of them.
  const keptOnShards = Object.fromEntries(
    KEPT_TABLES.map((table) => [
      table,
      statement(`
        select kept.namespace::text as id, count(listed.id) as listed
        from (
          select namespace from ${schema}.${table} where namespace > $1 group by namespace order by namespace limit $2
        ) as kept left join ${schema}.namespace as listed on listed.id = kept.namespace and listed.head > 0
        group by kept.namespace order by kept.namespace`),
    ]),
  ) as Record<KeptTable, Statement>;

  return {
    async kept(connection, sharded, table, after, limit) {
      const rows = await connection.rows((sharded ? keptOnShards : kept)[table], [after ?? NO_ID, limit]);
      return rows.map(({ id, listed }) => ({ id: id as string, isListed: listed === 1 }));
    },

    async namespaces(connection, after, limit) {
      const rows = await connection.rows(sql.namespaces, [Buffer.from(nameToBytes(after ?? "")), limit]);
      return rows.map(({ id, name }) => ({ id: id as string, name: bytesToName(name as Uint8Array) }));
    },

    async reachable(connection, after, limit) {
      const answers = await connection.rows(sql.reachable, [Buffer.from(nameToBytes(after ?? "")), limit]);
      const missing = answers.filter(({ answered }) => answered !== 1).map(({ node }) => node as string);
      const rows = answers
        .filter(({ answered }) => answered === 1)
        .flatMap(({ result }) => JSON.parse(result as string) as [string, string][])
        .map(([id, name]) => ({ id, bytes: Buffer.from(name, "base64") }))
        .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
        .slice(0, limit)
        .map(({ id, bytes }) => ({ id, name: bytesToName(bytes) }));
      return { rows, missing: [...new Set(missing)].sort() };
    },

    async ends(connection, namespace) {
      const [row] = await connection.rows(sql.ends, [nameId(namespace)]);
      return row && toEnds(row);
    },

    async entries(connection, namespace, after, limit) {
      const rows = await connection.rows(sql.entries, [nameId(namespace), after, limit]);
      return rows.map((row): unknown => withTime(row)) as readonly ChainedEntry[];
    },

    async states(connection, namespace) {
      const found: CheckpointColumns[] = [];
      let after = NO_ID;
      for (let isOver = false; !isOver; ) {
        const rows: readonly unknown[] = await connection.rows(sql.states, [nameId(namespace), after]);
        const addressed = rows as readonly (CheckpointColumns & { readonly address: string })[];
        // A row under the address of another state is none of this checkpoint's.
        found.push(
          ...addressed.filter(({ address, scope, id }) => address === addressOf(bytesToName(scope), bytesToName(id))),
        );
        after = addressed.at(-1)?.address ?? after;
        isOver = rows.length < STATES_PAGE;
      }
      return found;
    },

    async dropEntries(connection, namespace, entries) {
      await connection.rows(sql.dropEntries, [
        nameId(namespace),
        entries.map(({ seq }) => seq),
        entries.map(({ payloadDigest }) => Buffer.from(payloadDigest)),
        entries.map((entry) => Buffer.from(digests.dropped(namespace, entry))),
      ]);
    },

    async changeStates(connection, { namespace, base, checkpointDigest }, states) {
      const id = nameId(namespace);
      let sum = base === 0 ? NO_DIGESTS : checkpointDigest;
      for (const some of chunks(states, ({ value }) => value?.length ?? 0)) {
        const addresses = some.map((state) => addressOf(state.scope, state.id));
        const dropped: readonly unknown[] = await connection.rows(sql.dropStates, [id, addresses]);
        const kept = some.flatMap((state) => {
          const { scope, id: name, value } = state;
          return value
            ? [{ address: addressOf(scope, name), scope: nameToBytes(scope), id: nameToBytes(name), value }]
            : [];
        });
        for (const state of [...(dropped as readonly CheckpointColumns[]), ...kept]) {
          sum = withDigest(sum, digests.kept(namespace, state));
        }
        await connection.rows(sql.addStates, [
          id,
          kept.map(({ address }) => address),
          kept.map(({ scope }) => Buffer.from(scope)),
          kept.map((state) => Buffer.from(state.id)),
          kept.map(({ value }) => Buffer.from(value)),
        ]);
      }
      return sum;
    },

    async setBase(connection, { before, after }) {
      const { namespace, base, baseDigest, checkpointDigest } = after;
      const expected = [before.base, Buffer.from(before.checkpointDigest)];
      const values = [base, Buffer.from(baseDigest), Buffer.from(checkpointDigest), ...expected];
      return (await connection.rows(sql.setBase, [nameId(namespace), ...values])).length > 0;
    },
  };
}

/** Key of a state of a checkpoint: a hash, since scope and id together may be too long for an index. */
function addressOf(scope: string, id: string): string {
  return nameId(stateAddress({ scope, id }));
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
