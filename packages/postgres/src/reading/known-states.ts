import { ChangeLog, StateCache, type StateChanges, type StateWrite } from "@qavr/core";
import type { NamespaceRow } from "../tables/ledger-sql.js";
import { ABSENT, isSameMoment, type Moment } from "../tables/moment.js";

/** What is known of a namespace. */
interface Known {
  readonly moment: Moment;
  /** All of where it stands, known while nobody but this process has written to the namespace lately. */
  readonly own?: NamespaceRow | undefined;
  /** When the server was last asked: what was acknowledged by then is in it. ms of a steady clock. */
  readonly askedAt: number;
  /** When this process was first told of the moment: what it asks from then on is answered of this one or of a later one. */
  readonly toldAt: number;
}

/** A question and its answer, ms of a steady clock. The answer is of some moment between. */
export interface Asked {
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** A commit of this process. */
export interface OwnCommit extends Asked {
  readonly before: Moment;
  readonly after: NamespaceRow;
  readonly states: readonly StateWrite[];
  /** Nobody else had written since this process had last known the namespace. */
  readonly undisturbed: boolean;
}

/** Namespaces whose moment is remembered; the ones asked for longest ago are forgotten first, with their states. */
const MAX_NAMESPACES = 65_536;

/**
 * States of namespaces at the newest moment that this process has seen of each, and what changed on the way there. Answers of
 * the server come in any order: an older one is never kept over a newer one. What is known of a namespace is dropped as a whole when
 * that turns out to stand at another moment, be it a later one, or one of another history.
 */
export class KnownStates {
  readonly cache: StateCache;
  readonly #changes = new ChangeLog();
  /** Asked for longest ago first. */
  readonly #known = new Map<string, Known>();

  constructor(cacheBytes: number) {
    this.cache = new StateCache(cacheBytes);
  }

  /** The moment that the cached states belong to, undefined when nothing is known. */
  moment(namespace: string): Moment | undefined {
    return this.#known.get(namespace)?.moment;
  }

  /** Where a namespace stands that seems to be this process's own, undefined for any other. */
  ownHead(namespace: string): NamespaceRow | undefined {
    return this.#known.get(namespace)?.own;
  }

  /** Whether the server was asked about a namespace at `since` or later. */
  askedSince(namespace: string, since: number): boolean {
    const known = this.#known.get(namespace);
    return known !== undefined && known.askedAt >= since;
  }

  changesSince(namespace: string, cursor: number): StateChanges {
    return this.#changes.since(namespace, cursor);
  }

  /**
   * Takes note of the moment that the server gave to a question. Returns whether the cached states are of that moment, so that
   * others of it may join them. Afterwards what is known, if anything is, is no older than the answer.
   */
  observe(namespace: string, { revision, digest }: Moment, { askedAt, answeredAt }: Asked): boolean {
    const moment = { revision, digest };
    const known = this.#known.get(namespace);
    const current = known && { ...known, askedAt: Math.max(askedAt, known.askedAt) };
    if (current && isSameMoment(current.moment, moment)) {
      this.#set(namespace, current);
      return true;
    }
    if (current && askedAt < current.toldAt) {
      // Both questions were open at the same time: the revision tells which answer is the later one.
      if (ABSENT.revision < revision && revision < current.moment.revision) {
        this.#set(namespace, current);
        return false;
      }
      // It does not where the namespace was erased, or is of another history: then better know nothing.
      if (current.moment.revision === ABSENT.revision || revision <= current.moment.revision) {
        this.forget(namespace);
        return false;
      }
    }
    this.forget(namespace);
    this.#set(namespace, { moment, askedAt, toldAt: answeredAt });
    return true;
  }

  /** Takes note of an own commit. */
  committed(namespace: string, { before, after, states, askedAt, answeredAt, undisturbed }: OwnCommit): void {
    const known = this.#known.get(namespace);
    if (!isSameMoment(known?.moment, before)) {
      // A question was answered sooner, with this commit in it.
      if (known && (isSameMoment(known.moment, after) || known.moment.revision > after.revision)) return;
      this.forget(namespace);
      if (known && known.toldAt > askedAt) return;
    }
    for (const { scope, id, value } of states) this.cache.write(namespace, scope, id, value ?? undefined);
    this.#changes.add(namespace, states);
    this.#set(namespace, { moment: after, askedAt, toldAt: answeredAt, own: undisturbed ? after : undefined });
  }

  /** Takes note that this process has replaced all states of a namespace, or erased it. */
  replaced(namespace: string, after: Moment, { askedAt, answeredAt }: Asked): void {
    const known = this.#known.get(namespace);
    this.forget(namespace);
    // What was told meanwhile may have come before it or after it.
    if (known && known.toldAt > askedAt) return;
    this.#set(namespace, { moment: after, askedAt, toldAt: answeredAt });
  }

  /**
   * Takes note of a change that somebody else says to have made, which may not be true: all that comes of it is that the server is
   * asked again. Nothing about other changes follows, not even that there are none.
   */
  notified(namespace: string, revision: number): void {
    const known = this.#known.get(namespace);
    if (known !== undefined && known.moment.revision < revision) this.forget(namespace);
  }

  /** Anything may have changed. */
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
