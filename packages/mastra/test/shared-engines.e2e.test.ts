import { memoryStore, type Store } from "@qavr/core";
import { qavrVector } from "@qavr/mastra";
import { describe, expect, it, vi } from "vitest";
import { bench } from "./support/bench.js";
import { collectGarbage } from "./support/collect-garbage.js";
import { libsql } from "./support/stores.js";

/** How many users the engines on a store are known to have. */
function usersOn(store: Store): number {
  const { byStore } = (globalThis as never)[Symbol.for("qavr.mastra.engines")] as {
    readonly byStore: WeakMap<Store, Set<{ readonly users: Set<unknown> }>>;
  };
  return [...(byStore.get(store) ?? [])].reduce((sum, { users }) => sum + users.size, 0);
}

describe("an engine that many share", () => {
  const { storage, vector } = libsql();

  it.each<[string, (store: Store) => unknown]>([
    ["memories", (store) => bench({ store }, { storage, vector }).memory],
    ["wrapped vector stores", (store) => qavrVector(vector, { store })],
  ])("forgets those %s that are gone", async (_what, make) => {
    const store = memoryStore();
    const kept = make(store);
    for (let at = 0; at < 50; at++) make(store);
    await vi.waitFor(
      () => {
        collectGarbage();
        expect(usersOn(store)).toBeLessThan(10);
      },
      { timeout: 5_000 },
    );
    expect(usersOn(store)).toBeGreaterThan(0);
    expect(kept).toBeDefined();
  });
});
