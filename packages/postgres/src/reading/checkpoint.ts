import {
  bytesToName,
  type Checkpoint,
  type CheckpointColumns,
  QavrError,
  type StateWrite,
  sameBytes,
} from "@qavr/core";
import type { Connection } from "../connection/connections.js";
import type { CheckpointSql, LedgerEnds } from "../tables/checkpoint-sql.js";
import { digests } from "../tables/digests.js";

/** States that are read at once. */
const PAGE = 1_000;

/** Pages of a namespace's checkpoint. */
async function* statePages(
  connection: Connection,
  namespace: string,
  sql: CheckpointSql,
): AsyncIterable<readonly CheckpointColumns[]> {
  let page: readonly CheckpointColumns[];
  let last = -1;
  do {
    page = await sql.states(connection, namespace, last, PAGE);
    yield page;
    last = page.at(-1)?.place ?? last;
  } while (page.length === PAGE);
}

/** Whether the states of a checkpoint are those that were written. Several statements: call it on one moment. */
export async function checkpointFits(connection: Connection, ends: LedgerEnds, sql: CheckpointSql): Promise<boolean> {
  const { namespace, base, baseDigest, checkpointDigest } = ends;
  if (base === 0) return true;
  let digest = baseDigest;
  for await (const page of statePages(connection, namespace, sql)) digest = digests.checkpoint(base, digest, page);
  return sameBytes(digest, checkpointDigest);
}

/**
 * The checkpoint that a namespace's ledger begins with, undefined for a whole ledger. Several statements: call it on one moment.
 *
 * @param place for messages
 * @throws STORE_CORRUPT
 */
export async function readCheckpoint(
  connection: Connection,
  namespace: string,
  { sql, place }: { readonly sql: CheckpointSql; readonly place: string },
): Promise<Checkpoint | undefined> {
  const ends = await sql.ends(connection, namespace);
  if (!ends || ends.base === 0) return undefined;
  const states: StateWrite[] = [];
  let digest = ends.baseDigest;
  for await (const page of statePages(connection, namespace, sql)) {
    digest = digests.checkpoint(ends.base, digest, page);
    for (const { scope, id, value } of page) states.push({ scope: bytesToName(scope), id: bytesToName(id), value });
  }
  if (sameBytes(digest, ends.checkpointDigest)) return { seq: ends.base, states };
  throw new QavrError("STORE_CORRUPT", `The checkpoint at ${ends.base} in ${place} is damaged. Restore a backup.`, {
    details: { place, seq: ends.base },
  });
}
