import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";

/** The log of a server so far. */
export interface WalCount {
  readonly bytes: number;
  /** Whole pages in it: one for each page that was changed for the first time since the last checkpoint. */
  readonly images: number;
}

/** A table or an index, all partitions together. */
export interface Relation {
  /** Without the partition's number: `state`, `state_pkey`, … */
  readonly name: string;
  readonly bytes: number;
  readonly pages: number;
  /** As of the last `vacuum (analyze)`. */
  readonly rows: number;
  readonly partitions: number;
}

/** Looks at a server from outside, over a connection of its own. */
export interface ServerMeter {
  readonly client: Client;
  /** CPU time of all of the server's processes so far, µs; of those that have ended in steps of 10 ms. Linux only. */
  cpu(): number;
  /** Exact once no other session is open: sessions tell their counts when they end. */
  wal(): Promise<WalCount>;
  relations(schema: string): Promise<readonly Relation[]>;
  /** Waits until nobody else is connected. */
  alone(): Promise<void>;
  close(): Promise<void>;
}

/** Kernel's unit of CPU time: 100 per second on every Linux. */
const TICK = 10_000;

export async function meterServer(url: string): Promise<ServerMeter> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const main = statOf(rows[0].pid as number).parent;
  return {
    client,

    cpu() {
      // Children that have ended are in the main process's own count.
      const living = [main, ...childrenOf(main)].map(timeOf);
      return living.reduce((sum, spent) => sum + spent, TICK * statOf(main).ended);
    },

    async wal() {
      const counted = await client.query(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes, wal_fpi::float8 as images
         from pg_stat_wal`,
      );
      return counted.rows[0] as WalCount;
    },

    async relations(schema) {
      const found = await client.query(
        `with own as (select oid, relname, reltoastrelid from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'i')),
         toast as (
           select pg_class.oid, own.relname || '_toast' as relname from own join pg_class on pg_class.oid = own.reltoastrelid
           union all
           select indexrelid, own.relname || '_toast_pkey' from own join pg_index on indrelid = own.reltoastrelid)
         select regexp_replace(named.relname, '_\\d+', '') as name, count(*)::int as partitions,
           sum(pg_relation_size(oid) + pg_relation_size(oid, 'fsm') + pg_relation_size(oid, 'vm'))::float8 as bytes,
           (sum(pg_relation_size(oid)) / 8192)::float8 as pages, sum(greatest(reltuples, 0))::float8 as rows
         from (select oid, relname from own union all select * from toast) as named join pg_class using (oid)
         group by 1 order by 1`,
        [schema],
      );
      return found.rows as Relation[];
    },

    async alone() {
      const others = `select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
      while ((await client.query(others)).rows.length > 0) await pause(20);
    },

    close: () => client.end(),
  };
}

/** `man 5 proc`: the fields after the program's name, which may hold anything. */
function statOf(pid: number): { readonly parent: number; readonly ended: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [parent = 0, endedUser = 0, endedSystem = 0] = [fields[1], fields[13], fields[14]];
  return { parent, ended: endedUser + endedSystem };
}

/** µs on a processor, 0 for a process that has ended. */
function timeOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}
