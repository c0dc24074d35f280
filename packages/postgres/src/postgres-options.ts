import {
  type Defined,
  type FieldRule,
  illegalOption,
  NOT_NEGATIVE,
  resolveOptions,
  SWITCH,
  whole,
} from "@qavr/core/store";
import { type PgPool, serversOf } from "./connection/pg-pool.js";

/** Place of the ledger and use of its server. Either `pool` or `connectionString`. */
export interface PostgresStoreOptions {
  /** A pool of `pg` that the application owns; the store never ends it. */
  readonly pool?: PgPool | undefined;
  /**
   * `postgres://` URL. The store opens a pool of its own at its first use, and ends it when it is closed. A URL may name several nodes of
   * a Citus cluster, as `postgres://coordinator:5432,worker:5432/qavr`: calls go to the worker that has the rows of their namespace, else
   * to all nodes in turn, without those that are away. Tables are created at the first one, and notifications go through it.
   */
  readonly connectionString?: string | undefined;
  /**
   * Connections of the store's own pool, to each node, 1 to 1,000; listening takes one more. Leave it unless requests wait for connections.
   * @default 10
   */
  readonly maxConnections?: number | undefined;
  /**
   * Schema of the tables. A missing schema is created; one with other tables is refused.
   * @default what the URL names, as in `postgres://host/app?qavr_schema=agent_memory`, else "qavr"
   */
  readonly schema?: string | undefined;
  /**
   * Lets the first use create missing tables and migrate older ones. `false` for a login without those rights; then a login with these
   * rights must have opened the store once.
   * @default true
   */
  readonly migrate?: boolean | undefined;
  /**
   * Hash partitions of every table, by namespace, 0 to 256; used when the tables are created. 0 makes plain tables.
   * @default 16
   */
  readonly partitions?: number | undefined;
  /**
   * Shards of every table, by namespace, 0 to 1,024; used when the tables are created, on the coordinator of a Citus cluster. Rows of one
   * namespace are on one node. Tables with shards have no partitions. Leave it at 0 while one server holds the data and the connections.
   * @default 0
   */
  readonly shards?: number | undefined;
  /**
   * Creates the tables with row-level security; existing tables are not changed. A statement then sees only the rows of the namespace
   * that its transaction names. Costs two round trips per read. Superusers are not restricted.
   * @default false
   */
  readonly rowLevelSecurity?: boolean | undefined;
  /**
   * Concurrent transactions of commits, each for one namespace, 1 to 1,000. Half as many, rounded up, may replace, compact or erase
   * whole namespaces beside them.
   * @default 4
   */
  readonly writers?: number | undefined;
  /** Longest wait of a commit for another writer of its namespace before STORE_BUSY, ms. @default 5000 */
  readonly lockTimeout?: number | undefined;
  /**
   * Longest duration of a statement, and of the server's silence, ms. Replacing and erasing a whole namespace may take longer.
   * @default 10000
   */
  readonly statementTimeout?: number | undefined;
  /** Longest wait for a connection of the store's own pool, ms. @default 5000 */
  readonly connectTimeout?: number | undefined;
  /**
   * Greatest age of states that rankings use, ms. At 0 every ranking asks the server for changes, in one short round trip. Above 0, a
   * ranking on cached states needs no round trip.
   * @default 0
   */
  readonly staleness?: number | undefined;
  /**
   * Announces written namespaces to other stores by NOTIFY and listens to theirs, over one connection of its own, so that caches drop
   * them within milliseconds. Correctness does not depend on it. Not for transaction poolers, which lose LISTEN, nor for a pool of one
   * connection.
   * @default true when staleness is above 0, unless the application's pool has one connection
   */
  readonly listen?: boolean | undefined;
  /**
   * A pool of a streaming replica that rankings read states from. Needs a staleness. A replica further behind is not used.
   */
  readonly replica?: PgPool | undefined;
  /** Memory for recently used states, in bytes. 0 keeps none. @default 67108864 (64 MiB) */
  readonly cacheBytes?: number | undefined;
  /** Prepares statements, once per connection. `false` for transaction poolers that cannot keep them. @default true */
  readonly prepare?: boolean | undefined;
}

/** Default options. */
export const POSTGRES_DEFAULTS: Defined<
  Omit<PostgresStoreOptions, "pool" | "connectionString" | "replica" | "listen">
> = {
  maxConnections: 10,
  schema: "qavr",
  migrate: true,
  partitions: 16,
  shards: 0,
  rowLevelSecurity: false,
  writers: 4,
  lockTimeout: 5_000,
  statementTimeout: 10_000,
  connectTimeout: 5_000,
  staleness: 0,
  cacheBytes: 64 * 1024 * 1024,
  prepare: true,
};

/** PostgreSQL cuts longer names. */
const MAX_SCHEMA_BYTES = 63;
const SCHEMA_RULE = `a name of 1 to ${MAX_SCHEMA_BYTES} bytes`;
const MILLISECONDS: FieldRule = whole(1, 2 ** 31 - 1);
const POOL: FieldRule = [(value) => value === undefined || isPool(value), "a pool of pg"];

const RULES: Readonly<Record<keyof PostgresStoreOptions, FieldRule>> = {
  pool: POOL,
  // Checked by sourceOf(): a refused value must not be printed, since it may hold a password.
  connectionString: [() => true, ""],
  maxConnections: whole(1, 1_000),
  schema: [isName, SCHEMA_RULE],
  migrate: SWITCH,
  partitions: whole(0, 256),
  shards: whole(0, 1_024),
  rowLevelSecurity: SWITCH,
  writers: whole(1, 1_000),
  lockTimeout: MILLISECONDS,
  statementTimeout: MILLISECONDS,
  connectTimeout: MILLISECONDS,
  staleness: NOT_NEGATIVE,
  listen: [(value) => value === undefined || typeof value === "boolean", "true or false"],
  replica: POOL,
  cacheBytes: NOT_NEGATIVE,
  prepare: SWITCH,
};

/** Options with every default filled in. */
export interface ResolvedOptions extends Defined<Omit<PostgresStoreOptions, "pool" | "connectionString" | "replica">> {
  /** The application's pool, or the URL of a server. */
  readonly source: PgPool | string;
  readonly replica: PgPool | undefined;
  /** For messages: the place of the ledger, without a password. */
  readonly place: string;
}

/** @throws INVALID_ARGUMENT for an option that is missing, unknown or outside its range */
export function resolvePostgresOptions(given: string | PostgresStoreOptions): ResolvedOptions {
  const named = typeof given === "string" ? { connectionString: given } : given;
  const options = resolveOptions("postgresStore()", named, POSTGRES_DEFAULTS, RULES);
  const { pool, connectionString, replica, staleness } = options;
  const source = sourceOf(pool, connectionString);
  const schema = named.schema ?? schemaIn(source) ?? options.schema;
  const onlyConnection = typeof source !== "string" && sizeOf(source) === 1;
  const listen = options.listen ?? (staleness > 0 && !onlyConnection);
  if (listen && onlyConnection) {
    refuse("listen", "would keep the pool's only connection: give the pool max: 2, or leave listen off", listen);
  }
  if (replica && staleness === 0) refuse("staleness", "must be above 0 for a replica, which is always behind", 0);
  return { ...options, source, schema, replica, listen, place: placeOf(source, schema) };
}

/** Schema named by the URL. The command line has only the URL, and finds the ledger by it. */
function schemaIn(source: PgPool | string): string | undefined {
  if (typeof source !== "string") return undefined;
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(source)?.[1]);
  // `pg` ignores what it does not know: a misspelt one would mean the default schema.
  const unknown = [...parameters.keys()].find((name) => name.startsWith("qavr_") && name !== "qavr_schema");
  if (unknown !== undefined)
    refuse(unknown, "of the URL is unknown: only qavr_schema is known", parameters.get(unknown));
  const schema = parameters.get("qavr_schema") ?? undefined;
  if (schema !== undefined && !isName(schema)) refuse("qavr_schema", `of the URL must be ${SCHEMA_RULE}`, schema);
  return schema;
}

function sourceOf(pool: PgPool | undefined, connectionString: string | undefined): PgPool | string {
  if ((pool === undefined) === (connectionString === undefined)) {
    refuse("pool", "or connectionString must be given, and not both", pool === undefined ? "neither" : "both");
  }
  if (pool !== undefined) return pool;
  if (typeof connectionString !== "string" || !/^postgres(ql)?:\/\//i.test(connectionString)) {
    refuse("connectionString", "must be a postgres:// URL", typeof connectionString);
  }
  // Without a host, as for a socket in `?host=`, `pg` reads what `URL` does not.
  if (serversOf(connectionString).some(({ url }) => !URL.canParse(url.replace(/@(?=[/?#]|$)/, "@host")))) {
    const rule = "cannot be read. Write / ? # and % of its password as %2F %3F %23 and %25, and the port as a number";
    refuse("connectionString", rule, typeof connectionString);
  }
  return connectionString;
}

function isPool(value: unknown): value is PgPool {
  return typeof value === "object" && value !== null && typeof (value as PgPool).connect === "function";
}

/** Size of a pool, where it is known, as of `Pool` of `pg`. */
function sizeOf(pool: PgPool): unknown {
  return (pool as { readonly options?: { readonly max?: unknown } }).options?.max;
}

function isName(schema: unknown): boolean {
  if (typeof schema !== "string") return false;
  return schema !== "" && !schema.includes("\0") && new TextEncoder().encode(schema).length <= MAX_SCHEMA_BYTES;
}

function placeOf(source: PgPool | string, schema: string): string {
  if (typeof source !== "string") return `schema ${schema} of the given pool`;
  try {
    const urls = serversOf(source).map(({ url }) => new URL(url));
    return `schema ${schema} at ${urls.map(({ host }) => host).join(",")}${urls[0]?.pathname}`;
  } catch {
    return `schema ${schema}`;
  }
}

function refuse(option: string, rule: string, received: unknown): never {
  throw illegalOption(option, `postgresStore(): ${option} ${rule}`, received);
}
