import type { Reduce } from "@qavr/core/store";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import type { sqliteStore } from "../src/index.js";
import { runChild } from "./support/child.js";
import { interceptSqlite } from "./support/fault-injection.js";
import { SHARES_FILES } from "./support/sharing.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

const read = async (store: ReturnType<typeof sqliteStore>): Promise<Uint8Array | undefined> =>
  (await store.readStates("n", "stats", ["count"]))[0];

describe("the state cache of a store", () => {
  it("returns the same array while a state is unchanged, and another one when it has changed", async () => {
    const store = openStore(tempLedger());
    await store.commit("n", [tally("a")], counting);
    const first = await read(store);
    expect(await read(store)).toBe(first);
    await store.commit("m", [tally("a")], counting);
    expect(await read(store)).toBe(first);
    await store.commit("n", [tally("b")], counting);
    expect(await read(store)).not.toBe(first);
  });

  it.runIf(SHARES_FILES)("is dropped when another handle has committed", async () => {
    const path = tempLedger();
    const [store, other] = [openStore(path), openStore(path)];
    await store.commit("n", [tally("a")], counting);
    const first = await read(store);
    await other.commit("m", [tally("a")], counting);
    expect(await read(store)).not.toBe(first);
    expect(await read(store)).toEqual(first);
    await other.commit("n", [tally("b")], counting);
    expect(await countIn(store)).toBe(2);
  });

  it.runIf(SHARES_FILES)("is dropped when another process has committed", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    expect(await countIn(store)).toBe(1);
    expect(await runChild("count.mjs", [path, "child", "5"])).toEqual({ code: 0, stdout: "5\n", stderr: "" });
    expect(await countIn(store)).toBe(6);
  });

  it("may be switched off", async () => {
    const store = openStore({ path: tempLedger(), cacheBytes: 0 });
    await store.commit("n", [tally("a")], counting);
    expect(await read(store)).toEqual(await read(store));
    expect(await read(store)).not.toBe(await read(store));
  });

  it("holds no more than its bytes after any number of outcomes: the states that were used last", async () => {
    const store = openStore({ path: tempLedger(), cacheBytes: 16 * 1024 });
    // biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
    const learn: Reduce = function* ({ seq }) {
      return [{ scope: "memory:docs", id: `m${seq}`, value: new Uint8Array(1024) }];
    };
    for (let n = 1; n <= 100; n++) await store.commit("n", [tally(`k${n}`)], learn);
    let asked = false;
    interceptSqlite((run, sql) => {
      asked ||= sql?.includes("state") ?? false;
      return run();
    });
    const kept: number[] = [];
    for (let n = 100; n > 0; n--) {
      asked = false;
      await store.readStates("n", "memory:docs", [`m${n}`]);
      if (!asked) kept.push(n);
    }
    // A KiB each, and what an entry costs beyond it.
    expect(kept).toEqual([100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88]);
  });
});
