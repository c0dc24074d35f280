import { QavrError } from "../errors/qavr-error.js";
import { ChangeLog } from "./change-log.js";
import type { ScannedState, ScanOptions, SequencedEntry, StateWrite, Store, TakenKey } from "./store.js";
import { assertBatch, assertEntry, assertLimit, assertName, assertState, compareNames } from "./validate.js";
import { runOn, statesIn, takenBy, WriteOverlay } from "./write-overlay.js";

type Scopes = Map<string, Map<string, Uint8Array>>;

interface Space {
  /** Entries after the checkpoint. */
  readonly entries: SequencedEntry[];
  /** Keys of all entries, also of compacted ones. */
  readonly taken: Map<string, TakenKey>;
  readonly scopes: Scopes;
  /** Place of the last entry that was dropped, and the states there. */
  base: number;
  readonly kept: Scopes;
}

/**
 * The reference store: everything in this process, nothing durable. For tests, previews and applications that may forget. Every other
 * store must behave like it under any sequence of calls.
 */
export function memoryStore(): Store {
  const spaces = new Map<string, Space>();
  const changes = new ChangeLog();
  let closed = false;

  /** @param named the namespace, if the call has one; undefined is refused */
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
        taken: new Map(),
        scopes: new Map(),
        base: 0,
        kept: new Map(),
      };
      const overlay = new WriteOverlay(headOf(target));
      const receipts = runOn(
        overlay.commit(entries, reduce, (key) => target.taken.get(key)),
        (refs) => refs.map(({ scope, id }) => target.scopes.get(scope)?.get(id)),
      );
      for (const entry of overlay.entries) {
        target.entries.push(entry);
        target.taken.set(entry.key, takenBy(entry));
      }
      const written = [...overlay.states.writes()];
      for (const state of written) write(target.scopes, state);
      changes.add(namespace, written);
      // Last: a refused commit must not list its namespace.
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
      const start = Math.max(0, after - (space?.base ?? 0));
      return (space?.entries ?? []).slice(start, start + limit);
    },

    async findKey(namespace, key) {
      enter(namespace);
      assertName(key, "idempotency key");
      return spaces.get(namespace)?.taken.get(key);
    },

    async head(namespace) {
      enter(namespace);
      return headOf(spaces.get(namespace));
    },

    async namespaces(options) {
      enter();
      return page([...spaces.keys()], options);
    },

    async atHead(namespace, { after, limit, write: writes, checkpoint: change, work }) {
      enter(namespace);
      assertLimit(limit);
      const target = spaces.get(namespace);
      const [base, head] = [target?.base ?? 0, headOf(target)];
      if (head - Math.max(after, base) > limit) return false;
      const tail = target?.entries.slice(Math.max(0, after - base)) ?? [];
      const revision = runOn(work(tail, head), (refs) =>
        refs.map(({ scope, id }) => target?.scopes.get(scope)?.get(id)),
      );
      if (!target || !revision || !writes) return true;
      const checkpoint = change ?? { seq: base, states: [] };
      for (const state of [...revision.states, ...checkpoint.states]) assertState(state);
      if (checkpoint.seq < base) return true;
      for (const state of revision.states) write(target.scopes, state);
      for (const state of checkpoint.states) write(target.kept, state);
      target.entries.splice(0, checkpoint.seq - base);
      target.base = checkpoint.seq;
      if (revision.states.length > 0) changes.forget(namespace);
      return true;
    },

    async readCheckpoint(namespace) {
      enter(namespace);
      const space = spaces.get(namespace);
      if (!space?.base) return undefined;
      const states = [...space.kept].flatMap(([scope, kept]) => [...kept].map(([id, value]) => ({ scope, id, value })));
      return { seq: space.base, states };
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

function headOf(space: Space | undefined): number {
  return space ? space.base + space.entries.length : 0;
}

function write(scopes: Scopes, { scope, id, value }: StateWrite): void {
  const states = statesIn(scopes, scope);
  if (value === null) states.delete(id);
  else states.set(id, value);
}

function page(names: string[], { after, limit }: ScanOptions): string[] {
  assertLimit(limit);
  names.sort(compareNames);
  return names.filter((name) => after === undefined || compareNames(name, after) > 0).slice(0, limit);
}
