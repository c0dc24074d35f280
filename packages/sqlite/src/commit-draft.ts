import {
  type CommitReceipt,
  type DroppedKey,
  type KnownKey,
  type LedgerEntry,
  NamespaceDraft,
  type Reduce,
  type StateRef,
  type StateWrite,
  sameBytes,
} from "@qavr/core";
import { digests } from "./digests.js";
import type { LedgerTables, NamespaceRow } from "./ledger-tables.js";
import { onFile } from "./sqlite-errors.js";

/** Reads states as they are in the file, through the cache. */
export type LoadStates = (namespace: string, scope: string, ids: readonly string[]) => (Uint8Array | undefined)[];

/** What a namespace gains in one transaction. */
interface DraftedNamespace {
  /** Undefined for a namespace that is not in the file yet. */
  readonly row: NamespaceRow | undefined;
  readonly draft: NamespaceDraft;
}

/** The commits of one transaction, reduced in memory first. Lives under the write lock. */
export class CommitDraft {
  readonly #tables: LedgerTables;
  readonly #load: LoadStates;
  readonly #namespaces = new Map<string, DraftedNamespace>();

  constructor(tables: LedgerTables, load: LoadStates) {
    this.#tables = tables;
    this.#load = load;
  }

  /** Adds one commit on top of the earlier ones. @throws the reduction's error, or that of a refused write; nothing is added then. */
  add(name: string, entries: readonly LedgerEntry[], reduce: Reduce): readonly CommitReceipt[] {
    const { row, draft } = this.#namespace(name);
    const known = (key: string): DroppedKey | undefined => row && onFile(() => this.#knownKey(row, key));
    const commit = draft.add(entries, reduce, known);
    let step = commit.next();
    while (!step.done) step = commit.next(this.#states(name, step.value));
    return step.value;
  }

  /** Writes everything to the file. */
  write(): void {
    for (const [name, { row, draft }] of this.#namespaces) {
      const { entries, states } = draft;
      if (entries.length === 0) continue;
      const id = this.#tables.append(name, row, entries);
      const scopeIds = new Map<string, number>();
      for (const { scope, id: state, value } of states.writes()) {
        const scopeId = scopeIds.get(scope) ?? this.#tables.scopeId(id, scope);
        scopeIds.set(scope, scopeId);
        this.#tables.writeState(scopeId, state, value);
      }
    }
  }

  /** The last write of every state, by namespace. */
  *written(): Iterable<{ readonly namespace: string; readonly states: readonly StateWrite[] }> {
    for (const [namespace, { draft }] of this.#namespaces) yield { namespace, states: [...draft.states.writes()] };
  }

  /**
   * A key that is taken; undefined for a new one. Where payloads differ, the one in the ledger may be damaged: it is held against its digest
   * before an honest retry is told of a conflict.
   */
  #knownKey(row: NamespaceRow, key: string): DroppedKey | undefined {
    const known = this.#tables.knownKey(row.id, key);
    if (known) return { seq: known.seq, hasPayload: (payload) => this.#hasPayload(row, known, payload) };
    const compacted = row.base === 0 ? undefined : this.#tables.compactedKey(row, key);
    return (
      compacted && {
        seq: compacted.seq,
        hasPayload: (payload) => sameBytes(compacted.payloadDigest, digests.of(payload)),
      }
    );
  }

  /** @throws STORE_CORRUPT */
  #hasPayload(row: NamespaceRow, known: KnownKey, payload: Uint8Array): boolean {
    if (sameBytes(known.payload, payload)) return true;
    onFile(() => this.#tables.assertEntryAt(row, known.seq));
    return false;
  }

  /** Reads scope by scope. */
  #states(namespace: string, refs: readonly StateRef[]): (Uint8Array | undefined)[] {
    const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
    const unread = new Map<string, number[]>();
    for (const [place, { scope }] of refs.entries()) {
      if (!unread.get(scope)?.push(place)) unread.set(scope, [place]);
    }
    for (const [scope, places] of unread) {
      const ids = places.map((place) => (refs[place] as StateRef).id);
      const found = onFile(() => this.#load(namespace, scope, ids));
      for (const [i, value] of found.entries()) values[places[i] as number] = value;
    }
    return values;
  }

  #namespace(name: string): DraftedNamespace {
    const known = this.#namespaces.get(name);
    if (known) return known;
    const row = onFile(() => this.#tables.namespace(name));
    const drafted: DraftedNamespace = { row, draft: new NamespaceDraft(row?.head ?? 0) };
    this.#namespaces.set(name, drafted);
    return drafted;
  }
}
