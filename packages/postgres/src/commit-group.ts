import {
  type CommitReceipt,
  type LedgerEntry,
  NamespaceDraft,
  type Reduce,
  type StateRef,
  type StateWrite,
} from "@qavr/core";
import type { Connection } from "./connections.js";
import type { KnownStates } from "./known-states.js";
import { ABSENT, type LedgerSql } from "./ledger-sql.js";
import type { LockedNamespace } from "./namespace-transaction.js";

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
  readonly written:
    | {
        readonly before: number;
        readonly after: number;
        readonly states: readonly StateWrite[];
        readonly askedAt: number;
      }
    | undefined;
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

  async run({ connection, row: found, create, commit }: LockedNamespace): Promise<GroupCommit> {
    const row = found ?? (await create());
    // Nobody else can change the namespace now, so what is cached of this revision is current.
    if (found) this.#states.observe(this.#namespace, row.revision, performance.now());
    const draft = new NamespaceDraft(row.head);
    const answers = await this.#reduce(connection, draft, row);
    const settled = answers.map((answer, place) => asFirst(answer, this.#tried[place]));
    if (draft.entries.length === 0) return { answers: settled, written: undefined };
    const states = [...draft.states.writes()];
    const change = { head: draft.head, revision: row.revision + 1, entries: draft.entries, states };
    await this.#sql.write(connection, this.#namespace, change);
    this.#tried = settled;
    const askedAt = await commit();
    return { answers: settled, written: { before: row.revision, after: change.revision, states, askedAt } };
  }

  async #reduce(
    connection: Connection,
    draft: NamespaceDraft,
    { head, revision }: { readonly head: number; readonly revision: number },
  ): Promise<CommitAnswer[]> {
    const keys = new Set(this.#calls.flatMap(({ entries }) => entries.map(({ key }) => key)));
    // Asked after the lock was taken: the statement that waited for it does not see what its holder has written.
    const known = head === ABSENT.head ? new Map() : await this.#sql.knownKeys(connection, this.#namespace, [...keys]);
    const answers: CommitAnswer[] = [];
    for (const { entries, reduce } of this.#calls) {
      const commit = draft.add(entries, reduce, (key) => known.get(key));
      // What a reduction throws is its own call's affair, what the server throws concerns all.
      let step = attempt(() => commit.next());
      while ("value" in step && !step.done) {
        const values = await this.#load(connection, revision, step.value);
        step = attempt(() => commit.next(values));
      }
      answers.push("error" in step ? step : { receipts: step.value as readonly CommitReceipt[] });
    }
    return answers;
  }

  /** States as they are under the lock, scope by scope. */
  async #load(
    connection: Connection,
    revision: number,
    refs: readonly StateRef[],
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
    const scopes = new Map<string, number[]>();
    for (const [place, { scope }] of refs.entries()) {
      if (!scopes.get(scope)?.push(place)) scopes.set(scope, [place]);
    }
    for (const [scope, places] of scopes) {
      const ids = places.map((place) => (refs[place] as StateRef).id);
      const found = await this.#loadScope(connection, revision, scope, ids);
      for (const [i, place] of places.entries()) values[place] = found[i];
    }
    return values;
  }

  async #loadScope(
    connection: Connection,
    revision: number,
    scope: string,
    ids: readonly string[],
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const { cache } = this.#states;
    const current = (): boolean => this.#states.revision(this.#namespace) === revision;
    const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
    const unknown = current() ? cache.read(this.#namespace, scope, ids, values) : [...ids.keys()];
    if (unknown.length === 0) return values;
    const missing = unknown.map((place) => ids[place] as string);
    const found = await this.#sql.states(connection, this.#namespace, scope, missing);
    for (const [i, place] of unknown.entries()) {
      values[place] = found.values[i];
      if (current()) cache.write(this.#namespace, scope, missing[i] as string, found.values[i]);
    }
    return values;
  }
}

/** What a step of a generator gives or throws. */
function attempt<Step>(step: () => Step): Step | { readonly error: unknown } {
  try {
    return step();
  } catch (error) {
    return { error };
  }
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
