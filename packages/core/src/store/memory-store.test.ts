import { describe, expect, it } from "vitest";
import { memoryStore } from "./memory-store.js";
import { type LedgerEntry, type Reduce, STORE_LIMITS, type StateWrite, type Store } from "./store.js";

const entry = (key: string, payload = Uint8Array.of(1)): LedgerEntry => ({ key, type: "note", at: 1, payload });

/** Appends the entry's payload to one state, so that order and visibility show. */
const append: Reduce = function* ({ payload }) {
  const [before] = yield [{ scope: "s", id: "log" }];
  return [{ scope: "s", id: "log", value: Uint8Array.of(...(before ?? []), ...payload) }];
};

const writing = (...writes: StateWrite[]): Reduce =>
  // biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
  function* () {
    return writes;
  };

const read = async (store: Store): Promise<Uint8Array | undefined> => (await store.readStates("n", "s", ["log"]))[0];

describe("memoryStore", () => {
  it("lets each reduction of a commit see the ones before it", async () => {
    const store = memoryStore();
    await store.commit("n", [entry("a", Uint8Array.of(1)), entry("b", Uint8Array.of(2))], append);
    expect(await read(store)).toEqual(Uint8Array.of(1, 2));
  });

  it("keeps nothing of a commit of which one reduction throws, not even the namespace", async () => {
    const store = memoryStore();
    const failing: Reduce = function* (sequenced) {
      if (sequenced.key === "b") throw new Error("no");
      return yield* append(sequenced);
    };
    await expect(store.commit("n", [entry("a"), entry("b")], failing)).rejects.toThrow("no");
    expect([await store.head("n"), await read(store), await store.namespaces({ limit: 10 })]).toEqual([
      0,
      undefined,
      [],
    ]);
    await expect(store.commit("n", [entry("a")], append)).resolves.toEqual([{ status: "committed", seq: 1 }]);
  });

  it("hands out the same array while a state is unchanged, so that decoded states can be remembered", async () => {
    const store = memoryStore();
    await store.commit("n", [entry("a")], append);
    const first = await read(store);
    await store.commit("n", [entry("b")], writing({ scope: "s", id: "other", value: Uint8Array.of(9) }));
    expect(await read(store)).toBe(first);
  });

  it("refuses a state beyond the limits and keeps nothing of its commit", async () => {
    const store = memoryStore();
    const large = new Uint8Array(STORE_LIMITS.payloadBytes + 1);
    const commit = (write: StateWrite): Promise<unknown> => store.commit("n", [entry("a")], writing(write));
    await expect(commit({ scope: "s", id: "x", value: large })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await expect(commit({ scope: "s", id: "", value: null })).rejects.toMatchObject({ code: "INVALID_ID" });
    await expect(commit({ scope: "", id: "x", value: null })).rejects.toMatchObject({ code: "INVALID_ID" });
    expect(await store.head("n")).toBe(0);
  });

  it("refuses batches and pages beyond the limits", async () => {
    const store = memoryStore();
    const many = Array.from({ length: STORE_LIMITS.batch + 1 }, (_, i) => String(i));
    await expect(
      store.commit(
        "n",
        many.map((key) => entry(key)),
        append,
      ),
    ).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await expect(store.readStates("n", "s", many)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await expect(store.readEntries("n", { limit: 10_001 })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await expect(store.scanStates("n", "s", { limit: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(store.namespaces({ limit: 0.5 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("erases a namespace and starts it again at 1", async () => {
    const store = memoryStore();
    await store.commit("n", [entry("a")], append);
    await store.eraseNamespace("n");
    expect([await store.head("n"), await read(store), await store.namespaces({ limit: 10 })]).toEqual([
      0,
      undefined,
      [],
    ]);
    expect(await store.commit("n", [entry("a", Uint8Array.of(5))], append)).toEqual([{ status: "committed", seq: 1 }]);
  });

  it("rejects every call after close with STORE_CLOSED, and closes twice", async () => {
    const store = memoryStore();
    await store.close();
    await store.close();
    const closed = { code: "STORE_CLOSED" };
    await expect(store.commit("n", [entry("a")], append)).rejects.toMatchObject(closed);
    await expect(store.readStates("n", "s", [])).rejects.toMatchObject(closed);
    await expect(store.scanStates("n", "s", { limit: 1 })).rejects.toMatchObject(closed);
    await expect(store.readEntries("n", { limit: 1 })).rejects.toMatchObject(closed);
    await expect(store.head("n")).rejects.toMatchObject(closed);
    await expect(store.namespaces({ limit: 1 })).rejects.toMatchObject(closed);
    await expect(store.eraseNamespace("n")).rejects.toMatchObject(closed);
  });
});
