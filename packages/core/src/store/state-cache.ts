/** A cached state: its bytes, or undefined for a state that does not exist. Linked by last use. */
interface CachedState {
  readonly scope: Scope;
  readonly id: string;
  value: Uint8Array | undefined;
  bytes: number;
  older: CachedState | undefined;
  newer: CachedState | undefined;
}

interface Scope {
  readonly namespace: string;
  readonly name: string;
  readonly states: Map<string, CachedState>;
}

/** Estimated cost of an entry beyond its value and id, in bytes: two objects, a map slot, the array's header. */
const ENTRY_BYTES = 160;

/**
 * States by namespace, scope and id, bounded by bytes: the least recently used are dropped first. Also caches that a state does not
 * exist. Returns the very array that was written, so that callers may cache decoded values by its identity.
 */
export class StateCache {
  readonly #capacity: number;
  /** By namespace and name. */
  readonly #scopes = new Map<string, Map<string, Scope>>();
  #oldest: CachedState | undefined;
  #newest: CachedState | undefined;
  #bytes = 0;

  /** @param capacity in bytes; 0 keeps nothing */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes accounted for, never above the capacity. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Fills `values` (parallel to `ids`) with cached states and returns the places of the others. */
  read(namespace: string, scope: string, ids: readonly string[], values: (Uint8Array | undefined)[]): number[] {
    const states = this.#scopes.get(namespace)?.get(scope)?.states;
    const unknown: number[] = [];
    for (let place = 0; place < ids.length; place++) {
      const cached = states?.get(ids[place] as string);
      if (!cached) {
        unknown.push(place);
        continue;
      }
      this.#touch(cached);
      values[place] = cached.value;
    }
    return unknown;
  }

  /** Caches the current value of a state; undefined: it does not exist. */
  write(namespace: string, scope: string, id: string, value: Uint8Array | undefined): void {
    const bytes = ENTRY_BYTES + 2 * id.length + (value?.byteLength ?? 0);
    const known = this.#scopes.get(namespace)?.get(scope)?.states.get(id);
    if (known) this.#drop(known);
    if (bytes > this.#capacity) return;
    const target = this.#scope(namespace, scope);
    const cached: CachedState = { scope: target, id, value, bytes, older: undefined, newer: undefined };
    target.states.set(id, cached);
    this.#append(cached);
    this.#bytes += bytes;
    while (this.#bytes > this.#capacity) this.#drop(this.#oldest as CachedState);
  }

  /** Forgets every state of a namespace. */
  forget(namespace: string): void {
    for (const { states } of this.#scopes.get(namespace)?.values() ?? []) {
      for (const cached of states.values()) this.#drop(cached);
    }
  }

  clear(): void {
    this.#scopes.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#bytes = 0;
  }

  #touch(cached: CachedState): void {
    if (cached === this.#newest) return;
    this.#unlink(cached);
    this.#append(cached);
  }

  #drop(cached: CachedState): void {
    this.#unlink(cached);
    this.#bytes -= cached.bytes;
    const { namespace, name, states } = cached.scope;
    states.delete(cached.id);
    if (states.size > 0) return;
    const scopes = this.#scopes.get(namespace);
    scopes?.delete(name);
    if (scopes?.size === 0) this.#scopes.delete(namespace);
  }

  #scope(namespace: string, name: string): Scope {
    let scopes = this.#scopes.get(namespace);
    if (!scopes) {
      scopes = new Map();
      this.#scopes.set(namespace, scopes);
    }
    let scope = scopes.get(name);
    if (!scope) {
      scope = { namespace, name, states: new Map() };
      scopes.set(name, scope);
    }
    return scope;
  }

  #append(cached: CachedState): void {
    cached.older = this.#newest;
    cached.newer = undefined;
    if (this.#newest) this.#newest.newer = cached;
    else this.#oldest = cached;
    this.#newest = cached;
  }

  #unlink(cached: CachedState): void {
    if (cached.older) cached.older.newer = cached.newer;
    else this.#oldest = cached.newer;
    if (cached.newer) cached.newer.older = cached.older;
    else this.#newest = cached.older;
  }
}
