import {
  type CommitReceipt,
  chainOn,
  type DroppedKey,
  type LedgerEntry,
  NamespaceDraft,
  QavrError,
  type Reduce,
} from "@qavr/core";
import { attempt } from "../connection/attempt.js";
import type { Connection } from "../connection/connections.js";
import { isConnectionLoss } from "../connection/postgres-errors.js";
import type { KnownStates, OwnCommit } from "../reading/known-states.js";
import { StatesAtMoment } from "../reading/states-at-moment.js";
import { digests } from "../tables/digests.js";
import {
  fitsOneStatement,
  type KeysRead,
  type LedgerSql,
  type NamespaceChange,
  type NamespaceRow,
} from "../tables/ledger-sql.js";
import { ABSENT, isSameMoment } from "../tables/moment.js";
import type { LockedNamespace } from "../tables/namespace-transaction.js";

/** One call of `commit`. */
export interface CommitCall {
  readonly entries: readonly LedgerEntry[];
  readonly reduce: Reduce;
}

/** What became of one call: its receipts, or the error of its reduction. */
export type CommitAnswer = { readonly receipts: readonly CommitReceipt[] } | { readonly error: unknown };

/** What a group of commits did to its namespace. */
export interface GroupCommit {
  /** Parallel to the calls. */
  readonly answers: readonly CommitAnswer[];
  /** Undefined when nothing new was written. */
  readonly written: OwnCommit | undefined;
}

/**
 * Commits of one namespace in one transaction. Kept from one try of the transaction to the next: a try whose answer was lost has
 * told each entry its place, and an entry that the next one finds in that very place was kept by it.
 */
export class CommitGroup {
  readonly #namespace: string;
  readonly #calls: readonly CommitCall[];
  readonly #sql: LedgerSql;
  readonly #states: KnownStates;
  /** What the last try would have answered. */
  #tried: readonly CommitAnswer[] = [];

  constructor(namespace: string, calls: readonly CommitCall[], sql: LedgerSql, states: KnownStates) {
    this.#namespace = namespace;
    this.#calls = calls;
    this.#sql = sql;
    this.#states = states;
  }

  /** Whether something was asked to be kept, and the answer never came. */
  get isInDoubt(): boolean {
    return this.#tried.length > 0;
  }

  /**
   * Tries to commit without a lock, in two round trips: for a namespace that nobody else seems to write to, so that reducing on
   * what is known of it will not be in vain. Undefined when it was; nothing was kept then.
   */
  async runAlone(connection: Connection): Promise<GroupCommit | undefined> {
    const row = this.#states.ownHead(this.#namespace);
    if (!row) return undefined;
    const found = await this.#sql.knownKeys(connection, this.#namespace, this.#keys());
    if (!isSameMoment(found.moment, row)) return undefined;
    const reduced = await this.#reduce(connection, row, found.taken);
    if (!reduced) return undefined;
    const { answers, change } = reduced;
    if (!change) {
      if (mustConfirm(found)) await this.#sql.confirm(connection, this.#namespace);
      return { answers, written: undefined };
    }
    if (!fitsOneStatement(change)) return undefined;
    const askedAt = performance.now();
    try {
      const isKept = await this.#sql.writeIfAt(connection, this.#namespace, row, change);
      return isKept ? { answers, written: ownCommit(row, change, askedAt, true) } : undefined;
    } catch (error) {
      // What the server has refused it has not kept.
      if (isConnectionLoss(error)) this.#tried = answers;
      throw error;
    }
  }

  /** Commits under the lock. */
  async run({ connection, row: found, create, commit }: LockedNamespace): Promise<GroupCommit> {
    const row = found ?? (await create());
    const undisturbed = isSameMoment(this.#states.moment(this.#namespace) ?? ABSENT, found ?? ABSENT);
    // Nobody else can change the namespace now, so what is cached of this moment is current.
    const now = performance.now();
    this.#states.observe(this.#namespace, row, { askedAt: now, answeredAt: now });
    // Asked after the lock was taken: the statement that waited for it does not see what its holder has written.
    const keys = await this.#sql.knownKeys(connection, this.#namespace, this.#keys());
    const reduced = await this.#reduce(connection, row, keys.taken);
    if (!reduced) throw movedOn();
    const answers = reduced.answers.map((answer, place) => asFirst(answer, this.#tried[place]));
    const { change } = reduced;
    if (!change) {
      if (mustConfirm(keys)) {
        await this.#sql.confirm(connection, this.#namespace);
        await commit();
      }
      return { answers, written: undefined };
    }
    if (!fitsOneStatement(change)) await this.#sql.write(connection, this.#namespace, change);
    else if (!(await this.#sql.writeIfAt(connection, this.#namespace, row, change))) throw movedOn();
    this.#tried = answers;
    const askedAt = await commit();
    return { answers, written: ownCommit(row, change, askedAt, undisturbed) };
  }

  #keys(): string[] {
    return [...new Set(this.#calls.flatMap(({ entries }) => entries.map(({ key }) => key)))];
  }

  /** Undefined when the states that a reduction asked for are of another moment. */
  async #reduce(
    connection: Connection,
    row: NamespaceRow,
    taken: ReadonlyMap<string, DroppedKey>,
  ): Promise<{ readonly answers: readonly CommitAnswer[]; readonly change: NamespaceChange | undefined } | undefined> {
    const { head, revision, digest } = row;
    const states = new StatesAtMoment(connection, this.#namespace, row, this.#sql, this.#states);
    await states.readAhead(this.#calls, head, taken);
    const draft = new NamespaceDraft(head);
    const answers: CommitAnswer[] = [];
    for (const { entries, reduce } of this.#calls) {
      const commit = draft.add(entries, reduce, (key) => taken.get(key));
      // What a reduction throws is its own call's affair, what the server throws concerns all.
      let step = attempt(() => commit.next());
      while (!("error" in step) && !step.done) {
        const values = await states.load(step.value);
        if (!values) return undefined;
        step = attempt(() => commit.next(values));
      }
      answers.push("error" in step ? step : { receipts: step.value as readonly CommitReceipt[] });
    }
    if (draft.entries.length === 0) return { answers, change: undefined };
    const entries = chainOn(digest, draft.entries, digests);
    const change = {
      head: draft.head,
      revision: revision + 1,
      digest: entries.at(-1)?.digest ?? digest,
      entries,
      states: [...draft.states.writes()],
    };
    return { answers, change };
  }
}

/** Whether the replicas may lack what was found, so that an answer must wait for them as the commit itself would have. */
function mustConfirm({ taken, isReplicated }: KeysRead): boolean {
  return isReplicated && taken.size > 0;
}

/** Cannot be: somebody changed the tables past the lock. */
function movedOn(): QavrError {
  return new QavrError("STORE_FAILED", "The namespace moved on although its head is locked. Nothing was kept.");
}

/** To be called when it has been acknowledged. */
function ownCommit(
  before: NamespaceRow,
  { revision, head, digest, states }: NamespaceChange,
  askedAt: number,
  undisturbed: boolean,
): OwnCommit {
  const after = { revision, head, digest, base: before.base };
  return { before, after, states, askedAt, answeredAt: performance.now(), undisturbed };
}

/** A receipt as the first try would have given it: what it had committed is found again as a duplicate in the same place. */
function asFirst(answer: CommitAnswer, tried: CommitAnswer | undefined): CommitAnswer {
  if (!tried || !("receipts" in tried) || !("receipts" in answer)) return answer;
  return {
    receipts: answer.receipts.map((receipt, place) => {
      const first = tried.receipts[place];
      const kept = first?.status === "committed" && receipt.status === "duplicate" && receipt.seq === first.seq;
      return kept ? first : receipt;
    }),
  };
}
