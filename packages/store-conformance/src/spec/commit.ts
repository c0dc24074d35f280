import type { LedgerEntry } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writing } from "../fixtures/writing.js";

const counter = { scope: "stats", id: "count" };

export const commit: ConformanceTopic = {
  topic: "commit",
  cases: [
    {
      title: "numbers entries from 1 without gaps, in the order given",
      async run({ store }) {
        expect(await store.head("n")).toBe(0);
        expect(await store.commit("n", [entry("a"), entry("b")], scriptedReduction)).toEqual([
          { status: "committed", seq: 1 },
          { status: "committed", seq: 2 },
        ]);
        expect(await store.commit("n", [entry("c")], scriptedReduction)).toEqual([{ status: "committed", seq: 3 }]);
        expect(await store.head("n")).toBe(3);
        expect((await allEntries(store, "n")).map(({ key, seq }) => [key, seq])).toEqual([
          ["a", 1],
          ["b", 2],
          ["c", 3],
        ]);
      },
    },
    {
      title: "shows an entry what earlier entries of the same call wrote",
      async run({ store }) {
        const entries = ["a", "b", "c"].map((key) => entry(key, { link: [counter] }));
        await store.commit("n", entries, scriptedReduction);
        const [bytes] = await store.readStates("n", counter.scope, [counter.id]);
        expect(linksOf(bytes)).toBe(3);
      },
    },
    {
      title: "shows an entry that a state was removed earlier in the same call",
      async run({ store }) {
        await store.commit("n", [entry("a", { link: [counter] })], scriptedReduction);
        const later = [entry("b", { remove: [counter] }), entry("c", { link: [counter] })];
        await store.commit("n", later, scriptedReduction);
        const [bytes] = await store.readStates("n", counter.scope, [counter.id]);
        expect(linksOf(bytes)).toBe(1);
      },
    },
    {
      title: "makes every write of a call visible once it is acknowledged, the last one of a state counting",
      async run({ store }) {
        const states = Array.from({ length: 40 }, (_, i) => ({ scope: "s", id: `id-${i}`, value: Uint8Array.of(i) }));
        const overwritten = { scope: "s", id: "id-0", value: Uint8Array.of(99) };
        await store.commit("n", [entry("a")], writing({ ...overwritten }, ...states));
        const found = await store.readStates(
          "n",
          "s",
          states.map(({ id }) => id),
        );
        expect(found).toEqual(states.map(({ value }) => value));
      },
    },
    {
      title: "removes a state that a reduction sets to null, and accepts the removal of one that is not there",
      async run({ store }) {
        const kept = { scope: "s", id: "kept", value: Uint8Array.of(1) };
        const gone = { scope: "s", id: "gone", value: Uint8Array.of(2) };
        await store.commit("n", [entry("a")], writing(kept, gone));
        await store.commit("n", [entry("b")], writing({ ...gone, value: null }, { ...gone, id: "never", value: null }));
        expect(await store.readStates("n", "s", ["kept", "gone", "never"])).toEqual([kept.value, undefined, undefined]);
        expect([...(await allStates(store, "n", "s")).keys()]).toEqual(["kept"]);
      },
    },
    {
      title: "tells a state of no bytes from a state that is not there",
      async run({ store }) {
        await store.commit("n", [entry("a")], writing({ scope: "s", id: "empty", value: new Uint8Array() }));
        expect(await store.readStates("n", "s", ["empty", "absent"])).toEqual([new Uint8Array(), undefined]);
        expect(await allStates(store, "n", "s")).toEqual(new Map([["empty", new Uint8Array()]]));
      },
    },
    {
      title: "keeps the same id in two scopes apart",
      async run({ store }) {
        const one = { scope: "memory:a", id: "m", value: Uint8Array.of(1) };
        const two = { scope: "memory:ab", id: "m", value: Uint8Array.of(2) };
        const three = { scope: "memory:", id: "am", value: Uint8Array.of(3) };
        await store.commit("n", [entry("a")], writing(one, two, three));
        for (const { scope, id, value } of [one, two, three]) {
          expect(await store.readStates("n", scope, [id])).toEqual([value]);
          expect(await allStates(store, "n", scope)).toEqual(new Map([[id, value]]));
        }
      },
    },
    {
      title: "gives entries back as they were: key, type, time and every byte of the payload",
      async run({ store }) {
        const payload = Uint8Array.from({ length: 256 }, (_, i) => i);
        const odd: LedgerEntry[] = [
          { key: "all bytes", type: "outcome", at: 1_700_000_000_123, payload },
          { key: "no bytes", type: "exposure", at: 0, payload: new Uint8Array() },
          { key: "a part of an array", type: "x", at: 1_700_000_000_000.25, payload: payload.subarray(7, 19) },
          { key: "before 1970", type: "t\0t", at: -1.5, payload: Uint8Array.of(0, 0, 0) },
          { key: "far away", type: "%", at: Number.MAX_SAFE_INTEGER, payload: Uint8Array.of(255) },
        ];
        await store.commit("n", odd, writing());
        const expected = odd.map((given, i) => ({ ...given, payload: Uint8Array.from(given.payload), seq: i + 1 }));
        expect((await store.readEntries("n", { limit: 10 })).map(plain)).toEqual(expected);
      },
    },
    {
      title: "keeps any finite time as it was given, zero without its sign, in a ledger that verifies",
      async run({ store }) {
        const times = [-0, 5e-324, -5e-324, 1e308, -1e308, 2 ** 53, -(2 ** 53), -1.5, 0.1];
        for (const [place, at] of times.entries()) {
          await store.commit("n", [{ ...entry(`k${place}`, { link: [counter] }), at }], scriptedReduction);
          expect((await store.verify?.())?.damage ?? []).toEqual([]);
        }
        // Some databases cannot keep the sign; the digest must be of the value that they give back.
        expect((await allEntries(store, "n")).map(({ at }) => at)).toEqual(times.map((at) => at + 0));
      },
    },
    {
      title: "accepts a call without entries and changes nothing",
      async run({ store }) {
        expect(await store.commit("n", [], scriptedReduction)).toEqual([]);
        expect(await store.head("n")).toBe(0);
        expect(await store.namespaces({ limit: 10 })).toEqual([]);
      },
    },
    {
      title: "keeps calls made at the same moment apart, each complete and in an order without gaps",
      async run({ store }) {
        const calls = Array.from({ length: 30 }, (_, call) =>
          store.commit(
            `n${call % 3}`,
            [entry(`${call}a`, { link: [counter] }), entry(`${call}b`, { link: [counter] })],
            scriptedReduction,
          ),
        );
        for (const receipts of await Promise.all(calls)) {
          expect(receipts.map(({ status }) => status)).toEqual(["committed", "committed"]);
          expect(receipts[1]?.seq).toBe((receipts[0]?.seq ?? 0) + 1);
        }
        for (const namespace of ["n0", "n1", "n2"]) {
          const entries = await allEntries(store, namespace);
          expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
          const [bytes] = await store.readStates(namespace, counter.scope, [counter.id]);
          expect(linksOf(bytes)).toBe(20);
        }
      },
    },
  ],
};

/** Without the class of the array: a store may return any Uint8Array, a Buffer included. */
function plain(given: LedgerEntry): LedgerEntry {
  return { ...given, payload: Uint8Array.from(given.payload) };
}
