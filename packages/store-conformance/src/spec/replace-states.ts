import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, link, scriptedReduction } from "../fixtures/scripted-reduction.js";

const ref = (id: string, scope = "s"): { scope: string; id: string } => ({ scope, id });

export const replaceStates: ConformanceTopic = {
  topic: "replaceStates",
  cases: [
    {
      title: "replaces the state of every scope and leaves the ledger alone",
      async run({ store }) {
        const refs = [ref("a"), ref("b"), ref("a", "other")];
        await store.commit("n", [entry("1", { link: refs }), entry("2", { link: refs })], scriptedReduction);
        await store.commit("m", [entry("1", { link: refs })], scriptedReduction);
        const others = await allStates(store, "m", "s");
        const entries = await allEntries(store, "n");
        const value = Uint8Array.of(42);
        const states = [
          { ...ref("b"), value },
          { ...ref("new", "third"), value: new Uint8Array() },
          { ...ref("removed"), value: null },
        ];
        expect(await store.replaceStates("n", 2, states)).toBe(true);
        expect(await allStates(store, "n", "s")).toEqual(new Map([["b", value]]));
        expect(await allStates(store, "n", "other")).toEqual(new Map());
        expect(await allStates(store, "n", "third")).toEqual(new Map([["new", new Uint8Array()]]));
        expect(await store.readStates("n", "s", ["a", "b", "removed"])).toEqual([undefined, value, undefined]);
        expect(await allEntries(store, "n")).toEqual(entries);
        expect(await allStates(store, "m", "s")).toEqual(others);
      },
    },
    {
      title: "changes nothing when the head has moved, or never was there",
      async run({ store }) {
        await store.commit("n", [entry("1", { link: [ref("a")] }), entry("2")], scriptedReduction);
        const before = await allStates(store, "n", "s");
        for (const head of [0, 1, 3]) {
          expect(await store.replaceStates("n", head, [{ ...ref("a"), value: Uint8Array.of(1) }])).toBe(false);
        }
        expect(await store.replaceStates("empty", 1, [{ ...ref("a"), value: Uint8Array.of(1) }])).toBe(false);
        expect(await allStates(store, "n", "s")).toEqual(before);
        expect(await allStates(store, "empty", "s")).toEqual(new Map());
      },
    },
    {
      title: "writes the last value when one state is given twice",
      async run({ store }) {
        await store.commit("n", [entry("1")], scriptedReduction);
        const twice = [1, 2].map((byte) => ({ ...ref("a"), value: Uint8Array.of(byte) }));
        const removed = [
          { ...ref("b"), value: Uint8Array.of(1) },
          { ...ref("b"), value: null },
        ];
        expect(await store.replaceStates("n", 1, [...twice, ...removed])).toBe(true);
        expect(await allStates(store, "n", "s")).toEqual(new Map([["a", Uint8Array.of(2)]]));
      },
    },
    {
      title: "lets later commits build on the replaced state",
      async run({ store }) {
        await store.commit("n", [entry("1", { link: [ref("a")] })], scriptedReduction);
        const value = link(undefined, { seq: 7, payload: new Uint8Array() });
        await store.replaceStates("n", 1, [{ ...ref("a"), value }]);
        await store.commit("n", [entry("2", { link: [ref("a")] })], scriptedReduction);
        const [second] = await store.readEntries("n", { after: 1, limit: 1 });
        expect(await store.readStates("n", "s", ["a"])).toEqual([second && link(value, second)]);
      },
    },
    {
      title: "changes nothing when one of the states is refused",
      async run({ store }) {
        await store.commit("n", [entry("1", { link: [ref("a")] })], scriptedReduction);
        const before = await allStates(store, "n", "s");
        const states = [
          { ...ref("a"), value: Uint8Array.of(1) },
          { ...ref(""), value: Uint8Array.of(1) },
        ];
        await expect(store.replaceStates("n", 1, states)).rejects.toMatchObject({ code: "INVALID_ID" });
        expect(await allStates(store, "n", "s")).toEqual(before);
      },
    },
  ],
};
