import { setImmediate, setTimeout } from "node:timers";
import type { OpenedDatabase } from "./open-database.js";
import { isBusy } from "./sqlite-errors.js";
import { waitingAtMost } from "./transaction.js";

/** Truncates a ledger's log after an erasure, and when readers keep it from starting anew. Failed attempts are repeated later. */
export interface LogKeeper {
  /**
   * Moves the log to the file and truncates it. While another connection reads from it, tries again for `timeout` ms, and after that
   * with every commit until it succeeds.
   */
  cut(timeout: number): Promise<void>;
  /** Call it before each commit. @throws the error of {@link OpenFiles}: the log no longer belongs to this ledger */
  look(): void;
  /** Call it after each commit. */
  committed(): void;
  /** Tries for the last time. Call it before the connection is closed. */
  close(): void;
}

/** Between two tries, in ms. */
const PAUSE = 5;
/**
 * Size of a starved log, in bytes. SQLite's own checkpoints, after each 4 MB, start the log anew only at a moment without readers, and
 * overlapping reads leave no such moment.
 */
const STARVED = 16 * 1024 * 1024;
/**
 * Longest wait for readers of a starved log, in ms, asleep and with the write lock. Reads that begin meanwhile read the file and are not
 * waited for, so one read may take this long. It delays one outcome in some thousands.
 */
const READERS_TIMEOUT = 200;

// As in the queue of writes.
const afterThisTick = setImmediate;
const afterPause = setTimeout;

export function logKeeper(
  { db, files }: Pick<OpenedDatabase, "db" | "files">,
  { busyTimeout }: { readonly busyTimeout: number },
): LogKeeper {
  const checkpoint = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  /** The log may still hold erased data. */
  let owed = false;
  /** Size of the log before the commit. */
  let bytes = 0;
  /** Size at which starvation is checked next. */
  let limit = STARVED;

  /** Returns false when another connection was in the way. */
  const attempt = (timeout: number): boolean => {
    try {
      // A blocked checkpoint does not throw; its answer says busy.
      const isCut = waitingAtMost(db, timeout, busyTimeout, () => checkpoint.get())?.busy === 0;
      if (isCut) owed = false;
      return isCut;
    } catch (error) {
      // A full disk, or a ledger that was closed meanwhile: the log is safe, and erased data stays erased.
      return !isBusy(error);
    }
  };

  return {
    async cut(timeout) {
      owed = true;
      const until = performance.now() + timeout;
      while (owed) {
        if (attempt(0) || performance.now() >= until) return;
        await new Promise((resolve) => afterPause(resolve, PAUSE));
      }
    },

    look() {
      bytes = files?.logBytes() ?? 0;
    },

    committed() {
      if (bytes < STARVED) limit = STARVED;
      const isStarved = bytes >= limit;
      if (!owed && !isStarved) return;
      // The next try needs as much growth again.
      if (isStarved) limit = bytes + STARVED;
      // After the commits are answered.
      afterThisTick(() => attempt(isStarved ? Math.min(READERS_TIMEOUT, busyTimeout) : 0));
    },

    close() {
      if (owed) attempt(0);
    },
  };
}
