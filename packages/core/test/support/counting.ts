import type { Store } from "../../src/index.js";
import type { LedgerEntry, ReadOptions, Reduction, StateWrite } from "../../src/store-kit.js";

/** An outcome in the smallest form: adds one to a count. */
export function tally(key: string): LedgerEntry {
  return { key, type: "tally", at: 1_700_000_000_000, payload: new TextEncoder().encode(key) };
}

const COUNT = { scope: "stats", id: "count" };

/** Counts entries in one state, as text. */
export function* counting(): Reduction {
  const [bytes] = yield [COUNT];
  const count = bytes === undefined ? 1 : Number(new TextDecoder().decode(bytes)) + 1;
  return [{ ...COUNT, value: new TextEncoder().encode(String(count)) }];
}

/** Removes the count. */
export const NO_COUNT: StateWrite = { scope: "stats", id: "count", value: null };

/** The count of {@link counting}. */
export async function countIn(store: Store, namespace = "n", options: ReadOptions = {}): Promise<number> {
  const [bytes] = await store.readStates(namespace, "stats", ["count"], options);
  return bytes === undefined ? 0 : Number(new TextDecoder().decode(bytes));
}
