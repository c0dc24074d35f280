import type { OpenedDatabase } from "./open-database.js";
import { isBusy } from "./sqlite-errors.js";
import { waitingAtMost } from "./transaction.js";

/**
 * Cuts a ledger's log where it holds what was erased, and where readers keep it from starting anew. What could not be done now is done
 * later.
 */
export interface LogKeeper {
  /**
   * Moves what is in the log to the file, and cuts the log to no bytes. Not while another connection reads from it: then it tries again
   * for `patience` ms, and after that with every commit until it is done.
   */
  cut(patience: number): Promise<void>;
  /** Call it before each commit. @throws what {@link OpenFiles} throws: the log is no longer this ledger's */
  look(): void;
  /** Call it after each commit. */
  committed(): void;
  /** Tries for the last time. Call it before the connection is closed. */
  close(): void;
}

/** Between two tries, in ms. */
const PAUSE = 5;
/**
 * A log of this size is starved, in bytes: SQLite's own checkpoints, after each 4 MB, start it anew only when nobody reads from it at that
 * moment, and where readings overlap there is always somebody.
 */
const STARVED = 16 * 1024 * 1024;
/**
 * How long to wait for readers then, in ms, asleep and with the lock for writing. Those that begin meanwhile read from the file and are
 * not waited for, so this is as long as one reading may take. It costs an outcome in some thousands this time.
 */
const READERS_PATIENCE = 200;

// Taken when the module loads: a test that fakes timers later must not stop what an erasure waits for.
const afterThisTick = setImmediate;
const afterPause = setTimeout;

export function logKeeper(
  { db, files }: Pick<OpenedDatabase, "db" | "files">,
  { busyTimeout }: { readonly busyTimeout: number },
): LogKeeper {
  const checkpoint = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  /** Something was erased that may still be in the log. */
  let owed = false;
  let closed = false;
  /** Of the log, before the commit. */
  let bytes = 0;
  /** Bytes at which starvation is looked for next. */
  let limit = STARVED;

  /** False when somebody was in the way. */
  const attempt = (patience: number): boolean => {
    try {
      // A checkpoint that others were in the way of does not fail: it says so in its answer.
      const isCut = waitingAtMost(db, patience, busyTimeout, () => checkpoint.get())?.busy === 0;
      if (isCut) owed = false;
      return isCut;
    } catch (error) {
      // A full disk, for example: what is in the log is safe there, and what was erased stays erased.
      return !isBusy(error);
    }
  };

  return {
    async cut(patience) {
      owed = true;
      const deadline = performance.now() + patience;
      while (owed && !closed) {
        if (attempt(0) || performance.now() >= deadline) return;
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
      // As much again must come before the next try.
      if (isStarved) limit = bytes + STARVED;
      // Not before the commits are answered.
      afterThisTick(() => {
        if (!closed) attempt(isStarved ? Math.min(READERS_PATIENCE, busyTimeout) : 0);
      });
    },

    close() {
      closed = true;
      if (owed) attempt(0);
    },
  };
}
