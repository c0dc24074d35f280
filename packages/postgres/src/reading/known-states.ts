import { ChangeLog, StateCache, type StateChanges, type StateWrite } from "@qavr/core/store";
import type { NamespaceRow } from "../tables/ledger-sql.js";
import { ABSENT, isSameMoment, type Moment } from "../tables/moment.js";

/** Cached facts about a namespace. */
interface Known {
  readonly moment: Moment;
  /** Its row, while only this process has written to the namespace lately. */
  readonly own?: NamespaceRow | undefined;
  /** Time of the last question to the server; earlier acknowledged commits are included. ms of a steady clock. */
  readonly askedAt: number;
  /** Time of the first answer with this moment; questions after it get this moment or a later one. */
  readonly answeredAt: number;
}

/** Times of a question and its answer, ms of a steady clock. The answer is of a moment between them. */
export interface Asked {
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** A commit of this process. */
export interface OwnCommit extends Asked {
  readonly before: Moment;
  readonly after: NamespaceRow;
  readonly states: readonly StateWrite[];
  /** True when no other process had written since the last known moment. */
  readonly undisturbed: boolean;
}

/** Most namespaces kept; those asked for longest ago are dropped first, with their states. */
const MAX_NAMESPACES = 65_536;

/**
 * States of namespaces at the newest known moment of each, and the changes up to it. Answers of the server come in any order: an older
 * one never replaces a newer one. When a namespace is found at another moment, later or of another history, everything known of it is
 * dropped.
 */
export class KnownStates {
  readonly cache: StateCache;
  readonly #changes = new ChangeLog();
  /** In the order of the last question, oldest first. */
  readonly #known = new Map<string, Known>();

  constructor(cacheBytes: number) {
    this.cache = new StateCache(cacheBytes);
  }

  /** The moment of the cached states, undefined when nothing is known. */
  moment(namespace: string): Moment | undefined {
    return this.#known.get(namespace)?.moment;
  }

  /** The row of a namespace that only this process seems to write, undefined for any other. */
  ownHead(namespace: string): NamespaceRow | undefined {
    return this.#known.get(namespace)?.own;
  }

  /** True when the server was asked about a namespace at `since` or later. */
  askedSince(namespace: string, since: number): boolean {
    const known = this.#known.get(namespace);
    return known !== undefined && known.askedAt >= since;
  }

  changesSince(namespace: string, cursor: number): StateChanges {
    return this.#changes.since(namespace, cursor);
  }

  /**
   * Notes the moment in an answer of the server. Returns true when the cached states are of that moment, so that states of the answer
   * may join them. Afterwards the known moment, if any, is no older than the answer.
   */
  observe(namespace: string, { revision, digest }: Moment, { askedAt, answeredAt }: Asked): boolean {
    const moment = { revision, digest };
    const known = this.#known.get(namespace);
    const current = known && { ...known, askedAt: Math.max(askedAt, known.askedAt) };
    if (current && isSameMoment(current.moment, moment)) {
      this.#set(namespace, current);
      return true;
    }
    if (current && askedAt < current.answeredAt) {
      // Both questions were open at the same time; the greater revision is the later answer.
      if (ABSENT.revision < revision && revision < current.moment.revision) {
        this.#set(namespace, current);
        return false;
      }
      // After an erasure, or in another history, revisions do not tell: drop everything.
      if (current.moment.revision === ABSENT.revision || revision <= current.moment.revision) {
        this.forget(namespace);
        return false;
      }
    }
    this.forget(namespace);
    this.#set(namespace, { moment, askedAt, answeredAt });
    return true;
  }

  /** Notes a commit of this process. */
  committed(namespace: string, { before, after, states, askedAt, answeredAt, undisturbed }: OwnCommit): void {
    const known = this.#known.get(namespace);
    if (!isSameMoment(known?.moment, before)) {
      // An earlier answer already includes this commit.
      if (known && (isSameMoment(known.moment, after) || known.moment.revision > after.revision)) return;
      this.forget(namespace);
      if (known && known.answeredAt > askedAt) return;
    }
    for (const { scope, id, value } of states) this.cache.write(namespace, scope, id, value ?? undefined);
    this.#changes.add(namespace, states);
    this.#set(namespace, { moment: after, askedAt, answeredAt, own: undisturbed ? after : undefined });
  }

  /** Notes that this process has replaced all states of a namespace, or erased it. */
  replaced(namespace: string, after: Moment, { askedAt, answeredAt }: Asked): void {
    const known = this.#known.get(namespace);
    this.forget(namespace);
    // An answer during the replacement may be from before it or after it.
    if (known && known.answeredAt > askedAt) return;
    this.#set(namespace, { moment: after, askedAt, answeredAt });
  }

  /**
   * Notes an announced change. The announcement may be false, so it only makes the next read ask the server. It says nothing about other
   * changes.
   */
  notified(namespace: string, revision: number): void {
    const known = this.#known.get(namespace);
    if (known !== undefined && known.moment.revision < revision) this.forget(namespace);
  }

  /** Drops everything known of a namespace. */
  forget(namespace: string): void {
    this.#known.delete(namespace);
    this.cache.forget(namespace);
    this.#changes.forget(namespace);
  }

  #set(namespace: string, known: Known): void {
    this.#known.delete(namespace);
    this.#known.set(namespace, known);
    if (this.#known.size <= MAX_NAMESPACES) return;
    const [oldest] = this.#known.keys();
    this.forget(oldest as string);
  }
}
