import { describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.js";
import { runChild } from "./support/child.js";
import { countIn, counting, tally } from "./support/counting.js";
import { SHARES_FILES } from "./support/sharing.js";
import { tempLedger } from "./support/temp-folder.js";

const read = async (store: ReturnType<typeof sqliteStore>): Promise<Uint8Array | undefined> =>
  (await store.readStates("n", "stats", ["count"]))[0];

describe("the state cache of a store", () => {
  it("returns the same array while a state is unchanged, and another one when it has changed", async () => {
    const store = sqliteStore(tempLedger());
    await store.commit("n", [tally("a")], counting);
    const first = await read(store);
    expect(await read(store)).toBe(first);
    await store.commit("m", [tally("a")], counting);
    expect(await read(store)).toBe(first);
    await store.commit("n", [tally("b")], counting);
    expect(await read(store)).not.toBe(first);
    await store.close();
  });

  it.runIf(SHARES_FILES)("is dropped when another handle has committed", async () => {
    const path = tempLedger();
    const [store, other] = [sqliteStore(path), sqliteStore(path)];
    await store.commit("n", [tally("a")], counting);
    const first = await read(store);
    await other.commit("m", [tally("a")], counting);
    expect(await read(store)).not.toBe(first);
    expect(await read(store)).toEqual(first);
    await other.commit("n", [tally("b")], counting);
    expect(await countIn(store)).toBe(2);
    await Promise.all([store.close(), other.close()]);
  });

  it.runIf(SHARES_FILES)("is dropped when another process has committed", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    expect(await countIn(store)).toBe(1);
    expect(await runChild("count.mjs", [path, "child", "5"])).toEqual({ code: 0, stdout: "5\n", stderr: "" });
    expect(await countIn(store)).toBe(6);
    await store.close();
  });

  it("may be switched off", async () => {
    const store = sqliteStore({ path: tempLedger(), cacheBytes: 0 });
    await store.commit("n", [tally("a")], counting);
    expect(await read(store)).toEqual(await read(store));
    expect(await read(store)).not.toBe(await read(store));
    await store.close();
  });
});
