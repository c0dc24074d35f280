import { nameToBytes } from "@qavr/core";
import { seededRandom } from "../random/seeded-random.js";
import { mean, median } from "../statistics/interval.js";
import { memoryId } from "../stores/outcome-workload.js";
import type { ServerMeter } from "./server-meter.js";
import type { ServerPool } from "./tenant-engine.js";
import { type TenantShape, tenantName } from "./tenants.js";

/** What finding a tenant's states takes. */
export interface Lookup {
  /** Pages that the look-up of one state reads, from the index's root to the row. */
  readonly pages: number;
  /** Middle time of reading all states of a tenant that the process has not read before, one caller, µs. */
  readonly read: number;
}

/** Tenants that are looked up, at most. */
const READS = 200;

/** A server whose look-ups are measured, after `fillTenants` on the meter's connection. */
export interface LookedUp {
  readonly meter: ServerMeter;
  readonly server: ServerPool;
  readonly schema: string;
  readonly tenants: number;
  /** Whether the server forgets all pages before each; it finds them with its operating system then. */
  readonly evict: boolean;
}

/** Of tenants drawn evenly, all servers in turn, so that a busy machine hits them alike. */
export async function measureLookups(
  subjects: readonly LookedUp[],
  { memories }: Pick<TenantShape, "memories">,
): Promise<readonly Lookup[]> {
  const random = seededRandom(SEED);
  const ids = Array.from({ length: memories }, (_, place) => memoryId(place));
  const probed = subjects.map(({ server }) => ({
    store: server.store(),
    pages: [] as number[],
    reads: [] as number[],
  }));
  const probes = Math.min(READS, ...subjects.map(({ tenants }) => tenants));
  for (let probe = 0; probe < probes; probe++) {
    for (const [place, { meter, schema, tenants, evict }] of subjects.entries()) {
      const namespace = tenantName(Math.floor(random() * tenants));
      const { store, pages, reads } = probed[place] as (typeof probed)[number];
      pages.push(await pagesOf(meter, schema, namespace, ids[0] as string));
      if (evict) await meter.client.query("select pg_buffercache_evict_all()");
      const begun = performance.now();
      await store.readStates(namespace, "memory:default", ids);
      reads.push(1_000 * (performance.now() - begun));
    }
  }
  return probed.map(({ pages, reads }) => ({ pages: mean(pages), read: median(reads) }));
}

const SEED = 89;

/** Pages that the server reads to find one state. */
async function pagesOf({ client }: ServerMeter, schema: string, namespace: string, id: string): Promise<number> {
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) select value from ${schema}.state
     where namespace = pg_temp.name_id($1) and scope = pg_temp.name_id('memory:default') and id = $2`,
    [namespace, Buffer.from(nameToBytes(id))],
  );
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
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
