import {
  type CommitReceipt,
  type KnownKey,
  type LedgerEntry,
  NamespaceDraft,
  type Reduce,
  type StateRef,
} from "@qavr/core";
import type { Connection } from "./connections.js";
import type { KnownStates, OwnCommit } from "./known-states.js";
import { ABSENT, fitsOneStatement, type LedgerSql, type NamespaceChange, type NamespaceRow } from "./ledger-sql.js";
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

  /**
   * Tries to commit without a lock, in two round trips: for a namespace that nobody else seems to write to, so that reducing on
   * what is known of it will not be in vain. Undefined when it was; nothing was kept then.
   */
  async runAlone(connection: Connection): Promise<GroupCommit | undefined> {
    const row = this.#states.ownHead(this.#namespace);
    if (!row) return undefined;
    const { revision, taken } = await this.#sql.knownKeys(connection, this.#namespace, this.#keys());
    if (revision !== row.revision) return undefined;
    const reduced = await this.#reduce(connection, row, taken);
    if (!reduced) return undefined;
    const { answers, change } = reduced;
    if (!change) return { answers, written: undefined };
    if (!fitsOneStatement(change)) return undefined;
    this.#tried = answers;
    const askedAt = performance.now();
    if (await this.#sql.writeIfAt(connection, this.#namespace, row.revision, change)) {
      return { answers, written: ownCommit(row, change, askedAt, true) };
    }
    this.#tried = [];
    return undefined;
  }

  /** Commits under the lock. */
  async run({ connection, row: found, create, commit }: LockedNamespace): Promise<GroupCommit> {
    const row = found ?? (await create());
    const known = this.#states.revision(this.#namespace) ?? ABSENT.revision;
    const undisturbed = known === (found ?? ABSENT).revision;
    // Nobody else can change the namespace now, so what is cached of this revision is current.
    this.#states.observe(this.#namespace, row.revision, performance.now());
    // Asked after the lock was taken: the statement that waited for it does not see what its holder has written.
    const { taken } = await this.#sql.knownKeys(connection, this.#namespace, this.#keys());
    const reduced = await this.#reduce(connection, row, taken);
    if (!reduced) throw new Error("The namespace moved on although its head is locked.");
    const answers = reduced.answers.map((answer, place) => asFirst(answer, this.#tried[place]));
    const { change } = reduced;
    if (!change) return { answers, written: undefined };
    if (!fitsOneStatement(change)) await this.#sql.write(connection, this.#namespace, change);
    else await this.#sql.writeIfAt(connection, this.#namespace, row.revision, change);
    this.#tried = answers;
    const askedAt = await commit();
    return { answers, written: ownCommit(row, change, askedAt, undisturbed) };
  }

  #keys(): string[] {
    return [...new Set(this.#calls.flatMap(({ entries }) => entries.map(({ key }) => key)))];
  }

  /** Undefined when the states that a reduction asked for are of another revision. */
  async #reduce(
    connection: Connection,
    { head, revision }: NamespaceRow,
    taken: ReadonlyMap<string, KnownKey>,
  ): Promise<{ readonly answers: readonly CommitAnswer[]; readonly change: NamespaceChange | undefined } | undefined> {
    const draft = new NamespaceDraft(head);
    const answers: CommitAnswer[] = [];
    for (const { entries, reduce } of this.#calls) {
      const commit = draft.add(entries, reduce, (key) => taken.get(key));
      // What a reduction throws is its own call's affair, what the server throws concerns all.
      let step = attempt(() => commit.next());
      while (!("error" in step) && !step.done) {
        const values = await this.#load(connection, revision, step.value);
        if (!values) return undefined;
        step = attempt(() => commit.next(values));
      }
      answers.push("error" in step ? step : { receipts: step.value as readonly CommitReceipt[] });
    }
    if (draft.entries.length === 0) return { answers, change: undefined };
    const states = [...draft.states.writes()];
    return { answers, change: { head: draft.head, revision: revision + 1, entries: draft.entries, states } };
  }

  /** States of one revision, scope by scope; undefined when the namespace has another by now. */
  async #load(
    connection: Connection,
    revision: number,
    refs: readonly StateRef[],
  ): Promise<readonly (Uint8Array | undefined)[] | undefined> {
    const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
    const scopes = new Map<string, number[]>();
    for (const [place, { scope }] of refs.entries()) {
      if (!scopes.get(scope)?.push(place)) scopes.set(scope, [place]);
    }
    for (const [scope, places] of scopes) {
      const ids = places.map((place) => (refs[place] as StateRef).id);
      const found = await this.#loadScope(connection, revision, scope, ids);
      if (!found) return undefined;
      for (const [i, place] of places.entries()) values[place] = found[i];
    }
    return values;
  }

  async #loadScope(
    connection: Connection,
    revision: number,
    scope: string,
    ids: readonly string[],
  ): Promise<readonly (Uint8Array | undefined)[] | undefined> {
    const { cache } = this.#states;
    const cached = (): boolean => this.#states.revision(this.#namespace) === revision;
    const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
    const unknown = cached() ? cache.read(this.#namespace, scope, ids, values) : [...ids.keys()];
    if (unknown.length === 0) return values;
    const missing = unknown.map((place) => ids[place] as string);
    const found = await this.#sql.states(connection, this.#namespace, scope, missing);
    if (found.revision !== revision) return undefined;
    const keep = cached();
    for (const [i, place] of unknown.entries()) {
      values[place] = found.values[i];
      if (keep) cache.write(this.#namespace, scope, missing[i] as string, found.values[i]);
    }
    return values;
  }
}

function ownCommit(
  { revision: before }: NamespaceRow,
  { revision: after, head, states }: NamespaceChange,
  askedAt: number,
  undisturbed: boolean,
): OwnCommit {
  return { before, after, head, states, askedAt, undisturbed };
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
