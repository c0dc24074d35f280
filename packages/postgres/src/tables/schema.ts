import { QavrError } from "@qavr/core";
import type { Connection, Connections } from "../connection/connections.js";
import { inTransaction, LONG_STATEMENT, limits } from "../connection/transaction.js";
import type { ResolvedOptions } from "../postgres-options.js";
import { chainEntries } from "./chain-entries.js";
import { quoted, quotedText } from "./quoting.js";

/** "qavr" in ASCII: first key of the advisory lock that migrations are made under. */
const LOCK = 0x71617672;
/** Creating tables, some hundreds of them with many partitions. ms */
const CREATION_TIMEOUT = 60_000;

/** What the store must know of the server. */
export interface ServerFacts {
  /** The tables were created with row-level security. */
  readonly rowLevelSecurity: boolean;
}

/** How the tables of a ledger are laid out: as asked for when they are created, as they are found afterwards. */
interface Layout extends ServerFacts {
  readonly partitions: number;
}

/** What a migration may depend on. */
interface MigrationContext extends Layout {
  /** Quoted. */
  readonly schema: string;
}

/** SQL, and then what SQL cannot say. */
interface Migration {
  sql(context: MigrationContext): string;
  after?(connection: Connection, context: MigrationContext): Promise<void>;
}

/**
 * Each step brings a ledger from schema version n to n + 1. A step that was released is never changed.
 *
 * Names are bytea of UTF-8: text cannot hold NUL, and compares by a collation. Every key begins with the namespace, as the first 16
 * bytes of its name's SHA-256 (see {@link nameId}), so that a row's place follows from its namespace alone: by hash partition here,
 * by shard on engines that distribute tables. Values are numbers of vectors: compressing them costs time and gains nothing.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    sql: ({ schema, partitions, rowLevelSecurity }) => `
      create table ${schema}.ledger (version integer not null);
      insert into ${schema}.ledger values (0);
      create table ${schema}.namespace (
        id       uuid   not null primary key,
        name     bytea  not null,
        head     bigint not null,
        revision bigint not null
      ) ${by("id", partitions)} ${plain("namespace", partitions)};
      create index namespace_name on ${schema}.namespace (name);
      create table ${schema}.entry (
        namespace uuid   not null,
        seq       bigint not null,
        key       bytea  not null,
        type      bytea  not null,
        at        double precision not null,
        payload   bytea  not null,
        primary key (namespace, seq),
        unique (namespace, key)
      ) ${by("namespace", partitions)} ${plain("entry", partitions)};
      create table ${schema}.state (
        namespace uuid  not null,
        scope     uuid  not null,
        id        bytea not null,
        value     bytea not null,
        primary key (namespace, scope, id)
      ) ${by("namespace", partitions)} ${plain("state", partitions)};
      alter table ${schema}.entry alter column payload set storage external;
      alter table ${schema}.state alter column value set storage external;
      ${FIRST_TABLES.map((table) => parts(schema, table, partitions)).join("")}
      ${rowLevelSecurity ? FIRST_TABLES.map((table) => policy(schema, table, partitions)).join("\n") : ""}
    `,
  },

  // Digests, each covering the one before; `base` is the last entry that was compacted away.
  {
    sql: ({ schema, partitions, rowLevelSecurity }) => `
      alter table ${schema}.namespace
        add column digest            bytea,
        add column base              bigint not null default 0,
        add column base_digest       bytea,
        add column checkpoint_digest bytea  not null default '';
      alter table ${schema}.entry add column digest bytea;
      create table ${schema}.checkpoint_state (
        namespace uuid    not null,
        place     integer not null,
        scope     bytea   not null,
        id        bytea   not null,
        value     bytea   not null,
        primary key (namespace, place)
      ) ${by("namespace", partitions)};
      alter table ${schema}.checkpoint_state alter column value set storage external;
      ${parts(schema, "checkpoint_state", partitions)}
      ${rowLevelSecurity ? policy(schema, "checkpoint_state", partitions) : ""}
    `,
    async after(connection, { schema, rowLevelSecurity }) {
      await chainEntries(connection, schema, rowLevelSecurity);
      await connection.script(`
        alter table ${schema}.namespace alter column digest set not null, alter column base_digest set not null;
        alter table ${schema}.entry alter column digest set not null`);
    },
  },
];

const FIRST_TABLES = ["namespace", "entry", "state"] as const;

function by(column: string, partitions: number): string {
  return partitions === 0 ? "" : `partition by hash (${column})`;
}

/**
 * How the rows of a table are stored. Heads have room to be counted up in. Entries and states stay in their row up to a page: moved out,
 * each change of a collection's state would leave two dead rows and index entries behind, which nothing but a vacuum takes away.
 */
function storage(table: string): string {
  if (table === "namespace") return "with (fillfactor = 50)";
  return table === "entry" || table === "state" ? "with (toast_tuple_target = 8160)" : "";
}

/** Of a table that is not partitioned: one that is stores nothing itself. */
function plain(table: string, partitions: number): string {
  return partitions === 0 ? storage(table) : "";
}

function parts(schema: string, table: string, partitions: number): string {
  const create = (i: number): string =>
    `create table ${schema}.${table}_${i} partition of ${schema}.${table}
      for values with (modulus ${partitions}, remainder ${i}) ${storage(table)};`;
  return Array.from({ length: partitions }, (_, i) => create(i)).join("\n");
}

/**
 * Rows of the namespace that the transaction names; all names are listed under `*`. Partitions have no policy of their own, so that
 * nothing is seen past their table.
 */
function policy(schema: string, table: string, partitions: number): string {
  const column = table === "namespace" ? "id" : "namespace";
  const listed = table === "namespace" ? " or current_setting('qavr.namespace', true) = '*'" : "";
  const all = [table, ...Array.from({ length: partitions }, (_, i) => `${table}_${i}`)];
  const secure = (name: string): string => `
    alter table ${schema}.${name} enable row level security;
    alter table ${schema}.${name} force row level security;`;
  return `
    ${all.map(secure).join("")}
    create policy one_namespace on ${schema}.${table}
      using (${column}::text = current_setting('qavr.namespace', true)${listed});
  `;
}

/**
 * Makes sure that the schema holds a ledger of the version that this package knows, under an advisory lock: of several
 * processes one migrates and the others find the work done. In one transaction: it is migrated, or as it was.
 *
 * @throws STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_UNAVAILABLE when it is not there and may not be created, and what `pg` throws
 */
export async function prepareSchema(source: Connections, options: ResolvedOptions): Promise<ServerFacts> {
  // Every call of the store waits for this: a connection that falls silent must not keep them for as long as a migration may take.
  const version = await source.use((connection) => inspect(connection, options));
  if (version !== MIGRATIONS.length) {
    if (!options.migrate) throw notThere(options.place);
    // Bringing a large ledger up to date takes its time. Whoever waits for it waits as long as for any other lock.
    const timeout = version === 0 ? CREATION_TIMEOUT : LONG_STATEMENT;
    await source.use((connection) => migrateLocked(connection, options, timeout), { timeout, lasting: true });
  }
  return source.use((connection) => layoutOf(connection, options.schema));
}

/** @param timeout how long one of its statements may take, ms */
async function migrateLocked(connection: Connection, options: ResolvedOptions, timeout: number): Promise<void> {
  const lock = `begin isolation level read committed; ${limits(options, timeout)}
    select pg_advisory_xact_lock(${LOCK}, hashtext(${quotedText(options.schema)}))`;
  await inTransaction(connection, lock, async (_, commit) => {
    await migrate(connection, options);
    await commit();
  });
}

async function migrate(connection: Connection, options: ResolvedOptions): Promise<void> {
  // Looked at again under the lock.
  const version = await inspect(connection, options);
  if (version === MIGRATIONS.length) return;
  const schema = quoted(options.schema);
  if (version === 0) {
    const found = await connection.script(
      `select 1 from pg_catalog.pg_namespace where nspname = ${quotedText(options.schema)}`,
    );
    // "if not exists" would ask for the right to create it also when it is there.
    if (found.length === 0) await connection.script(`create schema ${schema}`);
  }
  const layout = version === 0 ? options : await layoutOf(connection, options.schema);
  const context = { ...layout, schema };
  for (const { sql, after } of MIGRATIONS.slice(version)) {
    await connection.script(sql(context));
    await after?.(connection, context);
  }
  await connection.script(`update ${schema}.ledger set version = ${MIGRATIONS.length}`);
}

async function layoutOf(connection: Connection, schema: string): Promise<Layout> {
  const [table] = await connection.script(
    `select relrowsecurity::int as secured, (select count(*)::int from pg_catalog.pg_inherits where inhparent = pg_class.oid) as parts
     from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = ${quotedText(schema)} and relname = 'entry'`,
  );
  return { partitions: (table?.parts as number | undefined) ?? 0, rowLevelSecurity: table?.secured === 1 };
}

/**
 * The version of the ledger in the schema, 0 if there is none. The catalogue is asked by queries: `to_regclass` and its like may
 * answer from what the session had remembered before it waited for the lock.
 *
 * @throws STORE_FOREIGN, STORE_NEWER_SCHEMA
 */
async function inspect(connection: Connection, { schema, place }: ResolvedOptions): Promise<number> {
  const tables = await connection.script(
    `select relname::text as name from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = ${quotedText(schema)} and relname in ('ledger', 'namespace', 'entry', 'state', 'checkpoint_state')`,
  );
  if (tables.length === 0) return 0;
  if (!tables.some(({ name }) => name === "ledger")) throw foreign(place);
  const rows = await connection
    .script(`select version from ${quoted(schema)}.ledger`)
    .catch((cause: { code?: string }) => {
      throw cause.code === "42703" ? foreign(place, cause) : cause;
    });
  const version = rows[0]?.version;
  if (rows.length !== 1 || typeof version !== "number") throw foreign(place);
  if (version > MIGRATIONS.length) {
    throw new QavrError(
      "STORE_NEWER_SCHEMA",
      `The ledger in ${place} has schema ${version}; this version of @qavr/postgres knows schemas up to ${MIGRATIONS.length}. Upgrade @qavr/postgres.`,
      { details: { place, schema: version, known: MIGRATIONS.length } },
    );
  }
  return version;
}

function foreign(place: string, cause?: unknown): QavrError {
  return new QavrError("STORE_FOREIGN", `The ${place} holds tables of another application. Name another schema.`, {
    details: { place },
    cause,
  });
}

function notThere(place: string): QavrError {
  return new QavrError(
    "STORE_UNAVAILABLE",
    `There is no ledger of this version in ${place}, and migrate is false. Open the store once with a login that may create tables.`,
    { details: { place } },
  );
}
