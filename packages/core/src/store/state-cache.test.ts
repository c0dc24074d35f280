import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StateCache } from "./state-cache.js";

const kilobyte = (): Uint8Array => new Uint8Array(1024);

/** Which of `ids` the cache knows. Reading counts as a use, as it does for callers. */
function known(cache: StateCache, ids: readonly string[]): string[] {
  const unknown = new Set(cache.read("n", "s", ids, []));
  return ids.filter((_, place) => !unknown.has(place));
}

describe("StateCache", () => {
  it("forgets one namespace with all its scopes and leaves the others, whatever they are called", () => {
    const cache = new StateCache(100_000);
    for (const namespace of ["n", "n1", ""]) {
      for (const scope of ["s", "1s"]) cache.write(namespace, scope, "a", kilobyte());
    }
    const third = cache.bytes / 3;
    cache.forget("n");
    cache.forget("never seen");
    const known = (namespace: string) => ["s", "1s"].filter((s) => cache.read(namespace, s, ["a"], []).length === 0);
    expect([known("n"), known("n1"), known("")]).toEqual([[], ["s", "1s"], ["s", "1s"]]);
    expect(cache.bytes).toBe(2 * third);
    cache.write("n", "s", "a", undefined);
    expect(known("n")).toEqual(["s"]);
  });

  it("returns the array it was given, in the order asked for, and names the places it does not know", () => {
    const cache = new StateCache(100_000);
    const [a, b] = [kilobyte(), kilobyte()];
    cache.write("n", "s", "a", a);
    cache.write("n", "s", "b", b);
    const values: (Uint8Array | undefined)[] = [];
    expect(cache.read("n", "s", ["b", "c", "a", "b"], values)).toEqual([1]);
    expect(values[0]).toBe(b);
    expect(values[2]).toBe(a);
    expect(values[3]).toBe(b);
  });

  it("knows that a state does not exist", () => {
    const cache = new StateCache(100_000);
    cache.write("n", "s", "absent", undefined);
    const values: (Uint8Array | undefined)[] = [kilobyte()];
    expect(cache.read("n", "s", ["absent"], values)).toEqual([]);
    expect(values).toEqual([undefined]);
  });

  it("keeps nothing that is larger than the whole cache, and nothing at all with a capacity of 0", () => {
    const cache = new StateCache(2_000);
    cache.write("n", "s", "a", kilobyte());
    cache.write("n", "s", "huge", new Uint8Array(5_000));
    expect(known(cache, ["a", "huge"])).toEqual(["a"]);
    const none = new StateCache(0);
    none.write("n", "s", "a", undefined);
    expect(known(none, ["a"])).toEqual([]);
  });

  it("forgets the old value of a state that has become too large to keep", () => {
    const cache = new StateCache(2_000);
    cache.write("n", "s", "a", kilobyte());
    cache.write("n", "s", "a", new Uint8Array(5_000));
    expect(known(cache, ["a"])).toEqual([]);
    expect(cache.bytes).toBe(0);
  });

  it("agrees with a plain list of uses under any sequence of writes and reads", () => {
    const id = fc.constantFrom("a", "ab", "b", "1:a", "c", "d");
    const scope = fc.constantFrom("s", "s1", "1:s");
    const steps = fc.array(fc.tuple(scope, id, fc.option(fc.nat({ max: 900 }), { freq: 3 })), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (sequence) => {
        const cache = new StateCache(2_500);
        // The oracle: every state with its cost, least recently used first.
        let oracle: { scope: string; id: string; value: Uint8Array; cost: number }[] = [];
        const without = (s: string, i: string) => oracle.filter((entry) => entry.scope !== s || entry.id !== i);
        for (const [s, i, length] of sequence) {
          if (length === null) {
            const values: (Uint8Array | undefined)[] = [];
            cache.read("n", s, [i], values);
            const found = oracle.find((entry) => entry.scope === s && entry.id === i);
            expect(values[0]).toBe(found?.value);
            if (found) oracle = [...without(s, i), found];
          } else {
            const value = new Uint8Array(length);
            const cost = 160 + 2 * i.length + length;
            cache.write("n", s, i, value);
            oracle = [...without(s, i), { scope: s, id: i, value, cost }];
            while (oracle.reduce((sum, entry) => sum + entry.cost, 0) > 2_500) oracle.shift();
          }
          expect(cache.bytes).toBe(oracle.reduce((sum, entry) => sum + entry.cost, 0));
        }
      }),
    );
  });
});
