import type { QavrError } from "@qavr/core";

import { type ChainedEntry, type Checkpoint, chainedEntries, checkpointRows, type LedgerEnds } from "@qavr/core/store";

import { damagedEntry } from "../connection/postgres-errors.js";
import type { CheckpointSql } from "../tables/checkpoint-sql.js";
import { digests } from "../tables/digests.js";
import type { LockedNamespace } from "../tables/namespace-transaction.js";

/** Entries dropped at once. */
const PAGE = 1_000;

/**
 * Drops the beginning of a ledger, keeping its keys, and sets the checkpoint. Requires the lock of the namespace; the caller replaces the
 * states at the head.
 *
 * @throws STORE_CORRUPT for a damaged entry among the dropped ones
 */
export async function dropBeginning(
  { connection, timed }: LockedNamespace,
  ends: LedgerEnds,
  { seq: through, states: kept }: Checkpoint,
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
  const states = checkpointRows(kept);
  await timed(() => sql.replaceStates(connection, namespace, states));
  const checkpointDigest = digests.checkpoint(through, last.digest, states);
  await sql.setBase(connection, { ...ends, base: through, baseDigest: last.digest, checkpointDigest });
}
