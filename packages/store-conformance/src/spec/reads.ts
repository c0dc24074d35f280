import type { Store } from "@qavr/core";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allNamespaces, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writing } from "../fixtures/writing.js";

const ids = Array.from({ length: 60 }, (_, i) => `m${i}`);

/** Entries that link one state each, so that every state has other bytes. */
async function fill(store: Store): Promise<void> {
  const entries = ids.map((id) => entry(id, { link: [{ scope: "s", id }] }));
  await store.commit("n", entries, scriptedReduction);
}

export const reads: ConformanceTopic = {
  topic: "reads",
  cases: [
    {
      title: "returns states in the order asked for, repeats and gaps included",
      async run({ store }) {
        await fill(store);
        const all = await allStates(store, "n", "s");
        const asked = ["m7", "absent", "m3", "m7", "m59", "also absent", "m0"];
        expect(await store.readStates("n", "s", asked)).toEqual(asked.map((id) => all.get(id)));
        const reversed = [...ids].reverse();
        expect(await store.readStates("n", "s", reversed)).toEqual(reversed.map((id) => all.get(id)));
        expect(new Set((await store.readStates("n", "s", ids)).map(String)).size).toBe(ids.length);
      },
    },
    {
      title: "answers a read of nothing, and of a namespace or scope that does not exist",
      async run({ store }) {
        await fill(store);
        expect(await store.readStates("n", "s", [])).toEqual([]);
        expect(await store.readStates("n", "other", ["m1"])).toEqual([undefined]);
        expect(await store.readStates("other", "s", ["m1", "m2"])).toEqual([undefined, undefined]);
        expect(await store.scanStates("other", "s", { limit: 5 })).toEqual([]);
        expect(await store.scanStates("n", "other", { limit: 5 })).toEqual([]);
        expect(await store.readEntries("other", { limit: 5 })).toEqual([]);
        expect(await store.head("other")).toBe(0);
      },
    },
    {
      title: "does not create a namespace by reading it",
      async run({ store }) {
        await store.readStates("ghost", "s", ["m1"]);
        await store.scanStates("ghost", "s", { limit: 1 });
        await store.readEntries("ghost", { limit: 1 });
        await store.head("ghost");
        expect(await store.namespaces({ limit: 10 })).toEqual([]);
      },
    },
    {
      title: "reads its own commits, also for a reader that takes what an earlier refresh knew, or may lag",
      async run({ store }) {
        const ref = { scope: "s", id: "m" };
        await store.refresh?.("n");
        const seen = new Set<string>();
        for (let i = 0; i < 5; i++) {
          await store.commit("n", [entry(`k${i}`, { link: [ref] })], scriptedReduction);
          const [known] = await store.readStates("n", "s", ["m"], { refreshed: true, mayLag: true });
          expect(known).toEqual((await store.readStates("n", "s", ["m"]))[0]);
          seen.add(String(known));
        }
        expect(seen.size).toBe(5);
      },
    },
    {
      title: "reads what was acknowledged, however often the state was read before",
      async run({ store }) {
        const ref = { scope: "s", id: "m" };
        expect(await store.readStates("n", "s", ["m"])).toEqual([undefined]);
        const seen = new Set<string>();
        for (let i = 0; i < 5; i++) {
          await store.commit("n", [entry(`k${i}`, { link: [ref] })], scriptedReduction);
          seen.add(String((await store.readStates("n", "s", ["m"]))[0]));
        }
        expect(seen.size).toBe(5);
        await store.commit("n", [entry("gone", { remove: [ref] })], scriptedReduction);
        expect(await store.readStates("n", "s", ["m"])).toEqual([undefined]);
        await store.commit("n", [entry("back", { link: [ref] })], scriptedReduction);
        expect(await store.readStates("n", "s", ["m"])).not.toEqual([undefined]);
      },
    },
    {
      title: "never changes an array that it returned or was given",
      async run({ store }) {
        const given = Uint8Array.of(1, 2, 3);
        await store.commit("n", [entry("a")], writing({ scope: "s", id: "m", value: given }));
        const [first] = await store.readStates("n", "s", ["m"]);
        const [scanned] = await store.scanStates("n", "s", { limit: 1 });
        const later = Uint8Array.of(9, 9, 9);
        await store.commit("n", [entry("b")], writing({ scope: "s", id: "m", value: later }));
        expect(await store.readStates("n", "s", ["m"])).toEqual([later]);
        expect([given, first, scanned?.value]).toEqual(Array(3).fill(Uint8Array.of(1, 2, 3)));
      },
    },
    {
      title: "pages through a scan without gaps or repeats, whatever the page size",
      async run({ store }) {
        await fill(store);
        const whole = await allStates(store, "n", "s", 10_000);
        expect([...whole.keys()].sort()).toEqual([...ids].sort());
        for (const pageSize of [1, 7, 59, 60, 61]) {
          expect([...(await allStates(store, "n", "s", pageSize))]).toEqual([...whole]);
        }
      },
    },
    {
      title: "goes on behind the last id of a page although that state was removed meanwhile",
      async run({ store }) {
        await fill(store);
        const order = [...(await allStates(store, "n", "s")).keys()];
        const after = order[9] as string;
        await store.commit("n", [entry("gone", { remove: [{ scope: "s", id: after }] })], scriptedReduction);
        const next = await store.scanStates("n", "s", { after, limit: 10 });
        expect(next.map(({ id }) => id)).toEqual(order.slice(10, 20));
      },
    },
    {
      title: "pages through entries in ascending order, from any place",
      async run({ store }) {
        await fill(store);
        const seqs = async (after: number | undefined, limit: number): Promise<number[]> =>
          (await store.readEntries("n", after === undefined ? { limit } : { after, limit })).map(({ seq }) => seq);
        expect(await seqs(undefined, 3)).toEqual([1, 2, 3]);
        expect(await seqs(0, 2)).toEqual([1, 2]);
        expect(await seqs(57, 10)).toEqual([58, 59, 60]);
        expect(await seqs(60, 10)).toEqual([]);
        expect(await seqs(1_000, 10)).toEqual([]);
        expect(await seqs(undefined, 10_000)).toEqual(ids.map((_, i) => i + 1));
      },
    },
    {
      title: "lists the namespaces that have entries, page by page",
      async run({ store }) {
        const names = Array.from({ length: 11 }, (_, i) => `n${i}`);
        for (const name of names) await store.commit(name, [entry("k")], scriptedReduction);
        expect((await allNamespaces(store)).sort()).toEqual([...names].sort());
        for (const pageSize of [1, 4, 11])
          expect(await allNamespaces(store, pageSize)).toEqual(await allNamespaces(store));
      },
    },
  ],
};
