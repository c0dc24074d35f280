import type { Relation, ServerMeter } from "./server-meter.js";

/** Bytes on the disk, tables and indexes. */
export interface DiskBytes {
  /** Of a namespace: its head, the state of its one collection, its counts. */
  readonly namespace: number;
  /** Of one memory's state. */
  readonly memory: number;
  /** Of a run: its two entries and the record of its episode. */
  readonly run: number;
  /** Of all that belongs to the entries of a run, and to its episode's record. */
  readonly entries: number;
  readonly episode: number;
}

/** How rows lie in pages. */
export interface Packing {
  /** Of table `state`, and of heads. */
  readonly statesPerPage: number;
  readonly headsPerPage: number;
  /** Rows per leaf of the index. */
  readonly stateLeaf: number;
  readonly entryLeaf: number;
  readonly keyLeaf: number;
  /** Mean bytes of an entry above the leaves of the states' index. */
  readonly innerEntry: number;
}

/** What is in the tables. */
export interface Contents {
  readonly namespaces: number;
  readonly memories: number;
  readonly runs: number;
  /** Mean bytes of the values. */
  readonly memoryValue: number;
  readonly episodeValue: number;
  /** Of the collection and the counts together. */
  readonly namespaceValue: number;
  readonly bytes: DiskBytes;
  readonly packing: Packing;
  /** Tables and indexes. */
  readonly total: number;
}

const PAGE = 8_192;

/** Pages of an index that are no leaves, where it has two levels: the first page and the root. */
const ABOVE_LEAVES = 2;
/** Bytes of an empty index. */
const EMPTY = PAGE;
/** Where heads fill fewer pages than this in each partition, half-empty ones would count too much: they are reckoned by their length. */
const FEW_PAGES = 8;
/** An index entry of 16 bytes with its header and pointer, in leaves that are 69 % full: what splitting in the middle leads to. */
const SHORT_INDEX_ROW = (8 + 16 + 4) / 0.69;

/**
 * Counts what a schema holds and what each part of it takes. A table's pages are shared out among its kinds of rows by their length, an
 * index's evenly. Reads all states; the tables must have been analyzed.
 */
export async function contentsOf(meter: ServerMeter, schema: string): Promise<Contents> {
  const { client } = meter;
  await client.query("create extension if not exists pageinspect");
  await client.query(`create or replace function pg_temp.name_id(name text) returns uuid language sql immutable
    as $$ select encode(substr(sha256(convert_to(name, 'UTF8')), 1, 16), 'hex')::uuid $$`);
  const { rows } = await client.query(`
    select case scope when pg_temp.name_id('memory:default') then 'memory' when pg_temp.name_id('episode') then 'episode'
      else 'namespace' end as kind, count(*)::float8 as rows, avg(octet_length(value))::float8 as value,
      sum(pg_column_size(state.*) + 4)::float8 as length
    from ${schema}.state group by 1`);
  type Kind = { readonly rows: number; readonly value: number; readonly length: number };
  const kind = (name: string): Kind => rows.find((row) => row.kind === name) as Kind;
  const [memory, episode, other] = [kind("memory"), kind("episode"), kind("namespace")];
  const relations = await meter.relations(schema);
  const relation = (name: string): Relation => relations.find((one) => one.name === name) as Relation;
  const leaves = ({ pages, partitions }: Relation): number => Math.max(partitions, pages - ABOVE_LEAVES * partitions);
  const [heads, states, entries] = [relation("namespace"), relation("state"), relation("entry")];
  const length = memory.length + episode.length + other.length;
  const count = memory.rows + episode.rows + other.rows;
  const index = (leaves(relation("state_pkey")) * PAGE) / count;
  const stateBytes = ({ rows: number, length: own }: Kind): number => (states.bytes * own) / length / number + index;
  const namespaces = heads.rows;
  const runs = episode.rows;
  const entryIndexes = leaves(relation("entry_pkey")) + leaves(relation("entry_namespace_key_key"));
  const entryBytes = (entries.bytes + entryIndexes * PAGE) / runs;
  const overflow = relations.filter(({ name }) => name.startsWith("state_toast"));
  const overflowBytes = overflow.reduce((sum, { bytes, partitions }) => sum + bytes - EMPTY * partitions, 0);
  const fullest = async (table: string): Promise<number> => {
    const found = await client.query(
      `select max(rows)::int as most from (select count(*) as rows from ${schema}.${table}
         where (ctid::text::point)[0] < 4 group by tableoid, (ctid::text::point)[0]) as pages`,
    );
    return found.rows[0].most as number;
  };
  const headsPerPage = await fullest("namespace");
  const headIndexes = [relation("namespace_pkey"), relation("namespace_name_idx")];
  const headBytes =
    heads.pages > FEW_PAGES * heads.partitions
      ? [heads, ...headIndexes].reduce((sum, { bytes }) => sum + bytes, 0) / namespaces
      : PAGE / headsPerPage + headIndexes.length * SHORT_INDEX_ROW;
  const inner = await client.query(
    `select avg(avg_item_size)::float8 as bytes from pg_class,
       lateral bt_metap($1 || '.' || relname) as top, lateral bt_page_stats($1 || '.' || relname, top.root::int) as root
     where relnamespace = $1::regnamespace and relname ~ '^state_(\\d+_)?pkey$' and relkind = 'i' and top.level > 0`,
    [schema],
  );
  return {
    namespaces,
    memories: memory.rows,
    runs,
    memoryValue: memory.value,
    episodeValue: episode.value,
    namespaceValue: (other.value * other.rows) / namespaces,
    bytes: {
      namespace: headBytes + (stateBytes(other) * other.rows + overflowBytes) / namespaces,
      memory: stateBytes(memory),
      run: entryBytes + stateBytes(episode),
      entries: entryBytes,
      episode: stateBytes(episode),
    },
    packing: {
      statesPerPage: count / states.pages,
      headsPerPage,
      stateLeaf: count / leaves(relation("state_pkey")),
      entryLeaf: (2 * runs) / leaves(relation("entry_pkey")),
      keyLeaf: (2 * runs) / leaves(relation("entry_namespace_key_key")),
      // Without a level above the leaves any size will do.
      innerEntry: inner.rows[0].bytes ?? SHORT_INDEX_ROW,
    },
    total: relations.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Mean bytes of the rows of entries that were compacted away. */
export async function droppedEntryBytes({ client }: ServerMeter, schema: string): Promise<number> {
  const { rows } = await client.query(
    `select avg(pg_column_size(entry.*) + 4)::float8 as bytes from ${schema}.entry as entry where type = ''`,
  );
  return rows[0].bytes as number;
}
