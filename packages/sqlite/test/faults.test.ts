import { QavrError, type Store } from "@qavr/core";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { countIn, counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { diskError, interceptSqlite } from "./support/fault-injection.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

/** Writes of one tick, in three namespaces. */
const writes: readonly { readonly title: string; run(store: Store): Promise<unknown> }[] = [
  { title: "commit a", run: (store) => store.commit("n", [tally("a"), tally("b")], counting) },
  { title: "commit again", run: (store) => store.commit("n", [tally("b"), tally("c")], counting) },
  { title: "commit elsewhere", run: (store) => store.commit("m", [tally("a")], counting) },
  { title: "write at the head", run: (store) => writeStates(store, "old", [NO_COUNT]) },
  { title: "erase", run: (store) => store.eraseNamespace("older") },
];

async function heads(store: Store): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of ["n", "m", "old", "older"]) found[name] = await store.head(name);
  return found;
}

describe("a store whose disk fails", () => {
  it("at any one call acknowledges nothing that is not there, and finishes everything when asked again", async () => {
    let failing = 0;
    for (let hit = true; hit; failing++) {
      const { store } = newLedger();
      for (const name of ["old", "older"]) await store.commit(name, [tally("a")], counting);
      let calls = 0;
      hit = false;
      const restore = interceptSqlite((run) => {
        if (calls++ !== failing) return run();
        hit = true;
        throw diskError();
      });
      const settled = await Promise.allSettled(writes.map((write) => write.run(store)));
      restore();
      for (const outcome of settled) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "STORE_FAILED" });
      }
      const kept = await heads(store);
      // "b" is committed by whichever of the two calls went through first.
      expect([0, 2, 3]).toContain(kept.n);
      if (settled[0]?.status === "fulfilled" || settled[1]?.status === "fulfilled") expect(kept.n).toBeGreaterThan(0);
      if (settled[2]?.status === "fulfilled") expect(kept.m).toBe(1);
      expect([await countIn(store, "n"), await countIn(store, "m")]).toEqual([kept.n, kept.m]);
      for (const write of writes) await write.run(store);
      expect(await heads(store)).toEqual({ n: 3, m: 1, old: 1, older: 0 });
      expect([await countIn(store, "n"), await countIn(store, "m"), await countIn(store, "old")]).toEqual([3, 1, 0]);
      await store.close();
    }
    // Every statement of three transactions was hit once.
    expect(failing).toBeGreaterThan(30);
  });

  it("after a commit that succeeded rejects it, and answers the retry with the first place", async () => {
    const store = openStore(tempLedger());
    expect(await countIn(store)).toBe(0);
    const cursor = store.changesSince?.("n", 0).cursor ?? 0;
    const restore = interceptSqlite((run, sql) => {
      const result = run();
      if (sql === "COMMIT") throw diskError();
      return result;
    });
    const failed = await store.commit("n", [tally("a")], counting).catch((error: unknown) => error);
    restore();
    expect(QavrError.isInstance(failed, "STORE_FAILED")).toBe(true);
    // Nothing remembered may stand: neither here nor with a reader that keeps states.
    expect(await countIn(store)).toBe(1);
    expect(store.changesSince?.("n", cursor).written).toBeUndefined();
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "duplicate", seq: 1 }]);
    expect(await countIn(store)).toBe(1);
  });
});
