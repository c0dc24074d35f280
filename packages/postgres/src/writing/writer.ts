import type { Store } from "@qavr/core";
import { assertState, type CommitReceipt, type StateWrite, stateAddress } from "@qavr/core/store";
import type { Connection, Connections, Limits } from "../connection/connections.js";
import { isInDoubt, isTransient, overtaken, toStoreError } from "../connection/postgres-errors.js";
import type { KnownStates } from "../reading/known-states.js";
import type { Announcement } from "../reading/notifications.js";
import { workAtHead } from "../reading/work-at-head.js";
import type { CheckpointSql, LaterBeginning } from "../tables/checkpoint-sql.js";
import { nameId } from "../tables/digests.js";
import type { LedgerSql } from "../tables/ledger-sql.js";
import { ABSENT } from "../tables/moment.js";
import { type LockedNamespace, type LockingOptions, withLockedNamespace } from "../tables/namespace-transaction.js";
import type { NodeOf } from "../tables/placements.js";
import type { ServerFacts } from "../tables/schema.js";
import { type CommitCall, CommitGroup, type GroupCommit, movedOn } from "./commit-group.js";
import { dropBeginning } from "./compact-ledger.js";
import { namespaceQueue } from "./namespace-queue.js";

/** All writes, one transaction per namespace at a time. */
export interface Writer extends Pick<Store, "commit" | "atHead" | "eraseNamespace"> {
  /** Resolves when no write is waiting or running. */
  drained(): Promise<void>;
}

interface WriterOptions extends Limits {
  readonly source: Connections;
  readonly sql: LedgerSql;
  readonly checkpoints: CheckpointSql;
  readonly states: KnownStates;
  readonly place: string;
  readonly schema: string;
  readonly writers: number;
  readonly nodeOf: NodeOf;
  /** Runs work, once more where the tables are others than they were. */
  onTables(work: (facts: ServerFacts) => Promise<void>): Promise<void>;
  announce(announcement: Announcement): void;
}

/** A commit that shares a transaction. */
interface WaitingCommit extends CommitCall {
  readonly alone: false;
  resolve(receipts: readonly CommitReceipt[]): void;
  reject(error: unknown): void;
}

/** Work with a transaction of its own. */
interface WaitingWork {
  readonly alone: true;
  readonly work: (locked: LockedNamespace) => Promise<unknown>;
  readonly beforeLock: LockingOptions["beforeLock"];
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export function writer({
  source,
  sql,
  checkpoints,
  states,
  writers,
  onTables,
  announce,
  ...options
}: WriterOptions): Writer {
  const { place } = options;

  // Work on a whole namespace may take long; only writers of that namespace should wait for it.
  const lanes = { together: writers, alone: Math.ceil(writers / 2) };
  const queue = namespaceQueue<WaitingCommit | WaitingWork>(lanes, async (namespace, calls) => {
    const [first] = calls;
    const commits = calls as readonly WaitingCommit[];
    // Remembers the tries, also across a change of the tables.
    const group = new CommitGroup(namespace, first?.alone ? [] : commits, sql, states);
    const run = async (facts: ServerFacts): Promise<void> => {
      const locking: LockingOptions = { ...options, ...facts, source, sql };
      if (first?.alone) {
        const { beforeLock, work, resolve } = first;
        resolve(await withLockedNamespace({ ...locking, beforeLock, lasting: true }, namespace, work));
      } else await commitTogether(locking, namespace, commits, group);
    };
    try {
      await onTables(run);
    } catch (error) {
      // A failed commit may still have been kept.
      states.forget(namespace);
      for (const call of calls) call.reject(toStoreError(error, place));
    }
  });

  const commitTogether = async (
    locking: LockingOptions,
    namespace: string,
    calls: readonly WaitingCommit[],
    group: CommitGroup,
  ): Promise<void> => {
    // Setting limits, and naming a namespace for row-level security, needs a transaction of several statements.
    const lockless = !locking.rowLevelSecurity && source.limitsSessions && states.ownHead(namespace) !== undefined;
    const { answers, written } = await commitGroup(locking, namespace, group, lockless);
    if (written) {
      states.committed(namespace, written);
      announce({ namespace, revision: written.after.revision });
    }
    for (const [place, call] of calls.entries()) {
      const answer = answers[place];
      if (answer && "receipts" in answer) call.resolve(answer.receipts);
      else call.reject(answer?.error);
    }
  };

  /** Commits without the lock where possible, else with it. */
  const commitGroup = async (
    locking: LockingOptions,
    namespace: string,
    group: CommitGroup,
    lockless: boolean,
  ): Promise<GroupCommit> => {
    if (lockless) {
      try {
        const node = locking.sharded ? await locking.nodeOf(nameId(namespace)) : undefined;
        const done = await source.use((connection) => group.runAlone(connection), { node });
        if (done) return done;
      } catch (error) {
        if (!isInDoubt(error) && !isTransient(error)) throw error;
      }
    }
    return withLockedNamespace(locking, namespace, (locked) => group.run(locked), group.isInDoubt);
  };

  const alone = <Result>(
    namespace: string,
    work: (locked: LockedNamespace) => Promise<Result>,
    beforeLock?: LockingOptions["beforeLock"],
  ): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      queue.add(namespace, { alone: true, work, beforeLock, resolve: resolve as (result: unknown) => void, reject });
    });

  return {
    commit: (namespace, entries, reduce) =>
      new Promise<readonly CommitReceipt[]>((resolve, reject) => {
        queue.add(namespace, { alone: false, entries, reduce, resolve, reject });
      }),

    atHead(namespace, { checkpoint, ...given }) {
      let beginning: LaterBeginning | undefined;
      const beforeLock = async (connection: Connection): Promise<void> => {
        if (!checkpoint) return;
        for (const state of checkpoint.states) assertState(state);
        const change = { ...checkpoint, states: lastOfEach(checkpoint.states) };
        beginning = await dropBeginning(connection, namespace, change, { sql: checkpoints, place });
      };
      const workNow = async ({ connection, row, isSharded, commit }: LockedNamespace): Promise<boolean> => {
        // First of all: the check of the head must not look for entries that are dropped.
        if (row && beginning && !(await checkpoints.setBase(connection, beginning))) throw overtaken();
        if (row) await sql.head(connection, namespace);
        const ends = row && { head: row.head, base: row.base };
        const { done, revision } = await workAtHead(connection, { sql, namespace, ends, ...given });
        if (!row || !revision || (checkpoint && checkpoint.seq < row.base)) return done;
        if (checkpoint && !beginning) throw overtaken();
        const written = lastOfEach(revision.states);
        if (written.length === 0) {
          // Readers and other writers see the same states as before.
          await commit();
          return done;
        }
        const moment = { revision: await sql.leapTo(connection, namespace), digest: row.digest };
        const change = { ...moment, head: row.head, entries: [], states: written };
        if (!(await sql.writeIfAt(connection, namespace, row, change, { isSharded }))) throw movedOn();
        const askedAt = await commit();
        states.replaced(namespace, moment, { askedAt, answeredAt: performance.now() });
        announce({ namespace, revision: moment.revision });
        return done;
      };
      return alone(namespace, workNow, checkpoint && beforeLock);
    },

    eraseNamespace(namespace) {
      let asked = false;
      return alone(namespace, async ({ connection, row, create, timed, commit }) => {
        // A try without an answer may have been kept; the namespace is then added to be erased again, so that there is a commit.
        const erased = row ?? (asked ? await create() : undefined);
        if (erased) await timed(() => sql.deleteNamespace(connection, namespace));
        asked = true;
        const askedAt = await commit();
        states.replaced(namespace, ABSENT, { askedAt, answeredAt: performance.now() });
        if (erased) announce({ namespace, revision: erased.revision + 1 });
      });
    },

    drained: () => queue.drained(),
  };
}

/** The last write of each state, since one statement writes a row once. */
function lastOfEach(states: readonly StateWrite[]): StateWrite[] {
  return [...new Map(states.map((state) => [stateAddress(state), state])).values()];
}
