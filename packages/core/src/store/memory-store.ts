import { QavrError } from "../errors/qavr-error.js";
import { ChangeLog } from "./change-log.js";
import { stateAddress } from "./state-address.js";
import type {
  Checkpoint,
  CommitReceipt,
  LedgerEntry,
  Reduce,
  ScannedState,
  ScanOptions,
  SequencedEntry,
  StateRef,
  StateWrite,
  Store,
} from "./store.js";
import {
  assertBatch,
  assertCompaction,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  keptTime,
  sameBytes,
} from "./validate.js";

type Scopes = Map<string, Map<string, Uint8Array>>;

interface Space {
  /** Those after the checkpoint. */
  readonly entries: SequencedEntry[];
  /** All that ever were. */
  readonly byKey: Map<string, SequencedEntry>;
  scopes: Scopes;
  checkpoint: Checkpoint | undefined;
}

/**
 * The reference store: everything in this process, nothing durable. For tests, previews and applications that may forget.
 * Every other store must be indistinguishable from it under any sequence of calls.
 */
export function memoryStore(): Store {
  const spaces = new Map<string, Space>();
  const changes = new ChangeLog();
  let closed = false;

  /** @param named the namespace, of calls that have one: one that is undefined is none */
  const enter = (...named: readonly unknown[]): void => {
    if (closed) throw new QavrError("STORE_CLOSED", "The memory store was closed before this call. Create a new one.");
    for (const namespace of named) assertName(namespace, "namespace");
  };
  return {
    name: "memory",
    capabilities: { durable: false, sharedBackend: false },

    async commit(namespace, entries, reduce) {
      enter(namespace);
      assertBatch(entries.length, "commit");
      for (const entry of entries) assertEntry(entry);
      const target: Space = spaces.get(namespace) ?? {
        entries: [],
        byKey: new Map(),
        scopes: new Map(),
        checkpoint: undefined,
      };
      const draft = new Draft(target);
      const receipts = entries.map((entry) => draft.add(entry, reduce));
      changes.add(namespace, draft.publish());
      // Only now: a commit that was refused must not make its namespace known.
      if (headOf(target) > 0) spaces.set(namespace, target);
      return receipts;
    },

    async readStates(namespace, scope, ids) {
      enter(namespace);
      assertName(scope, "state scope");
      assertBatch(ids.length, "read");
      for (const id of ids) assertName(id, "state id");
      const states = spaces.get(namespace)?.scopes.get(scope);
      return ids.map((id) => states?.get(id));
    },

    changesSince: (namespace, cursor) => changes.since(namespace, cursor),

    async scanStates(namespace, scope, options) {
      enter(namespace);
      assertName(scope, "state scope");
      const states = spaces.get(namespace)?.scopes.get(scope) ?? new Map<string, Uint8Array>();
      return page([...states.keys()], options).map((id): ScannedState => ({ id, value: states.get(id) as Uint8Array }));
    },

    async readEntries(namespace, { after = 0, limit }) {
      enter(namespace);
      assertLimit(limit);
      const space = spaces.get(namespace);
      const start = Math.max(0, after - (space?.checkpoint?.seq ?? 0));
      return (space?.entries ?? []).slice(start, start + limit);
    },

    async head(namespace) {
      enter(namespace);
      return headOf(spaces.get(namespace));
    },

    async namespaces(options) {
      enter();
      return page([...spaces.keys()], options);
    },

    async replaceStates(namespace, head, states) {
      enter(namespace);
      for (const state of states) assertState(state);
      const target = spaces.get(namespace);
      if (headOf(target) !== head) return false;
      if (target) {
        target.scopes = scopesOf(states);
        changes.forget(namespace);
      }
      return true;
    },

    async compact(namespace, compaction) {
      enter(namespace);
      const target = spaces.get(namespace);
      assertCompaction(compaction, target?.checkpoint?.seq ?? 0);
      const { head, through, checkpoint, states } = compaction;
      if (!target || headOf(target) !== head) return false;
      target.entries.splice(0, through - (target.checkpoint?.seq ?? 0));
      target.checkpoint = { seq: through, states: checkpoint.filter(({ value }) => value !== null) };
      target.scopes = scopesOf(states);
      changes.forget(namespace);
      return true;
    },

    async readCheckpoint(namespace) {
      enter(namespace);
      return spaces.get(namespace)?.checkpoint;
    },

    async eraseNamespace(namespace) {
      enter(namespace);
      spaces.delete(namespace);
      changes.forget(namespace);
    },

    async close() {
      closed = true;
      spaces.clear();
    },
  };
}

/** Entries and writes of one commit, kept aside until all its reductions are through. */
class Draft {
  readonly #space: Space;
  readonly #entries: SequencedEntry[] = [];
  readonly #byKey = new Map<string, SequencedEntry>();
  readonly #writes = new Map<string, StateWrite>();

  constructor(target: Space) {
    this.#space = target;
  }

  add(entry: LedgerEntry, reduce: Reduce): CommitReceipt {
    const known = this.#space.byKey.get(entry.key) ?? this.#byKey.get(entry.key);
    if (known) {
      return { status: sameBytes(known.payload, entry.payload) ? "duplicate" : "conflict", seq: known.seq };
    }
    const { key, type, at, payload } = entry;
    const sequenced: SequencedEntry = {
      key,
      type,
      at: keptTime(at),
      payload,
      seq: headOf(this.#space) + this.#entries.length + 1,
    };
    this.#entries.push(sequenced);
    this.#byKey.set(key, sequenced);
    const reduction = reduce(sequenced);
    let step = reduction.next();
    while (!step.done) step = reduction.next(step.value.map((ref) => this.#read(ref)));
    for (const state of step.value) {
      assertState(state);
      this.#writes.set(stateAddress(state), state);
    }
    return { status: "committed", seq: sequenced.seq };
  }

  /** Makes everything visible and returns what was written. */
  publish(): readonly StateRef[] {
    for (const entry of this.#entries) {
      this.#space.entries.push(entry);
      this.#space.byKey.set(entry.key, entry);
    }
    const written = [...this.#writes.values()];
    for (const state of written) write(this.#space.scopes, state);
    return written;
  }

  #read(ref: StateRef): Uint8Array | undefined {
    const written = this.#writes.size > 0 ? this.#writes.get(stateAddress(ref)) : undefined;
    return written ? (written.value ?? undefined) : this.#space.scopes.get(ref.scope)?.get(ref.id);
  }
}

function headOf(space: Space | undefined): number {
  return space ? (space.checkpoint?.seq ?? 0) + space.entries.length : 0;
}

function scopesOf(states: readonly StateWrite[]): Scopes {
  const scopes: Scopes = new Map();
  for (const state of states) write(scopes, state);
  return scopes;
}

function write(scopes: Scopes, state: StateWrite): void {
  let states = scopes.get(state.scope);
  if (!states) {
    states = new Map();
    scopes.set(state.scope, states);
  }
  if (state.value === null) states.delete(state.id);
  else states.set(state.id, state.value);
}

function page(names: string[], { after, limit }: ScanOptions): string[] {
  assertLimit(limit);
  names.sort();
  return names.filter((name) => after === undefined || name > after).slice(0, limit);
}
