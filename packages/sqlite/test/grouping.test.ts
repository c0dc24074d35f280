import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it, vi } from "vitest";
import { countIn, counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";
import { walCommits } from "./support/wal-commits.js";

describe("commits", () => {
  it("of one tick share one transaction, whatever their namespaces", async () => {
    const { path, store } = newLedger();
    const before = walCommits(path);
    const calls = Array.from({ length: 200 }, (_, i) => store.commit(`n${i % 5}`, [tally(`k${i}`)], counting));
    const receipts = (await Promise.all(calls)).flat();
    expect(walCommits(path) - before).toBe(1);
    expect(receipts.every(({ status }) => status === "committed")).toBe(true);
    expect(await countIn(store, "n3")).toBe(40);
  });

  it("of different ticks have a transaction each", async () => {
    const { path, store } = newLedger();
    const before = walCommits(path);
    for (let i = 0; i < 5; i++) await store.commit("n", [tally(`k${i}`)], counting);
    expect(walCommits(path) - before).toBe(5);
  });

  it("succeed where a test fakes the timers before the package is loaded", async () => {
    vi.useFakeTimers();
    try {
      vi.resetModules();
      const loaded = await import("../src/index.js");
      const store = loaded.sqliteStore(tempLedger());
      await store.commit("n", [tally("a")], counting);
      expect(await countIn(store, "n")).toBe(1);
      await store.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it("that bring nothing new write nothing", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    const before = walCommits(path);
    await Promise.all([store.commit("n", [tally("a")], counting), store.commit("n", [], counting)]);
    expect(walCommits(path)).toBe(before);
  });

  it("that throw leave the others of their transaction alone", async () => {
    const { path, store } = newLedger();
    const before = walCommits(path);
    const failure = new Error("The reduction failed on purpose.");
    const settled = await Promise.allSettled([
      store.commit("n", [tally("a")], counting),
      store.commit("n", [tally("b"), tally("c")], function* (entry) {
        if (entry.key === "c") throw failure;
        return yield* counting();
      }),
      store.commit("n", [tally("d")], counting),
    ]);
    expect(settled).toEqual([
      { status: "fulfilled", value: [{ status: "committed", seq: 1 }] },
      { status: "rejected", reason: failure },
      { status: "fulfilled", value: [{ status: "committed", seq: 2 }] },
    ]);
    expect(walCommits(path) - before).toBe(1);
    expect(await countIn(store)).toBe(2);
  });

  it("and other writes of one tick happen in the order they were asked for", async () => {
    const store = openStore(tempLedger());
    const [, wrote, second, , third] = await Promise.all([
      store.commit("n", [tally("a")], counting),
      writeStates(store, "n", [NO_COUNT]),
      store.commit("n", [tally("b")], counting),
      store.eraseNamespace("n"),
      store.commit("n", [tally("a")], counting),
    ]);
    expect(wrote).toBe(true);
    expect(second).toEqual([{ status: "committed", seq: 2 }]);
    expect(third).toEqual([{ status: "committed", seq: 1 }]);
    expect(await countIn(store)).toBe(1);
  });

  it("beyond a thousand of one tick are spread over transactions, none lost", async () => {
    const { path, store } = newLedger();
    const before = walCommits(path);
    await Promise.all(Array.from({ length: 2_500 }, (_, i) => store.commit("n", [tally(`k${i}`)], counting)));
    expect(walCommits(path) - before).toBe(3);
    expect(await countIn(store)).toBe(2_500);
  });
});
