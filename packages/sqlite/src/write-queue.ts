import type { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers";
import { QavrError } from "@qavr/core";
import { FileFailure, isBusy, toStoreError } from "./sqlite-errors.js";
import { rollBack, withoutWaiting } from "./transaction.js";

/** The steps of one transaction. `Pending` holds the writes of all calls that share it. */
export interface TransactionSteps<Pending> {
  /** Runs before the lock is requested. Its errors reject all waiting calls. */
  prepare(): void;
  /** Runs right after the lock was taken. */
  begin(): Pending;
  /** Writes to the file, before COMMIT. */
  write(pending: Pending): void;
  /** Runs after COMMIT: all writes are durable. */
  committed(pending: Pending): void;
  /** Runs after a failed transaction: nothing was kept. */
  abandoned(): void;
}

export interface WriteQueue<Pending> {
  /**
   * Runs `work` under the write lock, together with the other calls of this tick; resolves once it is durable. An error of `work`
   * rejects this call alone and must leave the pending writes unchanged. Only a {@link FileFailure} rejects all calls.
   *
   * @throws STORE_BUSY when another process kept the lock for the busy timeout, and errors of SQLite
   */
  together<Result>(work: (pending: Pending) => Result): Promise<Result>;
  /** Runs `work` in a transaction of its own, for work that writes to the file directly. */
  alone<Result>(work: (pending: Pending) => Result): Promise<Result>;
  /** Resolves when nothing is waiting. */
  drained(): Promise<void>;
}

interface WaitingCall<Pending> {
  readonly alone: boolean;
  readonly work: (pending: Pending) => unknown;
  readonly since: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Most calls of one transaction; bounds how long it holds the lock and the event loop. */
const CALLS_PER_TRANSACTION = 1_000;
/**
 * Pause between two tries for the lock, in ms. A free lock goes to the first process that asks, so longer pauses make waits unequal.
 * Measured with 4 processes that write without a break, 99th percentile of a write: 20 to 50 ms, against about 100 ms with pauses that
 * grow to 2 ms and 110 to 200 ms with 8 ms.
 */
const PAUSE = 1;

// Node's own, bound here: tests with fake timers do not stop their own writes, also where they load this module.
const afterThisTick = setImmediate;
const afterPause = setTimeout;

/**
 * Groups the writes of one tick into one transaction: one sync of the disk for all of them. Each call is answered after the
 * COMMIT that made it durable. While another process holds the lock, the queue asks again in short pauses instead of letting
 * SQLite sleep on the main thread.
 */
export function writeQueue<Pending>(
  db: DatabaseSync,
  { path, busyTimeout }: { readonly path: string; readonly busyTimeout: number },
  steps: TransactionSteps<Pending>,
): WriteQueue<Pending> {
  const waiting: WaitingCall<Pending>[] = [];
  const onDrained: (() => void)[] = [];
  let scheduled = false;

  const flush = (): void => {
    scheduled = false;
    try {
      steps.prepare();
      withoutWaiting(db, busyTimeout, "BEGIN IMMEDIATE");
    } catch (error) {
      if (isBusy(error)) {
        refuseLateCalls();
      } else {
        rollBack(db);
        for (const call of waiting.splice(0)) call.reject(toStoreError(error, path));
      }
      continueAfter(PAUSE);
      return;
    }
    commit(takeGroup(waiting));
    continueAfter(0);
  };

  /** Continues with the waiting calls, or resolves `drained` when there are none. */
  const continueAfter = (milliseconds: number): void => {
    if (waiting.length === 0) {
      for (const drained of onDrained.splice(0)) drained();
      return;
    }
    scheduled = true;
    if (milliseconds === 0) afterThisTick(flush);
    else afterPause(flush, milliseconds);
  };

  const refuseLateCalls = (): void => {
    const now = performance.now();
    const all = waiting.splice(0);
    for (const call of all) {
      if (now - call.since < busyTimeout) waiting.push(call);
      else call.reject(lockedOut(path, busyTimeout));
    }
  };

  const commit = (group: readonly WaitingCall<Pending>[]): void => {
    const answers: (() => void)[] = [];
    let pending: Pending;
    try {
      pending = steps.begin();
      for (const call of group) {
        try {
          const result = call.work(pending);
          answers.push(() => call.resolve(result));
        } catch (error) {
          // The whole transaction must be rolled back: work that writes directly may be half done, and after an error of its own
          // SQLite may have ended the transaction already, so that the next write would commit alone.
          if (call.alone || error instanceof FileFailure) throw error;
          answers.push(() => call.reject(error));
        }
      }
      steps.write(pending);
      db.exec("COMMIT");
    } catch (error) {
      rollBack(db);
      steps.abandoned();
      for (const call of group) call.reject(toStoreError(error, path));
      return;
    }
    steps.committed(pending);
    for (const answer of answers) answer();
  };

  const add = <Result>(alone: boolean, work: (pending: Pending) => Result): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ alone, work, since: performance.now(), resolve: resolve as (result: unknown) => void, reject });
      if (!scheduled) continueAfter(0);
    });

  return {
    together: (work) => add(false, work),
    alone: (work) => add(true, work),
    drained: () =>
      waiting.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => void onDrained.push(resolve)),
  };
}

/** Removes the first call if it must be alone, else all calls before the next one that must be alone. */
function takeGroup<Pending>(waiting: WaitingCall<Pending>[]): WaitingCall<Pending>[] {
  const loner = waiting.findIndex(({ alone }) => alone);
  const together = loner === -1 ? waiting.length : Math.max(loner, 1);
  return waiting.splice(0, Math.min(together, CALLS_PER_TRANSACTION));
}

function lockedOut(path: string, busyTimeout: number): QavrError {
  return new QavrError(
    "STORE_BUSY",
    `Another process kept the file ${path} locked for ${busyTimeout} ms. Try again, or raise busyTimeout of sqliteStore().`,
    { details: { path, busyTimeout } },
  );
}
