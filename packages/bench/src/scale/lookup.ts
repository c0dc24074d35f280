import { nameToBytes } from "@qavr/core";
import { seededRandom } from "../random/seeded-random.js";
import { memoryId } from "../stores/outcome-workload.js";
import type { ServerMeter } from "./server-meter.js";
import type { ServerPool } from "./tenant-engine.js";
import { type TenantShape, tenantName } from "./tenants.js";

/** What finding a tenant's states takes. */
export interface Lookup {
  /** Pages that the look-up of one state reads, from the index's root to the row. */
  readonly pages: number;
  /** µs of reading all states of a tenant that the process has not read before, one caller. */
  readonly read: number;
}

/** Tenants that are looked up, at most. */
const READS = 200;

/**
 * Of tenants drawn evenly. After `fillTenants` on the same connection.
 *
 * @param evict whether the server forgets all pages before each; it finds them with its operating system then
 */
export async function measureLookup(
  { client }: ServerMeter,
  server: ServerPool,
  schema: string,
  tenants: number,
  shape: TenantShape,
  evict = false,
): Promise<Lookup> {
  const random = seededRandom(tenants);
  const store = server.store();
  const ids = Array.from({ length: shape.memories }, (_, place) => memoryId(place));
  const id = Buffer.from(nameToBytes(ids[0] as string));
  const probes = Math.min(READS, tenants);
  let [pages, read] = [0, 0];
  for (let probe = 0; probe < probes; probe++) {
    const namespace = tenantName(Math.floor(random() * tenants));
    const { rows } = await client.query(
      `explain (analyze, buffers, format json) select value from ${schema}.state
       where namespace = pg_temp.name_id($1) and scope = pg_temp.name_id('memory:default') and id = $2`,
      [namespace, id],
    );
    const { Plan: plan } = rows[0]["QUERY PLAN"][0];
    pages += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    if (evict) await client.query("select pg_buffercache_evict_all()");
    const begun = performance.now();
    await store.readStates(namespace, "memory:default", ids);
    read += performance.now() - begun;
  }
  return { pages: pages / probes, read: (read * 1_000) / probes };
}

/** What a page of an index holds, and how full splitting in the middle leaves it. */
const PAGE = 8_192;
const FULL = 0.69;
/** Of an entry, beside itself: where it is in the page. */
const POINTER = 4;

/**
 * Pages from the root of an index to a row of its table: one per level, and the row's own.
 *
 * @param rows in one partition
 * @param rowsPerLeaf of the index
 * @param innerEntry mean bytes of an entry above the leaves
 */
export function lookupPages(rows: number, rowsPerLeaf: number, innerEntry: number): number {
  const fanOut = (PAGE * FULL) / (innerEntry + POINTER);
  const leaves = Math.max(1, rows / rowsPerLeaf);
  return 2 + Math.ceil(Math.log(leaves) / Math.log(fanOut) - 1e-9);
}
