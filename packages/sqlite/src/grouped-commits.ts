import {
  assertUndamaged,
  type CommitReceipt,
  type LedgerEntry,
  type Reduce,
  runOn,
  type StateRef,
  type StateWrite,
  sameBytes,
  type TakenKey,
  WriteOverlay,
} from "@qavr/core/store";
import { digests, type EntryAtKey, type LedgerTables, type MarkedEnd, type NamespaceRow } from "./ledger-tables.js";
import { onFile } from "./sqlite-errors.js";

/** Reads states as they are in the file, through the cache. */
export type LoadStates = (namespace: string, scope: string, ids: readonly string[]) => (Uint8Array | undefined)[];

/** The writes of one transaction to a namespace. */
interface ChangedNamespace {
  /** Undefined for a namespace that is not in the file yet. */
  readonly row: NamespaceRow | undefined;
  readonly overlay: WriteOverlay;
}

/**
 * Looks a key up, undefined for a new one. Where payloads differ, the one in the ledger may be damaged: it is checked against its digest
 * before a retry gets a conflict.
 */
export function findKey(tables: LedgerTables, row: NamespaceRow, key: string): TakenKey | undefined {
  const known = tables.knownKey(row.id, key);
  if (known) return { seq: known.seq, hasPayload: (payload) => hasPayload(tables, row, known, payload) };
  const compacted = row.base === 0 ? undefined : tables.compactedKey(row, key);
  return (
    compacted && {
      seq: compacted.seq,
      hasPayload: (payload) => sameBytes(compacted.payloadDigest, digests.of(payload)),
    }
  );
}

/** @throws STORE_CORRUPT */
function hasPayload(tables: LedgerTables, row: NamespaceRow, known: EntryAtKey, payload: Uint8Array): boolean {
  if (sameBytes(known.payload, payload)) return true;
  onFile(() => tables.assertEntryAt(row, known.seq));
  return false;
}

/** The commits of one transaction, reduced in memory first. Valid while the write lock is held. */
export class GroupedCommits {
  readonly #tables: LedgerTables;
  readonly #load: LoadStates;
  readonly #namespaces = new Map<string, ChangedNamespace>();
  /** New end of the namespace that was written last; undefined when nothing was. */
  end: MarkedEnd | undefined;

  constructor(tables: LedgerTables, load: LoadStates) {
    this.#tables = tables;
    this.#load = load;
  }

  /** Adds one commit on top of the earlier ones. @throws the reduction's error, or that of a refused write; nothing is added then. */
  add(name: string, entries: readonly LedgerEntry[], reduce: Reduce): readonly CommitReceipt[] {
    const { row, overlay } = this.#namespace(name);
    const known = (key: string): TakenKey | undefined => row && onFile(() => findKey(this.#tables, row, key));
    return runOn(overlay.commit(entries, reduce, known), (refs) => this.#states(name, refs));
  }

  /** Writes everything to the file. */
  write(): void {
    for (const [name, { row, overlay }] of this.#namespaces) {
      const { entries, states } = overlay;
      if (entries.length === 0) continue;
      const end = this.#tables.append(name, row, entries);
      this.end = end;
      const scopeIds = new Map<string, number>();
      for (const state of states.writes()) {
        const scopeId = scopeIds.get(state.scope) ?? this.#tables.scopeId(end.id, state.scope);
        scopeIds.set(state.scope, scopeId);
        this.#tables.writeState(scopeId, state);
      }
    }
  }

  /** The last write of every state, by namespace. */
  *written(): Iterable<{ readonly namespace: string; readonly states: readonly StateWrite[] }> {
    for (const [namespace, { overlay }] of this.#namespaces) yield { namespace, states: [...overlay.states.writes()] };
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
    assertUndamaged(refs, values);
    return values;
  }

  #namespace(name: string): ChangedNamespace {
    const known = this.#namespaces.get(name);
    if (known) return known;
    const row = onFile(() => this.#tables.wholeNamespace(name));
    const changed: ChangedNamespace = { row, overlay: new WriteOverlay(row?.head ?? 0) };
    this.#namespaces.set(name, changed);
    return changed;
  }
}
