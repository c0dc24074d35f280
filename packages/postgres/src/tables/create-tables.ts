/** Tables to be created. */
interface Tables {
  /** Quoted. */
  readonly schema: string;
  readonly partitions: number;
  /** Of the names of tables without partitions. @default "" */
  readonly prefix?: string;
}

/** Columns by table, with type and default. None may be null. */
export const COLUMNS = {
  namespace: {
    id: "uuid",
    name: "bytea",
    head: "bigint",
    revision: "bigint",
    digest: "bytea",
    base: "bigint default 0",
    base_digest: "bytea",
    checkpoint_digest: "bytea default ''",
  },
  entry: {
    namespace: "uuid",
    seq: "bigint",
    key: "bytea",
    type: "bytea",
    at: "double precision",
    payload: "bytea",
    digest: "bytea",
  },
  state: { namespace: "uuid", scope: "uuid", id: "bytea", value: "bytea" },
  checkpoint_state: { namespace: "uuid", address: "uuid", scope: "bytea", id: "bytea", value: "bytea" },
} as const;
export const TABLES = Object.keys(COLUMNS) as readonly (keyof typeof COLUMNS)[];

function columns(table: keyof typeof COLUMNS): string {
  return Object.entries(COLUMNS[table])
    .map(([name, type]) => `${name} ${type} not null`)
    .join(", ");
}

function by(column: string, partitions: number): string {
  return partitions === 0 ? "" : `partition by hash (${column})`;
}

/**
 * Storage parameters of a table. Heads leave room for updates in place. Entries and states of up to a page stay in their row: moved out,
 * each change of a collection's state would leave two dead rows and index entries behind until the next vacuum.
 */
function storage(table: string): string {
  if (table === "namespace") return "with (fillfactor = 50)";
  return table === "entry" || table === "state" ? "with (toast_tuple_target = 8160)" : "";
}

/** Storage parameters of a table without partitions; a partitioned table stores no rows itself. */
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
 * Row-level security of a table: shows the rows of the namespace that the transaction names; `*` shows all names. Partitions have no
 * policy of their own, so their rows are visible through the table only.
 */
function policy(schema: string, table: string, partitions: number): string[] {
  const column = table === "namespace" ? "id" : "namespace";
  const listed = table === "namespace" ? " or current_setting('qavr.namespace', true) = '*'" : "";
  const all = [table, ...Array.from({ length: partitions }, (_, i) => `${table}_${i}`)];
  return [
    ...all.flatMap((name) => [
      `alter table ${schema}.${name} enable row level security;`,
      `alter table ${schema}.${name} force row level security;`,
    ]),
    `create policy one_namespace on ${schema}.${table}
      using (${column}::text = current_setting('qavr.namespace', true)${listed});`,
  ];
}

/**
 * Statements that create the tables of a ledger.
 *
 * Names are bytea of UTF-8: text cannot hold NUL, and compares by a collation. Every key begins with the namespace, as the first 16
 * bytes of its name's SHA-256 (see {@link nameId}), so that a row's place follows from its namespace alone: by hash partition here,
 * by shard on engines that distribute tables. Values are numbers of vectors: compressing them costs time and gains nothing. `base` is
 * the last entry that was compacted away.
 */
export function createTables({ schema, partitions, prefix = "" }: Tables): string {
  const named = (table: string): string => `${schema}.${prefix}${table}`;
  const create = (table: (typeof TABLES)[number], keys: string): string => `
    create table ${named(table)} (${columns(table)}, ${keys})
      ${by(table === "namespace" ? "id" : "namespace", partitions)} ${plain(table, partitions)};`;
  return `
    ${create("namespace", "primary key (id)")}
    create index ${prefix}namespace_name on ${named("namespace")} (name);
    ${create("entry", "primary key (namespace, seq), unique (namespace, key)")}
    ${create("state", "primary key (namespace, scope, id)")}
    ${create("checkpoint_state", "primary key (namespace, address)")}
    alter table ${named("entry")} alter column payload set storage external;
    alter table ${named("state")} alter column value set storage external;
    alter table ${named("checkpoint_state")} alter column value set storage external;
    ${TABLES.map((table) => parts(schema, table, partitions)).join("")}`;
}

/** Statements that give the tables row-level security. */
export function secureTables({ schema, partitions }: Tables): string[] {
  return TABLES.flatMap((table) => policy(schema, table, partitions));
}

/**
 * Statements that show the rows of secured tables to their owner.
 *
 * @param schema quoted
 */
export function showRows(schema: string): string[] {
  return TABLES.map((table) => `alter table ${schema}.${table} no force row level security`);
}
