import type { DatabaseSync } from "node:sqlite";
import { isBusy } from "./sqlite-errors.js";
import { waitingAtMost } from "./transaction.js";

/** Cuts a ledger's log where it holds what was erased. Never throws: what could not be done now is done later. */
export interface LogKeeper {
  /**
   * Moves what is in the log to the file, and cuts the log to no bytes. Not while another connection reads from it: then it tries again
   * for `patience` ms, and after that with every commit until it is done.
   */
  cut(patience: number): Promise<void>;
  /** Call it after each commit. */
  committed(): void;
  /** Tries for the last time. Call it before the connection is closed. */
  close(): void;
}

/** Between two tries, in ms. */
const PAUSE = 5;

// Taken when the module loads: a test that fakes timers later must not stop what an erasure waits for.
const afterThisTick = setImmediate;
const afterPause = setTimeout;

export function logKeeper(db: DatabaseSync, { busyTimeout }: { readonly busyTimeout: number }): LogKeeper {
  const checkpoint = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  /** Something was erased that may still be in the log. */
  let owed = false;
  let closed = false;

  const attempt = (): "cut" | "busy" | "failed" => {
    try {
      // A checkpoint that others were in the way of does not fail: it says so in its answer.
      const found = waitingAtMost(db, 0, busyTimeout, () => checkpoint.get());
      if (found?.busy !== 0) return "busy";
      owed = false;
      return "cut";
    } catch (error) {
      // A full disk, for example: what is in the log is safe there, and what was erased stays erased.
      return isBusy(error) ? "busy" : "failed";
    }
  };

  return {
    async cut(patience) {
      owed = true;
      const deadline = performance.now() + patience;
      while (owed && !closed) {
        if (attempt() !== "busy" || performance.now() >= deadline) return;
        await new Promise((resolve) => afterPause(resolve, PAUSE));
      }
    },

    committed() {
      if (!owed) return;
      // Not before the commits are answered.
      afterThisTick(() => {
        if (owed && !closed) attempt();
      });
    },

    close() {
      closed = true;
      if (owed) attempt();
    },
  };
}
