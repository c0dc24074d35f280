import { assertKnownFields, type Defined, definedOnly, type FieldsOf, illegalOption } from "@qavr/core";
import type { PgPool } from "./connection/pg-pool.js";

/** Where the ledger is and how it is used. Either `pool` or `connectionString`. */
export interface PostgresStoreOptions {
  /** A pool of `pg` that the application owns: it is used and never ended. */
  readonly pool?: PgPool | undefined;
  /** `postgres://` URL. The store opens a pool of its own by its first use, and ends it when it is closed. */
  readonly connectionString?: string | undefined;
  /**
   * Connections of the store's own pool, 1 to 1,000; listening takes one more. Leave it unless requests wait for connections.
   * @default 10
   */
  readonly maxConnections?: number | undefined;
  /**
   * Schema that holds the tables. It is created if it is missing; one that holds something else is refused.
   * @default "qavr"
   */
  readonly schema?: string | undefined;
  /**
   * Whether the first use creates missing tables and brings older ones up to date. `false` for a login without those rights;
   * then somebody else must have opened the store once.
   * @default true
   */
  readonly migrate?: boolean | undefined;
  /**
   * Hash partitions of every table, by namespace, 0 to 256; counts when the tables are created. 0 makes plain tables: for
   * engines that distribute tables by themselves.
   * @default 16
   */
  readonly partitions?: number | undefined;
  /**
   * Puts row-level security on the tables when they are created; tables that are there say for themselves. A statement then sees the rows of one namespace, the one that
   * its transaction names, whatever it asks for. Costs two round trips per read. It binds no superuser.
   * @default false
   */
  readonly rowLevelSecurity?: boolean | undefined;
  /**
   * Transactions of commits at the same time, each for one namespace, 1 to 1,000. Half as many, rounded up, may replace, compact or
   * erase whole namespaces beside them.
   * @default 4
   */
  readonly writers?: number | undefined;
  /** How long a commit waits for another process that writes to the same namespace before STORE_BUSY. ms. @default 5000 */
  readonly lockTimeout?: number | undefined;
  /**
   * How long one statement may take, and the server may stay silent. ms. Replacing and erasing a whole namespace may take
   * longer. @default 10000
   */
  readonly statementTimeout?: number | undefined;
  /** How long to wait for a connection of the store's own pool. ms. @default 5000 */
  readonly connectTimeout?: number | undefined;
  /**
   * How old a ranking's view of what other processes have learned may be. ms. 0 asks the server for every ranking whether
   * there is news: one short round trip. Above 0, a ranking whose states are known asks nothing at all.
   * @default 0
   */
  readonly staleness?: number | undefined;
  /**
   * Tells other stores by NOTIFY which namespaces were written to, and listens to them, over one connection of its own: caches then
   * forget those within milliseconds. Nothing depends on it. Not for transaction poolers, which lose LISTEN, nor for an application's
   * pool of one connection, which nothing else could use any more.
   * @default true when staleness is above 0, unless the application's pool has one connection
   */
  readonly listen?: boolean | undefined;
  /**
   * A pool of a streaming replica that rankings read states from. Needs a staleness. A replica that is further behind is
   * passed over.
   */
  readonly replica?: PgPool | undefined;
  /** Memory for states that were read or written lately, in bytes. 0 keeps none. @default 67108864 (64 MiB) */
  readonly cacheBytes?: number | undefined;
  /** Prepares statements, once per connection. `false` for transaction poolers that cannot keep them. @default true */
  readonly prepare?: boolean | undefined;
}

/** What applies when an option is left out. */
export const POSTGRES_DEFAULTS: Defined<
  Omit<PostgresStoreOptions, "pool" | "connectionString" | "replica" | "listen">
> = {
  maxConnections: 10,
  schema: "qavr",
  migrate: true,
  partitions: 16,
  rowLevelSecurity: false,
  writers: 4,
  lockTimeout: 5_000,
  statementTimeout: 10_000,
  connectTimeout: 5_000,
  staleness: 0,
  cacheBytes: 64 * 1024 * 1024,
  prepare: true,
};

const OPTIONS: FieldsOf<PostgresStoreOptions> = {
  pool: true,
  connectionString: true,
  maxConnections: true,
  schema: true,
  migrate: true,
  partitions: true,
  rowLevelSecurity: true,
  writers: true,
  lockTimeout: true,
  statementTimeout: true,
  connectTimeout: true,
  staleness: true,
  listen: true,
  replica: true,
  cacheBytes: true,
  prepare: true,
};

/** Options with every default filled in. */
export interface ResolvedOptions extends Defined<Omit<PostgresStoreOptions, "pool" | "connectionString" | "replica">> {
  /** The application's pool, or the URL of a server. */
  readonly source: PgPool | string;
  readonly replica: PgPool | undefined;
  /** For messages: where the ledger is, without a password. */
  readonly place: string;
}

/** PostgreSQL cuts longer names off. */
const MAX_SCHEMA_BYTES = 63;

/** @throws INVALID_ARGUMENT for an option that is missing, unknown or outside its range */
export function resolveOptions(given: string | PostgresStoreOptions): ResolvedOptions {
  const named = typeof given === "string" ? { connectionString: given } : (given ?? {});
  // A misspelt schema would put one application's ledger among another's.
  assertKnownFields(named, "postgresStore() has no option", OPTIONS);
  const options = { ...POSTGRES_DEFAULTS, ...definedOnly<PostgresStoreOptions>(named, OPTIONS) };
  const { pool, connectionString, replica, schema, partitions, staleness } = options;
  const source = sourceOf(pool, connectionString);
  if (typeof schema !== "string" || !isName(schema)) {
    refuse("schema", `must be a name of 1 to ${MAX_SCHEMA_BYTES} bytes`, schema);
  }
  whole("maxConnections", options.maxConnections, 1, 1_000);
  whole("writers", options.writers, 1, 1_000);
  whole("partitions", partitions, 0, 256);
  for (const option of ["lockTimeout", "statementTimeout", "connectTimeout"] as const) {
    whole(option, options[option], 1, 2 ** 31 - 1);
  }
  if (!Number.isFinite(staleness) || staleness < 0) refuse("staleness", "must be at least 0 ms", staleness);
  if (!Number.isFinite(options.cacheBytes) || options.cacheBytes < 0) {
    refuse("cacheBytes", "must be at least 0 bytes", options.cacheBytes);
  }
  const onlyConnection = typeof source !== "string" && sizeOf(source) === 1;
  const listen = options.listen ?? (staleness > 0 && !onlyConnection);
  for (const option of ["migrate", "rowLevelSecurity", "prepare"] as const) {
    if (typeof options[option] !== "boolean") refuse(option, "must be true or false", options[option]);
  }
  if (typeof listen !== "boolean") refuse("listen", "must be true or false", listen);
  if (listen && onlyConnection) {
    refuse(
      "listen",
      "would take the pool's only connection for good: give the pool max: 2, or leave listen off",
      listen,
    );
  }
  if (replica !== undefined && !isPool(replica)) refuse("replica", "must be a pool of pg", typeof replica);
  if (replica && staleness === 0) refuse("staleness", "must be above 0 for a replica, which is always behind", 0);
  return { ...options, source, replica, listen, place: placeOf(source, schema) };
}

function sourceOf(pool: PgPool | undefined, connectionString: string | undefined): PgPool | string {
  if ((pool === undefined) === (connectionString === undefined)) {
    refuse("pool", "or connectionString must be given, and not both", pool === undefined ? "neither" : "both");
  }
  if (pool !== undefined) return isPool(pool) ? pool : refuse("pool", "must be a pool of pg", typeof pool);
  if (typeof connectionString !== "string" || !/^postgres(ql)?:\/\//i.test(connectionString)) {
    // Not repeated in the message: whatever it is, it may hold a password.
    refuse("connectionString", "must be a postgres:// URL", typeof connectionString);
  }
  return connectionString;
}

function isPool(value: unknown): value is PgPool {
  return typeof value === "object" && value !== null && typeof (value as PgPool).connect === "function";
}

/** Connections of a pool, if it says how many: `Pool` of `pg` does. */
function sizeOf(pool: PgPool): unknown {
  return (pool as { readonly options?: { readonly max?: unknown } }).options?.max;
}

function isName(schema: string): boolean {
  return schema !== "" && !schema.includes("\0") && new TextEncoder().encode(schema).length <= MAX_SCHEMA_BYTES;
}

function placeOf(source: PgPool | string, schema: string): string {
  if (typeof source !== "string") return `schema ${schema} of the given pool`;
  try {
    const { host, pathname } = new URL(source);
    return `schema ${schema} at ${host}${pathname}`;
  } catch {
    return `schema ${schema}`;
  }
}

function whole(option: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
  refuse(option, `must be a whole number from ${least} to ${most}`, value);
}

function refuse(option: string, rule: string, received: unknown): never {
  throw illegalOption(option, `The option ${option} ${rule}`, received);
}
