import type { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import { FileFailure, isBusy, toStoreError } from "./sqlite-errors.js";
import { rollBack, withoutWaiting } from "./transaction.js";

/** What runs inside one transaction. `Draft` collects what calls that share a transaction have in common. */
export interface TransactionSteps<Draft> {
  /** Before the lock is asked for. What it throws rejects all calls that wait. */
  prepare(): void;
  /** Right after the lock was taken. */
  begin(): Draft;
  /** Writes the draft, before COMMIT. */
  write(draft: Draft): void;
  /** After COMMIT: everything of the draft is durable. */
  committed(draft: Draft): void;
  /** After a failed transaction: nothing of the draft was kept. */
  abandoned(): void;
}

export interface WriteQueue<Draft> {
  /**
   * Runs `work` under the write lock, together with the other calls of this tick; resolves once it is durable. What `work`
   * throws rejects this call alone: it must leave the draft as it was. Only a {@link FileFailure} rejects all of them.
   *
   * @throws STORE_BUSY when another process kept the lock for the busy timeout, and what SQLite reports.
   */
  together<Result>(work: (draft: Draft) => Result): Promise<Result>;
  /** The same in a transaction of its own, for work that writes to the file directly. */
  alone<Result>(work: (draft: Draft) => Result): Promise<Result>;
  /** Resolves when nothing is waiting. */
  drained(): Promise<void>;
}

interface WaitingCall<Draft> {
  readonly alone: boolean;
  readonly work: (draft: Draft) => unknown;
  readonly since: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Calls of one transaction at most: keeps the lock, and the event loop, from being held for long. */
const CALLS_PER_TRANSACTION = 1_000;
/**
 * Pause between two tries for the lock, in ms. The lock goes to whoever asks first when it is free, so longer pauses make some
 * wait much longer than others. Measured with 4 processes that write without a break, 99th percentile of a write: 20 to 50 ms,
 * against about 100 ms with pauses that grow to 2 ms and 110 to 200 ms with 8 ms.
 */
const PAUSE = 1;

// Taken when the module loads: a test that fakes timers later must not stop its own writes.
const afterThisTick = setImmediate;
const afterPause = setTimeout;

/**
 * Groups the writes of one tick into one transaction: one sync of the disk for all of them. Each call is answered after the
 * COMMIT that made it durable. While another process holds the lock, the queue asks again in short pauses instead of letting
 * SQLite sleep on the main thread.
 */
export function writeQueue<Draft>(
  db: DatabaseSync,
  { path, busyTimeout }: { readonly path: string; readonly busyTimeout: number },
  steps: TransactionSteps<Draft>,
): WriteQueue<Draft> {
  const waiting: WaitingCall<Draft>[] = [];
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

  /** Goes on with what is waiting, or tells that nothing is. */
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

  const commit = (group: readonly WaitingCall<Draft>[]): void => {
    const answers: (() => void)[] = [];
    let draft: Draft;
    try {
      draft = steps.begin();
      for (const call of group) {
        try {
          const result = call.work(draft);
          answers.push(() => call.resolve(result));
        } catch (error) {
          // Then the whole transaction must go: work that writes directly may have written half of it, and after an error
          // of its own SQLite may have ended the transaction already, so that the next write would stand alone.
          if (call.alone || error instanceof FileFailure) throw error;
          answers.push(() => call.reject(error));
        }
      }
      steps.write(draft);
      db.exec("COMMIT");
    } catch (error) {
      rollBack(db);
      steps.abandoned();
      for (const call of group) call.reject(toStoreError(error, path));
      return;
    }
    steps.committed(draft);
    for (const answer of answers) answer();
  };

  const add = <Result>(alone: boolean, work: (draft: Draft) => Result): Promise<Result> =>
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

/** The first call if it must be alone, else those before the next one that must. */
function takeGroup<Draft>(waiting: WaitingCall<Draft>[]): WaitingCall<Draft>[] {
  const loner = waiting.findIndex(({ alone }) => alone);
  const together = loner === -1 ? waiting.length : Math.max(loner, 1);
  return waiting.splice(0, Math.min(together, CALLS_PER_TRANSACTION));
}

function lockedOut(path: string, busyTimeout: number): QavrError {
  return new QavrError(
    "STORE_BUSY",
    `Another process kept the file ${path} locked for ${busyTimeout} ms. Try again, or raise busyTimeout.`,
    { details: { path, busyTimeout } },
  );
}
