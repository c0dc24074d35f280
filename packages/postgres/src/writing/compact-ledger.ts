import type { QavrError } from "@qavr/core";
import { type ChainedEntry, type CheckpointChange, chainedEntries, type LedgerEnds } from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import { damagedEntry } from "../connection/postgres-errors.js";
import type { CheckpointSql } from "../tables/checkpoint-sql.js";
import { digests } from "../tables/digests.js";

/** Entries dropped at once. */
const PAGE = 1_000;

/**
 * Drops the beginning of a ledger, keeping its keys, and changes the checkpoint. Requires the lock of the namespace; the caller writes the
 * states at the head.
 *
 * @param change its states each at most once
 * @throws STORE_CORRUPT for a damaged entry among the dropped ones
 */
export async function dropBeginning(
  connection: Connection,
  ends: LedgerEnds,
  { seq: through, states }: CheckpointChange,
  { sql, place }: { readonly sql: CheckpointSql; readonly place: string },
): Promise<void> {
  const { namespace } = ends;
  const corrupt = (seq: number): QavrError => damagedEntry(place, seq);
  let last = { seq: ends.base, digest: ends.baseDigest };
  while (last.seq < through) {
    const asked = Math.min(PAGE, through - last.seq);
    const page = await sql.entries(connection, namespace, last.seq, asked);
    chainedEntries(page, last, last.seq + asked, digests, corrupt);
    const dropped = page.map(({ seq, key, payload }) => ({ seq, key, payloadDigest: digests.of(payload) }));
    await sql.dropEntries(connection, namespace, dropped);
    last = page.at(-1) as ChainedEntry;
  }
  const checkpointDigest = await sql.changeStates(connection, ends, states);
  await sql.setBase(connection, { ...ends, base: through, baseDigest: last.digest, checkpointDigest });
}
