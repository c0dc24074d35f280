import {
  assertState,
  type CommitReceipt,
  type LedgerEntry,
  type Reduce,
  type SequencedEntry,
  type StateRef,
  type StateWrite,
  sameBytes,
} from "@qavr/core";
import { digestOf } from "./entry-digest.js";
import type { LedgerTables, NamespaceRow } from "./ledger-tables.js";
import { StateOverlay } from "./state-overlay.js";

/** Reads states as they are in the file, through the cache. */
export type LoadStates = (namespace: string, scope: string, ids: readonly string[]) => (Uint8Array | undefined)[];

/** What a namespace gains in one transaction. */
interface NamespaceDraft {
  /** Undefined for a namespace that is not in the file yet. */
  readonly row: NamespaceRow | undefined;
  readonly name: string;
  head: number;
  readonly entries: SequencedEntry[];
  readonly byKey: Map<string, SequencedEntry>;
  readonly states: StateOverlay;
}

/**
 * The commits of one transaction, reduced in memory first: each entry is inserted and each state written once, however many
 * commits touched it, and a commit whose reduction throws leaves no trace without any savepoint. Lives under the write lock.
 */
export class CommitDraft {
  readonly #tables: LedgerTables;
  readonly #load: LoadStates;
  readonly #namespaces = new Map<string, NamespaceDraft>();

  constructor(tables: LedgerTables, load: LoadStates) {
    this.#tables = tables;
    this.#load = load;
  }

  /** Adds one commit on top of the earlier ones. @throws the reduction's error, or that of a refused write; nothing is added then. */
  add(name: string, entries: readonly LedgerEntry[], reduce: Reduce): CommitReceipt[] {
    const namespace = this.#namespace(name);
    const call: NamespaceDraft = {
      ...namespace,
      entries: [],
      byKey: new Map(),
      states: new StateOverlay(namespace.states),
    };
    const receipts = entries.map((entry) => this.#reduce(namespace, call, entry, reduce));
    namespace.head = call.head;
    for (const entry of call.entries) {
      namespace.entries.push(entry);
      namespace.byKey.set(entry.key, entry);
    }
    namespace.states.add(call.states);
    return receipts;
  }

  /** Writes everything to the file. */
  write(): void {
    for (const { name, row, entries, states } of this.#namespaces.values()) {
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
    for (const { name, states } of this.#namespaces.values()) {
      yield { namespace: name, states: [...states.writes()] };
    }
  }

  #reduce(namespace: NamespaceDraft, call: NamespaceDraft, entry: LedgerEntry, reduce: Reduce): CommitReceipt {
    const known = this.#knownKey(namespace, call, entry);
    if (known) return known;
    call.head += 1;
    const { key, type, at, payload } = entry;
    const sequenced: SequencedEntry = { key, type, at, payload, seq: call.head };
    const reduction = reduce(sequenced);
    let step = reduction.next();
    while (!step.done) step = reduction.next(this.#states(call, step.value));
    for (const write of step.value) {
      assertState(write);
      call.states.set(write);
    }
    call.entries.push(sequenced);
    call.byKey.set(key, sequenced);
    return { status: "committed", seq: sequenced.seq };
  }

  /** What to answer for a key that is taken; undefined for a new one. */
  #knownKey(
    { row, byKey }: NamespaceDraft,
    call: NamespaceDraft,
    { key, payload }: LedgerEntry,
  ): CommitReceipt | undefined {
    const known = call.byKey.get(key) ?? byKey.get(key) ?? (row && this.#tables.knownKey(row.id, key));
    if (known) return { status: sameBytes(known.payload, payload) ? "duplicate" : "conflict", seq: known.seq };
    const compacted = row && row.base > 0 ? this.#tables.compactedKey(row.id, key) : undefined;
    if (!compacted) return undefined;
    const isSame = sameBytes(compacted.payloadDigest, digestOf(payload));
    return { status: isSame ? "duplicate" : "conflict", seq: compacted.seq };
  }

  /** States as the entry must see them: this call's writes over those of earlier calls over the file, read scope by scope. */
  #states(call: NamespaceDraft, refs: readonly StateRef[]): (Uint8Array | undefined)[] {
    const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
    const unread = new Map<string, number[]>();
    for (const [place, ref] of refs.entries()) {
      const written = call.states.get(ref);
      if (written !== undefined) values[place] = written ?? undefined;
      else if (!unread.get(ref.scope)?.push(place)) unread.set(ref.scope, [place]);
    }
    for (const [scope, places] of unread) {
      const ids = places.map((place) => (refs[place] as StateRef).id);
      for (const [i, value] of this.#load(call.name, scope, ids).entries()) values[places[i] as number] = value;
    }
    return values;
  }

  #namespace(name: string): NamespaceDraft {
    const known = this.#namespaces.get(name);
    if (known) return known;
    const row = this.#tables.namespace(name);
    const draft: NamespaceDraft = {
      row,
      name,
      head: row?.head ?? 0,
      entries: [],
      byKey: new Map(),
      states: new StateOverlay(),
    };
    this.#namespaces.set(name, draft);
    return draft;
  }
}
