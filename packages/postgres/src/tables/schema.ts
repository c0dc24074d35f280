import { setTimeout as pause } from "node:timers/promises";
import { QavrError } from "@qavr/core";
import { illegalOption } from "@qavr/core/store";
import type { Connection, Connections, Limits } from "../connection/connections.js";
import { isLockTimeout, isTransient } from "../connection/postgres-errors.js";
import { inTransaction, LONG_STATEMENT, limits } from "../connection/transaction.js";
import type { ResolvedOptions } from "../postgres-options.js";
import { BESIDE, copyAll, copyChanges, copyRights, replaceTables } from "./copy-tables.js";
import { COLUMNS, createTables, secureTables, showRows, TABLES } from "./create-tables.js";
import { distributeTables, distributeWork, gatherWork, IN_SEQUENCE, isSharded, lockTables } from "./shards.js";
import { quoted, quotedText } from "./sql-text.js";

/** "qavr" in ASCII: first key of the advisory lock for migrations. */
const LOCK = 0x71617672;
/** Timeout of creating the tables, some hundreds of them with many partitions. ms */
const CREATION_TIMEOUT = 60_000;
/** Pauses before a change of the schema that the server gave up, to break a deadlock, is tried again, in ms. */
const PAUSES = [100, 200, 400, 800];

/** Facts about the server that the store needs. */
export interface ServerFacts {
  /** The tables were created with row-level security. */
  readonly rowLevelSecurity: boolean;
  /** The tables are distributed over the nodes of a cluster. */
  readonly sharded: boolean;
}

/** Layout of the tables: as configured when they are created, as found afterwards. */
interface Layout extends Pick<ServerFacts, "rowLevelSecurity"> {
  readonly partitions: number;
}

/** Values that a migration may depend on. */
interface MigrationContext extends Layout {
  /** Of tables that are created now. */
  readonly shards: number;
  /** Quoted. */
  readonly schema: string;
}

/** SQL that brings a ledger from schema version n to n + 1. A released step never changes. */
export type Migration = (context: MigrationContext) => string;

export const MIGRATIONS: readonly Migration[] = [
  (context) => `
    create table ${context.schema}.ledger (version integer not null);
    insert into ${context.schema}.ledger values (0);
    ${createTables(context)}
    ${context.rowLevelSecurity ? secureTables(context).join("\n") : ""}
    ${context.shards > 0 ? `${distributeTables(context.schema, context.shards)} ${distributeWork(context.schema)}` : ""}
  `,
];

/** The first column that is missing or of another type than it was created with, as `table.column`. Further columns do no harm. */
function changedColumn(found: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  const types = new Map(found.map(({ name, column, type }) => [`${name}.${column}`, type]));
  return Object.entries(COLUMNS)
    .flatMap(([table, named]) => Object.entries(named).map(([name, type]) => [`${table}.${name}`, type] as const))
    .find(([column, type]) => types.get(column) !== type.split(" default ")[0])?.[0];
}

/**
 * Makes sure that the schema holds a ledger of the newest version. One transaction under an advisory lock: only one of several
 * processes migrates, and a failed migration leaves the ledger unchanged.
 *
 * @param steps tests pass their own
 * @throws STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_UNAVAILABLE when there is none and `migrate` is false, and errors of `pg`
 */
export async function prepareSchema(
  source: Connections,
  options: ResolvedOptions,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<ServerFacts> {
  // Every call of the store waits for this, so the look at the schema has the usual, short timeout.
  const version = await source.use((connection) => inspect(connection, options, steps.length));
  if (version !== steps.length) {
    if (!options.migrate) throw notThere(options.place);
    // Migrating a large ledger takes long. Other processes wait for it no longer than for any other lock.
    const timeout = version === 0 ? CREATION_TIMEOUT : LONG_STATEMENT;
    await changeSchema(source, timeout, (connection) => migrate(connection, options, steps, timeout));
  }
  return source.use((connection) => layoutOf(connection, options.schema));
}

/**
 * Runs `work` at the server that creates tables, again where the server gave it up.
 *
 * @param timeout of each of its statements, ms
 */
async function changeSchema(
  source: Connections,
  timeout: number,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await source.use(work, { timeout, lasting: true, first: true });
    } catch (error) {
      const wait = PAUSES[attempt];
      if (wait === undefined || !isTransient(error)) throw error;
      await pause(wait * (0.5 + Math.random()));
    }
  }
}

/** @param timeout of each of its statements, ms */
async function migrate(
  connection: Connection,
  options: ResolvedOptions,
  steps: readonly Migration[],
  timeout: number,
): Promise<void> {
  await inTransaction(connection, beginning(options, timeout), async (_, commit) => {
    // Another process may have migrated before this one got the lock.
    const version = await inspect(connection, options, steps.length);
    if (version === steps.length) return;
    const schema = quoted(options.schema);
    if (version === 0) {
      if (options.shards > 0) await assertCoordinator(connection, options.place);
      const found = await connection.script(
        `select 1 from pg_catalog.pg_namespace where nspname = ${quotedText(options.schema)}`,
      );
      // "if not exists" would need the right to create a schema even where it exists.
      if (found.length === 0) await connection.script(`create schema ${schema}`);
    }
    const { shards } = options;
    const layout = version === 0 ? options : await layoutOf(connection, options.schema);
    // A cluster splits tables by itself.
    const partitions = version === 0 && shards > 0 ? 0 : layout.partitions;
    for (const step of steps.slice(version)) await connection.script(step({ ...layout, schema, partitions, shards }));
    await connection.script(`update ${schema}.ledger set version = ${steps.length}`);
    await commit();
  });
}

/** Longest time that writers wait for the tables behind a change of their layout that has to wait itself, ms. */
const LOCK_WAIT = 1_000;
/** Tries to get the tables, each after a second. */
const LOCK_TRIES = 60;
/** Namespaces that are copied while writers wait, at most, unless there are always more. */
const LAST = 20;
const ROUNDS = 5;

/**
 * Distributes the tables of a ledger over the nodes of a cluster or, with 0 shards, brings them back to its coordinator. Copies the rows
 * into tables beside while the former are written to, then makes reads and writes wait, copies the new rows, and puts those tables in
 * the place of the former ones. A store that is open goes on with the tables as they are then.
 *
 * @throws INVALID_ARGUMENT where that is so already, and as {@link prepareSchema}
 */
export async function redistribute(source: Connections, options: ResolvedOptions): Promise<void> {
  const { place, shards } = options;
  const schema = quoted(options.schema);
  const begin = beginning({ ...options, shards: 1 }, LONG_STATEMENT);
  const beside = TABLES.map((table) => `${schema}.${BESIDE}${table}`).join(", ");
  const work = async (connection: Connection): Promise<void> => {
    const step = <Result>(one: () => Promise<Result>): Promise<Result> =>
      inTransaction(connection, begin, async (_, commit) => {
        const result = await one();
        await commit();
        return result;
      });
    const { sharded, rowLevelSecurity } = await step(async () => {
      await assertCoordinator(connection, place);
      if ((await inspect(connection, options, MIGRATIONS.length)) !== MIGRATIONS.length) throw notThere(place);
      const layout = await layoutOf(connection, options.schema);
      if (layout.sharded === shards > 0) {
        const reason = `The ledger in ${place} ${layout.sharded ? "has shards" : "has no shards"} already.`;
        throw illegalOption("shards", reason, shards);
      }
      await connection.script(`drop table if exists ${beside}`);
      await connection.script(createTables({ schema, partitions: 0, prefix: BESIDE }));
      if (shards > 0) await connection.script(distributeTables(schema, shards, BESIDE));
      await copyRights(connection, options.schema);
      return layout;
    });
    try {
      // Row-level security hides the rows until the tables are locked.
      let copied = rowLevelSecurity ? undefined : await step(() => copyAll(connection, schema));
      await patiently(async () => {
        for (let round = 0, changed = Number.POSITIVE_INFINITY; copied && changed > LAST && round < ROUNDS; round++) {
          const before = copied;
          ({ copied, changed } = await step(() => copyChanges(connection, schema, before)));
        }
        await step(async () => {
          await connection.script(`set local lock_timeout = ${LOCK_WAIT}`);
          for (const statement of lockTables(schema, sharded)) await connection.script(statement);
          if (copied) await copyChanges(connection, schema, copied);
          else {
            for (const statement of showRows(schema)) await connection.script(statement);
            await copyAll(connection, schema);
          }
          if (sharded) await connection.script(gatherWork(schema));
          await replaceTables(connection, schema);
          if (shards > 0) await connection.script(distributeWork(schema));
          if (rowLevelSecurity) {
            for (const statement of secureTables({ schema, partitions: 0 })) await connection.script(statement);
          }
        });
      });
    } catch (error) {
      await connection.script(`drop table if exists ${beside}`).catch(() => {});
      throw error;
    }
  };
  await changeSchema(source, LONG_STATEMENT, work);
}

/** Repeats work that waits for a lock in vain: writers queue up behind it, and go on in between. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === LOCK_TRIES || !(isLockTimeout(error) || isTransient(error))) throw error;
      await pause(LOCK_WAIT);
    }
  }
}

/** @throws UNSUPPORTED for a server that cannot distribute tables */
async function assertCoordinator(connection: Connection, place: string): Promise<void> {
  const refuse = (reason: string): never => {
    throw new QavrError("UNSUPPORTED", `The ledger in ${place} cannot have shards: ${reason}`, { details: { place } });
  };
  const found = await connection.script("select 1 from pg_catalog.pg_extension where extname = 'citus'");
  if (found.length === 0) refuse("the database has no extension citus. Create it, or leave shards out.");
  const [node] = await connection.script("select groupid from pg_catalog.pg_dist_local_group");
  if (node?.groupid !== 0)
    refuse("this server is a worker. Open the store once at the coordinator, which creates the tables.");
}

/** Statements that begin the change of a schema: one process at a time. */
function beginning(options: ResolvedOptions, timeout: number): string {
  // Distributing tables locks the cluster's list of them, so two schemas would wait for each other.
  const cluster = options.shards > 0 ? `${IN_SEQUENCE} select pg_advisory_xact_lock(${LOCK}, 0);` : "";
  return `begin isolation level read committed; ${limits(options, timeout)} ${cluster}
    select pg_advisory_xact_lock(${LOCK}, hashtext(${quotedText(options.schema)}))`;
}

async function layoutOf(connection: Connection, schema: string): Promise<Layout & ServerFacts> {
  const [table] = await connection.script(
    `select relrowsecurity::int as secured, (${isSharded(quoted(schema))})::int as sharded, (select count(*)::int from pg_catalog.pg_inherits where inhparent = pg_class.oid) as parts
     from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     where nspname = ${quotedText(schema)} and relname = 'entry'`,
  );
  return {
    partitions: (table?.parts as number | undefined) ?? 0,
    rowLevelSecurity: table?.secured === 1,
    sharded: table?.sharded === 1,
  };
}

/**
 * Returns the version of the ledger in the schema, 0 if there is none. Queries the catalogue: `to_regclass` and its like may answer
 * from a session's cache that is older than the lock.
 *
 * @param known the newest version
 * @throws STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_CORRUPT where a table or column is not as it was created
 */
async function inspect(connection: Connection, { schema, place }: ResolvedOptions, known: number): Promise<number> {
  const tables = await connection.script(
    `select relname::text as name, attname::text as column, pg_catalog.format_type(atttypid, atttypmod) as type
     from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
     left join pg_catalog.pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
     where nspname = ${quotedText(schema)} and relname in ('ledger', ${TABLES.map((table) => `'${table}'`).join(", ")})`,
  );
  if (tables.length === 0) return 0;
  const changed = changedColumn(tables);
  if (!tables.some(({ name }) => name === "ledger")) {
    // All the other tables are the ledger's own.
    throw changed === undefined ? changedBy(place, "ledger.version") : foreign(place);
  }
  const rows = await connection
    .script(`select version from ${quoted(schema)}.ledger`)
    .catch((cause: { code?: string }) => {
      throw cause.code === "42703" ? foreign(place, cause) : cause;
    });
  const version = rows[0]?.version;
  if (rows.length !== 1 || typeof version !== "number") throw foreign(place);
  if (version > known) {
    throw new QavrError(
      "STORE_NEWER_SCHEMA",
      `The ledger in ${place} has schema ${version}; this version of @qavr/postgres knows schemas up to ${known}. Upgrade @qavr/postgres.`,
      { details: { place, schema: version, known } },
    );
  }
  if (version === known && changed !== undefined) throw changedBy(place, changed);
  return version;
}

/**
 * Rebuilds the indexes of a schema, one table per transaction; writers of that table wait. Does nothing unless the login owns the
 * tables.
 */
export async function rebuildIndexes(
  source: Connections,
  { schema, ...limited }: Limits & { readonly schema: string },
): Promise<void> {
  // Partitioned tables store no rows themselves, and cannot be reindexed inside a transaction.
  const tables = await source.use((connection) =>
    connection.script(
      `select relname::text as name from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
       where nspname = ${quotedText(schema)} and relkind = 'r' and pg_has_role(relowner, 'usage') order by relname`,
    ),
  );
  for (const { name } of tables) {
    const table = `${quoted(schema)}.${quoted(name as string)}`;
    await source.use(
      (connection) =>
        inTransaction(connection, `begin; ${limits(limited, LONG_STATEMENT)}`, async (_, commit) => {
          await connection.script(`reindex table ${table}`);
          await commit();
        }),
      { timeout: LONG_STATEMENT, lasting: true },
    );
  }
}

function changedBy(place: string, changed: string): QavrError {
  return new QavrError(
    "STORE_CORRUPT",
    `The ledger in ${place} was changed by something other than @qavr/postgres: column ${changed} is not as it was created. Undo that, or restore a backup.`,
    { details: { place, changed } },
  );
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
    `There is no ledger of this version in ${place}. Run your application once with a login that may create tables, and without migrate: false.`,
    { details: { place } },
  );
}
