import { QavrError } from "@qavr/core";
import { type ChainedEntry, type CheckpointChange, chainedEntries, type LedgerEnds, sameBytes } from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import { damagedEntry, isUniqueViolation, overtaken } from "../connection/postgres-errors.js";
import type { CheckpointSql, LaterBeginning } from "../tables/checkpoint-sql.js";
import { digests } from "../tables/digests.js";

interface DropOptions {
  readonly sql: CheckpointSql;
  readonly place: string;
}

/** Entries dropped at once. */
const PAGE = 1_000;

/**
 * Drops the beginning of a ledger, keeping its keys, and changes the checkpoint. The transaction must then lock the namespace and set its
 * row from `before` to `after`, or roll back: so writers do not wait for the longest part. Undefined, with nothing done, when the ledger
 * begins later already, or ends earlier.
 *
 * @param change its states each at most once
 * @throws STORE_CORRUPT for a damaged entry among the dropped ones, {@link overtaken} when another transaction drops at the same time
 */
export async function dropBeginning(
  connection: Connection,
  namespace: string,
  change: CheckpointChange,
  options: DropOptions,
): Promise<LaterBeginning | undefined> {
  const { sql } = options;
  const before = await sql.ends(connection, namespace);
  if (!before || change.seq < before.base || change.seq > before.head) return undefined;
  try {
    return { before, after: await drop(connection, before, change, options) };
  } catch (error) {
    if (isUniqueViolation(error)) throw overtaken();
    if (!QavrError.isInstance(error, "STORE_CORRUPT")) throw error;
    // Entries that another transaction has just dropped look damaged.
    const now = await sql.ends(connection, namespace);
    throw now && isSameBeginning(now, before) ? error : overtaken();
  }
}

function isSameBeginning(a: LedgerEnds, b: LedgerEnds): boolean {
  return a.base === b.base && sameBytes(a.checkpointDigest, b.checkpointDigest);
}

async function drop(
  connection: Connection,
  ends: LedgerEnds,
  { seq: through, states }: CheckpointChange,
  { sql, place }: DropOptions,
): Promise<LedgerEnds> {
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
  return { ...ends, base: through, baseDigest: last.digest, checkpointDigest };
}
