import { type Connections, statement } from "../connection/connections.js";
import { quoted, quotedText } from "./sql-text.js";

/** Finds the node of a cluster that has the rows of a namespace; undefined where any node may be asked. */
export type NodeOf = (id: string) => Promise<string | undefined>;

/** Age at which a placement is asked for again, ms. After a move the former node goes on answering, at a greater cost. */
const PLACEMENT_AGE = 60_000;
/** The same for a node that is away, or that the URL does not name. */
const UNREACHED_AGE = 1_000;
/** Most placements kept; those asked for longest ago are dropped first. */
const MAX_PLACEMENTS = 65_536;

/** Asks any node for the placement of a namespace on shards, and again once that node is away. */
export function placements(source: Connections, schema: string): NodeOf {
  const question = statement(`
    select nodename || ':' || nodeport as node from pg_catalog.pg_dist_shard_placement
    where shardid = get_shard_id_for_distribution_column(${quotedText(`${quoted(schema)}.namespace`)}, $1::uuid)`);
  const known = new Map<string, { readonly node: string | undefined; readonly until: number }>();
  const { reaches } = source;
  if (!reaches) return async () => undefined;
  return async (id) => {
    const last = known.get(id);
    if (last && last.until > performance.now() && (last.node === undefined || reaches(last.node))) return last.node;
    known.delete(id);
    const rows = await source.use((connection) => connection.rows(question, [id])).catch(() => undefined);
    if (!rows) return undefined;
    const found = rows[0]?.node as string | undefined;
    const node = found !== undefined && reaches(found) ? found : undefined;
    known.set(id, { node, until: performance.now() + (node === undefined ? UNREACHED_AGE : PLACEMENT_AGE) });
    if (known.size > MAX_PLACEMENTS) known.delete(known.keys().next().value as string);
    return node;
  };
}
