import { ChangeLog, StateCache, type StateChanges, type StateWrite } from "@qavr/core";
import type { NamespaceRow } from "./ledger-sql.js";
import { ABSENT, isSameMoment, type Moment } from "./moment.js";

/** What is known of a namespace. */
interface Known {
  readonly moment: Moment;
  /** All of where it stands, known while nobody but this process has written to the namespace lately. */
  readonly own?: NamespaceRow | undefined;
  /** When the server was asked, ms of a steady clock. */
  readonly askedAt: number;
}

/** A commit of this process. */
export interface OwnCommit {
  readonly before: Moment;
  readonly after: NamespaceRow;
  readonly states: readonly StateWrite[];
  /** When it was asked for, ms of a steady clock. */
  readonly askedAt: number;
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
   * Takes note of the moment that the server gave to a question asked at `askedAt`. Returns whether the cached states are of
   * that moment, so that others of it may join them.
   */
  observe(namespace: string, { revision, digest }: Moment, askedAt: number): boolean {
    const moment = { revision, digest };
    const known = this.#known.get(namespace);
    if (known && isSameMoment(known.moment, moment)) {
      this.#set(namespace, { ...known, askedAt: Math.max(askedAt, known.askedAt) });
      return true;
    }
    // Overtaken on its way by the answer to a later question.
    if (known !== undefined && askedAt < known.askedAt) return false;
    this.forget(namespace);
    this.#set(namespace, { moment, askedAt });
    return true;
  }

  /** Takes note of an own commit. */
  committed(namespace: string, { before, after, states, askedAt, undisturbed }: OwnCommit): void {
    const known = this.#known.get(namespace);
    if (!isSameMoment(known?.moment, before)) {
      if (known !== undefined && known.moment.revision >= after.revision) return;
      this.forget(namespace);
    }
    for (const { scope, id, value } of states) this.cache.write(namespace, scope, id, value ?? undefined);
    this.#changes.add(namespace, states);
    this.#set(namespace, { moment: after, askedAt, own: undisturbed ? after : undefined });
  }

  /**
   * Takes note of a change that somebody else says to have made, which may not be true: all that comes of it is that the server is
   * asked again. Nothing about other changes follows, not even that there are none.
   */
  notified(namespace: string, revision: number): void {
    const known = this.#known.get(namespace);
    if (known !== undefined && known.moment.revision < revision) this.forget(namespace);
  }

  /** Takes note that this process has erased a namespace. */
  erased(namespace: string, askedAt: number): void {
    this.forget(namespace);
    this.#set(namespace, { moment: ABSENT, askedAt });
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
