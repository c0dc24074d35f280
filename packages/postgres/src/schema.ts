import { QavrError } from "@qavr/core";
import type { Connection, Connections } from "./connections.js";
import type { ResolvedOptions } from "./postgres-options.js";
import { quoted, quotedText } from "./quoting.js";
import { inTransaction } from "./transaction.js";

/** "qavr" in ASCII: first key of the advisory lock that migrations are made under. */
const LOCK = 0x71617672;

/** What a migration may depend on. */
interface MigrationContext {
  /** Quoted. */
  readonly schema: string;
  readonly partitions: number;
  readonly rowLevelSecurity: boolean;
}

/**
 * Each step brings a ledger from schema version n to n + 1. A step that was released is never changed.
 *
 * Names are bytea of UTF-8: text cannot hold NUL, and compares by a collation. Every key begins with the namespace, as the first 16
 * bytes of its name's SHA-256 (see {@link nameId}), so that a row's place follows from its namespace alone: by hash partition here,
 * by shard on engines that distribute tables. Values are numbers of vectors: compressing them costs time and gains nothing.
 */
export const MIGRATIONS: readonly ((context: MigrationContext) => string)[] = [
  ({ schema, partitions, rowLevelSecurity }) => {
    const by = (column: string): string => (partitions === 0 ? "" : `partition by hash (${column})`);
    const tables: readonly Table[] = ["namespace", "entry", "state"];
    // A partitioned table stores nothing itself.
    const plain = (table: Table): string => (partitions === 0 ? `with (${STORAGE[table]})` : "");
    const parts = (table: Table): string[] =>
      Array.from({ length: partitions }, (_, i) => {
        const name = `${schema}.${table}_${i}`;
        const create = `create table ${name} partition of ${schema}.${table} for values with (modulus ${partitions}, remainder ${i})`;
        return `${create} with (${STORAGE[table]});`;
      });
    return `
      create table ${schema}.ledger (version integer not null);
      insert into ${schema}.ledger values (0);
      create table ${schema}.namespace (
        id       uuid   not null primary key,
        name     bytea  not null,
        head     bigint not null,
        revision bigint not null
      ) ${by("id")} ${plain("namespace")};
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
      ) ${by("namespace")} ${plain("entry")};
      create table ${schema}.state (
        namespace uuid  not null,
        scope     uuid  not null,
        id        bytea not null,
        value     bytea not null,
        primary key (namespace, scope, id)
      ) ${by("namespace")} ${plain("state")};
      alter table ${schema}.entry alter column payload set storage external;
      alter table ${schema}.state alter column value set storage external;
      ${tables.flatMap(parts).join("\n")}
      ${rowLevelSecurity ? tables.map((table) => policy(schema, table, partitions)).join("\n") : ""}
    `;
  },
];

type Table = "namespace" | "entry" | "state";

/**
 * Heads have room to be counted up in. Entries and states stay in their row up to a page: moved out, each change of a collection's state
 * would leave two dead rows and index entries behind, which nothing but a vacuum takes away.
 */
const STORAGE: Readonly<Record<Table, string>> = {
  namespace: "fillfactor = 50",
  entry: "toast_tuple_target = 8160",
  state: "toast_tuple_target = 8160",
};

/**
 * Rows of the namespace that the transaction names; all names are listed under `*`. Partitions have no policy of their own, so that
 * nothing is seen past their table.
 */
function policy(schema: string, table: Table, partitions: number): string {
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

/** What the store must know of the server. */
export interface ServerFacts {
  /** Commits wait for the disk by default. */
  readonly synchronous: boolean;
  /** The tables were created with row-level security. */
  readonly rowLevelSecurity: boolean;
}

/**
 * Makes sure that the schema holds a ledger of the version that this package knows, under an advisory lock: of several
 * processes one migrates and the others find the work done. In one transaction: it is migrated, or as it was.
 *
 * @throws STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_UNAVAILABLE when it is not there and may not be created, and what `pg` throws
 */
export async function prepareSchema(source: Connections, options: ResolvedOptions): Promise<ServerFacts> {
  return source.use(async (connection) => {
    if ((await inspect(connection, options)) !== MIGRATIONS.length) {
      if (!options.migrate) throw notThere(options.place);
      const lock = `begin isolation level read committed; set local lock_timeout = ${options.lockTimeout};
        select pg_advisory_xact_lock(${LOCK}, hashtext(${quotedText(options.schema)}))`;
      await inTransaction(connection, lock, async (_, commit) => {
        await migrate(connection, options);
        await commit();
      });
    }
    const [facts] = await connection.script(
      `select current_setting('synchronous_commit') as synchronous, relrowsecurity::int as secured
       from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
       where nspname = ${quotedText(options.schema)} and relname = 'namespace'`,
    );
    return { synchronous: facts?.synchronous !== "off", rowLevelSecurity: facts?.secured === 1 };
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
  for (const migration of MIGRATIONS.slice(version)) await connection.script(migration({ ...options, schema }));
  await connection.script(`update ${schema}.ledger set version = ${MIGRATIONS.length}`);
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
     where nspname = ${quotedText(schema)} and relname in ('ledger', 'namespace', 'entry', 'state')`,
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
