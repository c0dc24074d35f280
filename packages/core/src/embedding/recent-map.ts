/** A map that forgets its oldest entries. */
export interface RecentMap<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  readonly size: number;
}

/**
 * Holds at least the last `limit / 2` entries and at most `limit`. Two generations, the older of which is dropped as a whole:
 * in one big `Map`, finding the oldest entry would walk over all deleted ones each time.
 */
export function recentMap<Key, Value>(limit: number): RecentMap<Key, Value> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    has: (key) => young.has(key) || old.has(key),
    set(key, value) {
      old.delete(key);
      young.set(key, value);
      if (young.size < limit / 2) return;
      old = young;
      young = new Map();
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    get size() {
      return young.size + old.size;
    },
  };
}
