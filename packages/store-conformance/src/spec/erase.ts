import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";

const refs = [
  { scope: "s", id: "a" },
  { scope: "other", id: "a" },
];

export const erase: ConformanceTopic = {
  topic: "eraseNamespace",
  cases: [
    {
      title: "removes entries, keys and states, and the namespace from the list",
      async run({ store }) {
        await store.commit("n", [entry("1", { link: refs }), entry("2", { link: refs })], scriptedReduction);
        await store.commit("m", [entry("1", { link: refs })], scriptedReduction);
        await store.readStates("n", "s", ["a"]);
        await store.eraseNamespace("n");
        expect(await store.head("n")).toBe(0);
        expect(await allEntries(store, "n")).toEqual([]);
        for (const { scope, id } of refs) {
          expect(await store.readStates("n", scope, [id])).toEqual([undefined]);
          expect(await allStates(store, "n", scope)).toEqual(new Map());
        }
        expect(await store.namespaces({ limit: 10 })).toEqual(["m"]);
        expect(linksOf((await store.readStates("m", "s", ["a"]))[0])).toBe(1);
      },
    },
    {
      title: "lets a namespace begin again: numbers from 1, keys free, states empty",
      async run({ store }) {
        await store.commit("n", [entry("1", { link: refs }), entry("2", { link: refs })], scriptedReduction);
        await store.eraseNamespace("n");
        expect(await store.commit("n", [entry("2", { link: refs })], scriptedReduction)).toEqual([
          { status: "committed", seq: 1 },
        ]);
        for (const { scope, id } of refs) expect(linksOf((await store.readStates("n", scope, [id]))[0])).toBe(1);
        expect(await store.namespaces({ limit: 10 })).toEqual(["n"]);
      },
    },
    {
      title: "accepts a namespace that has nothing",
      async run({ store }) {
        await store.eraseNamespace("never seen");
        expect(await store.namespaces({ limit: 10 })).toEqual([]);
      },
    },
  ],
};
