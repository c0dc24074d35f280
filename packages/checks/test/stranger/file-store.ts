import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { QavrError } from "@qavr/core";
import {
  assertBatch,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  runOn,
  type ScanOptions,
  type SequencedEntry,
  type StateWrite,
  type Store,
  sameBytes,
  WriteOverlay,
} from "@qavr/core/store";

interface Namespace {
  entries: SequencedEntry[];
  readonly scopes: Map<string, Map<string, Uint8Array>>;
}

/** Everything in one file, which every commit writes anew: for one process and small ledgers. */
export function fileStore(path: string): Store {
  const spaces: Map<string, Namespace> = existsSync(path) ? deserialize(readFileSync(path)) : new Map();
  let closed = false;

  const enter = (...namespaces: readonly string[]): void => {
    if (closed) throw new QavrError("STORE_CLOSED", "The file store was closed before this call. Open it again.");
    for (const namespace of namespaces) assertName(namespace, "namespace");
  };
  const save = (): void => {
    writeFileSync(`${path}.new`, serialize(spaces), { flush: true });
    renameSync(`${path}.new`, path);
  };
  return {
    name: "file",
    capabilities: { durable: true, sharedBackend: false },

    async commit(namespace, entries, reduce) {
      enter(namespace);
      assertBatch(entries.length, "commit");
      for (const entry of entries) assertEntry(entry);
      const space: Namespace = spaces.get(namespace) ?? { entries: [], scopes: new Map() };
      const overlay = new WriteOverlay(space.entries.length);
      const receipts = runOn(overlay.commit(entries, reduce, takenIn(space)), (refs) =>
        refs.map(({ scope, id }) => space.scopes.get(scope)?.get(id)),
      );
      space.entries.push(...overlay.entries);
      for (const write of overlay.states.writes()) put(space, write);
      if (space.entries.length > 0) spaces.set(namespace, space);
      save();
      return receipts;
    },

    async readStates(namespace, scope, ids) {
      enter(namespace);
      assertName(scope, "state scope");
      assertBatch(ids.length, "read");
      for (const id of ids) assertName(id, "state id");
      return ids.map((id) => spaces.get(namespace)?.scopes.get(scope)?.get(id));
    },

    async scanStates(namespace, scope, options) {
      enter(namespace);
      assertName(scope, "state scope");
      const states = spaces.get(namespace)?.scopes.get(scope) ?? new Map<string, Uint8Array>();
      return page(states.keys(), options).map((id) => ({ id, value: states.get(id) as Uint8Array }));
    },

    async readEntries(namespace, { after = 0, limit }) {
      enter(namespace);
      assertLimit(limit);
      return (spaces.get(namespace)?.entries ?? []).slice(after, after + limit);
    },

    async findKey(namespace, key) {
      enter(namespace);
      assertName(key, "idempotency key");
      const space = spaces.get(namespace);
      return space && takenIn(space)(key);
    },

    async head(namespace) {
      enter(namespace);
      return spaces.get(namespace)?.entries.length ?? 0;
    },

    async namespaces(options) {
      enter();
      return page(spaces.keys(), options);
    },

    async atHead(namespace, { after, limit, write, work }) {
      enter(namespace);
      assertLimit(limit);
      const space = spaces.get(namespace);
      const head = space?.entries.length ?? 0;
      if (head - after > limit) return false;
      const revision = runOn(work(space?.entries.slice(after) ?? [], head), (refs) =>
        refs.map(({ scope, id }) => space?.scopes.get(scope)?.get(id)),
      );
      if (!space || !revision || !write) return true;
      for (const state of revision.states) assertState(state);
      for (const state of revision.states) put(space, state);
      save();
      return true;
    },

    async eraseNamespace(namespace) {
      enter(namespace);
      spaces.delete(namespace);
      save();
    },

    async close() {
      closed = true;
    },
  };
}

function put({ scopes }: Namespace, { scope, id, value }: StateWrite): void {
  const states = scopes.get(scope) ?? new Map<string, Uint8Array>();
  scopes.set(scope, states);
  if (value === null) states.delete(id);
  else states.set(id, value);
}

const takenIn =
  ({ entries }: Namespace) =>
  (key: string) => {
    const earlier = entries.find((entry) => entry.key === key);
    return earlier && { seq: earlier.seq, hasPayload: (payload: Uint8Array) => sameBytes(earlier.payload, payload) };
  };

function page(names: Iterable<string>, { after, limit }: ScanOptions): string[] {
  assertLimit(limit);
  const sorted = [...names].sort();
  return sorted.filter((name) => after === undefined || name > after).slice(0, limit);
}
