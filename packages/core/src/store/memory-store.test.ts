import { expect, it } from "vitest";
import { memoryStore } from "./memory-store.js";
import type { LedgerEntry, Reduce } from "./store.js";

const entry = (key: string): LedgerEntry => ({ key, type: "note", at: 1, payload: Uint8Array.of(1) });

const writing = (id: string): Reduce =>
  // biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
  function* () {
    return [{ scope: "s", id, value: Uint8Array.of(9) }];
  };

it("a memory store hands out the same array while a state is unchanged, so that decoded states can be remembered", async () => {
  const store = memoryStore();
  await store.commit("n", [entry("a")], writing("one"));
  const [first] = await store.readStates("n", "s", ["one"]);
  await store.commit("n", [entry("b")], writing("other"));
  expect((await store.readStates("n", "s", ["one"]))[0]).toBe(first);
});
