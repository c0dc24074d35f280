import { type LedgerEntry, type Reduce, STORE_LIMITS, sameBytes } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { expectRefusal } from "../fixtures/expect-refusal.js";
import { entry } from "../fixtures/scripted-reduction.js";
import { writing } from "../fixtures/writing.js";

const { batch, payloadBytes, keyLength } = STORE_LIMITS;

/** Bytes without a pattern that a store could shorten. */
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, x = 1; i < length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}

const numbered = (count: number): LedgerEntry[] => Array.from({ length: count }, (_, i) => entry(`k${i}`));

export const limits: ConformanceTopic = {
  topic: "limits",
  cases: [
    {
      title: "keeps the largest payload, state and key that are legal",
      async run({ store }) {
        const payload = noise(payloadBytes);
        const key = "k".repeat(keyLength);
        const value = noise(payloadBytes).reverse();
        await store.commit("n", [{ ...entry(key), payload }], writing({ scope: "s", id: "m", value }));
        const [stored] = await store.readEntries("n", { limit: 1 });
        expect(stored?.key === key && sameBytes(stored.payload, payload)).toBe(true);
        const [state] = await store.readStates("n", "s", ["m"]);
        expect(state !== undefined && sameBytes(state, value)).toBe(true);
      },
    },
    {
      title: "refuses a payload or state that is a byte too large, and changes nothing",
      async run({ store }) {
        const large = new Uint8Array(payloadBytes + 1);
        const state = { scope: "s", id: "m", value: large };
        await expectRefusal(
          store.commit("n", [entry("a"), { ...entry("b"), payload: large }], writing()),
          "LIMIT_EXCEEDED",
        );
        await expectRefusal(store.commit("n", [entry("a")], writing(state)), "LIMIT_EXCEEDED");
        expect(await store.head("n")).toBe(0);
        expect(await store.namespaces({ limit: 10 })).toEqual([]);
        expect(await store.readStates("n", "s", ["m"])).toEqual([undefined]);
      },
    },
    {
      title: "refuses a time that is not a finite number, and changes nothing",
      async run({ store }) {
        for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) {
          await expectRefusal(store.commit("n", [entry("a"), { ...entry("b"), at }], writing()), "INVALID_ARGUMENT");
        }
        expect(await store.head("n")).toBe(0);
      },
    },
    {
      title: "commits the largest batch that is legal and refuses a larger one",
      async run({ store }) {
        await expectRefusal(store.commit("n", numbered(batch + 1), writing()), "LIMIT_EXCEEDED");
        expect(await store.head("n")).toBe(0);
        const receipts = await store.commit("n", numbered(batch), writing());
        expect(receipts.at(-1)).toEqual({ status: "committed", seq: batch });
        expect(await store.readEntries("n", { limit: batch })).toHaveLength(batch);
      },
    },
    {
      title: "reads the largest batch of states that is legal and refuses a larger one",
      async run({ store }) {
        const ids = Array.from({ length: batch }, (_, i) => `m${i}`);
        const write: Reduce = writing(...ids.map((id, i) => ({ scope: "s", id, value: Uint8Array.of(i, i >> 8) })));
        await store.commit("n", [entry("a")], write);
        const found = await store.readStates("n", "s", ids);
        expect(found.every((value, i) => value?.[0] === i % 256 && value[1] === i >> 8)).toBe(true);
        expect(await store.scanStates("n", "s", { limit: batch })).toHaveLength(batch);
        await expectRefusal(store.readStates("n", "s", [...ids, "more"]), "LIMIT_EXCEEDED");
      },
    },
    {
      title: "refuses a page of no size, of part of a row, or larger than a batch",
      async run({ store }) {
        for (const [limit, code] of [
          [0, "INVALID_ARGUMENT"],
          [-1, "INVALID_ARGUMENT"],
          [1.5, "INVALID_ARGUMENT"],
          [Number.NaN, "INVALID_ARGUMENT"],
          [batch + 1, "LIMIT_EXCEEDED"],
        ] as const) {
          await expectRefusal(store.scanStates("n", "s", { limit }), code);
          await expectRefusal(store.readEntries("n", { limit }), code);
          await expectRefusal(store.namespaces({ limit }), code);
        }
      },
    },
  ],
};
