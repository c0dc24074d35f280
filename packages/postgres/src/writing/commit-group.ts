import { QavrError } from "@qavr/core";
import {
  assertUndamaged,
  type CommitReceipt,
  chainOn,
  type LedgerEntry,
  type Reduce,
  type TakenKey,
  WriteOverlay,
} from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import { isInDoubt } from "../connection/postgres-errors.js";
import type { KnownStates, OwnCommit } from "../reading/known-states.js";
import { attempt, StatesAtMoment } from "../reading/states-at-moment.js";
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

/** The answer to one call: its receipts, or the error of its reduction. */
export type CommitAnswer = { readonly receipts: readonly CommitReceipt[] } | { readonly error: unknown };

/** The result of a group of commits. */
export interface GroupCommit {
  /** Parallel to the calls. */
  readonly answers: readonly CommitAnswer[];
  /** Undefined when nothing new was written. */
  readonly written: OwnCommit | undefined;
}

/**
 * Commits of one namespace in one transaction. Lives across retries of the transaction: a try without an answer assigned a place to each
 * entry, and an entry that the next try finds in that place was kept.
 */
export class CommitGroup {
  readonly #namespace: string;
  readonly #calls: readonly CommitCall[];
  readonly #sql: LedgerSql;
  readonly #states: KnownStates;
  /** Answers of the last try. */
  #tried: readonly CommitAnswer[] = [];

  constructor(namespace: string, calls: readonly CommitCall[], sql: LedgerSql, states: KnownStates) {
    this.#namespace = namespace;
    this.#calls = calls;
    this.#sql = sql;
    this.#states = states;
  }

  /** True when a commit was sent and has no answer. */
  get isInDoubt(): boolean {
    return this.#tried.length > 0;
  }

  /**
   * Tries to commit without a lock, in two round trips, reducing on cached states: for a namespace that no other process seems to write.
   * Undefined when the namespace had moved on; then nothing was kept.
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
      const isConfirmed = !mustConfirm(found) || (await this.#write(connection, row, undefined, found));
      return isConfirmed ? { answers, written: undefined } : undefined;
    }
    if (!fitsOneStatement(change)) return undefined;
    const askedAt = performance.now();
    try {
      const isKept = await this.#write(connection, row, change, found);
      return isKept ? { answers, written: ownCommit(row, change, askedAt, true) } : undefined;
    } catch (error) {
      // Other refused commits were not kept.
      if (isInDoubt(error)) this.#tried = answers;
      throw error;
    }
  }

  /** Commits under the lock. */
  async run({ connection, row: found, create, commit }: LockedNamespace): Promise<GroupCommit> {
    const row = found ?? (await create());
    const undisturbed = isSameMoment(this.#states.moment(this.#namespace) ?? ABSENT, found ?? ABSENT);
    // The lock keeps the namespace unchanged, so cached states of this moment are current.
    const now = performance.now();
    this.#states.observe(this.#namespace, row, { askedAt: now, answeredAt: now });
    // Asked after the lock was taken: the statement that waited for the lock does not see its holder's writes.
    const keys = await this.#sql.knownKeys(connection, this.#namespace, this.#keys());
    const reduced = await this.#reduce(connection, row, keys.taken);
    if (!reduced) throw movedOn();
    const answers = reduced.answers.map((answer, place) => asFirst(answer, this.#tried[place]));
    const { change } = reduced;
    if (!change) {
      if (mustConfirm(keys)) {
        await this.#write(connection, row, undefined, keys);
        await commit();
      }
      return { answers, written: undefined };
    }
    if (!(await this.#write(connection, row, change, keys))) throw movedOn();
    this.#tried = answers;
    const askedAt = await commit();
    return { answers, written: ownCommit(row, change, askedAt, undisturbed) };
  }

  #write(
    connection: Connection,
    row: NamespaceRow,
    change: NamespaceChange | undefined,
    found: KeysRead,
  ): Promise<boolean> {
    return this.#sql.writeIfAt(connection, this.#namespace, row, change, found);
  }

  #keys(): string[] {
    return [...new Set(this.#calls.flatMap(({ entries }) => entries.map(({ key }) => key)))];
  }

  /** Undefined when the requested states are of another moment. */
  async #reduce(
    connection: Connection,
    row: NamespaceRow,
    taken: ReadonlyMap<string, TakenKey>,
  ): Promise<{ readonly answers: readonly CommitAnswer[]; readonly change: NamespaceChange | undefined } | undefined> {
    const { head, revision, digest } = row;
    const states = new StatesAtMoment(connection, this.#namespace, row, this.#sql, this.#states);
    await states.readAhead(this.#calls, head, taken);
    const overlay = new WriteOverlay(head);
    const answers: CommitAnswer[] = [];
    for (const { entries, reduce } of this.#calls) {
      const commit = overlay.commit(entries, reduce, (key) => taken.get(key));
      // An error of a reduction rejects its own call, an error of the server rejects all.
      let step = attempt(() => commit.next());
      while (!("error" in step) && !step.done) {
        const values = await states.load(step.value);
        if (!values) return undefined;
        const refs = step.value;
        step = attempt(() => {
          assertUndamaged(refs, values);
          return commit.next(values);
        });
      }
      answers.push("error" in step ? step : { receipts: step.value as readonly CommitReceipt[] });
    }
    if (overlay.entries.length === 0) return { answers, change: undefined };
    const entries = chainOn(digest, overlay.entries, digests);
    const change = {
      head: overlay.head,
      revision: revision + 1,
      digest: entries.at(-1)?.digest ?? digest,
      entries,
      states: [...overlay.states.writes()],
    };
    return { answers, change };
  }
}

/**
 * True when replicas may lack the entries found: their commit may have lost its connection while it waited for one. The namespace's row is
 * then written as it is, so that there is something to commit; its acknowledgement covers all earlier commits.
 */
function mustConfirm({ taken, isReplicated }: KeysRead): boolean {
  return isReplicated && taken.size > 0;
}

/** The error when another writer ignored the lock. */
export function movedOn(): QavrError {
  return new QavrError("STORE_FAILED", "The namespace moved on although its head is locked. Nothing was kept.");
}

/** The commit of this process, after its acknowledgement. */
function ownCommit(
  before: NamespaceRow,
  { revision, head, digest, states }: NamespaceChange,
  askedAt: number,
  undisturbed: boolean,
): OwnCommit {
  const after = { revision, head, digest, base: before.base };
  return { before, after, states, askedAt, answeredAt: performance.now(), undisturbed };
}

/** The receipts of the first try: its entries are found again as duplicates in the same places. */
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
