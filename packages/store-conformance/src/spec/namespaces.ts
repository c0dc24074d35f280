import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { expectRefusal } from "../fixtures/expect-refusal.js";
import { HOSTILE_NAMES, REFUSED_NAMES } from "../fixtures/hostile-names.js";
import { allEntries, allNamespaces, allStates } from "../fixtures/read-all.js";
import { entry } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";
import { writing } from "../fixtures/writing.js";

/** Bytes that say which name they belong to. */
const mark = (place: number): Uint8Array => Uint8Array.of(place, place ^ 0xff);

export const namespaces: ConformanceTopic = {
  topic: "names",
  cases: [
    {
      title: "never lets one namespace see another's entries, keys or states, however alike their names are",
      async run({ store }) {
        for (const [place, name] of HOSTILE_NAMES.entries()) {
          const receipts = await store.commit(
            name,
            [{ ...entry("the same key"), payload: mark(place) }],
            writing({ scope: "s", id: "m", value: mark(place) }),
          );
          expect(receipts).toEqual([{ status: "committed", seq: 1 }]);
        }
        for (const [place, name] of HOSTILE_NAMES.entries()) {
          expect(await store.readStates(name, "s", ["m"])).toEqual([mark(place)]);
          expect(await allStates(store, name, "s")).toEqual(new Map([["m", mark(place)]]));
          expect((await allEntries(store, name)).map(({ payload }) => Uint8Array.from(payload))).toEqual([mark(place)]);
          expect(await store.head(name)).toBe(1);
        }
        expect((await allNamespaces(store)).sort()).toEqual([...HOSTILE_NAMES].sort());
      },
    },
    {
      title: "erases one namespace and leaves those with similar names alone",
      async run({ store }) {
        for (const name of HOSTILE_NAMES) {
          await store.commit(name, [entry("k")], writing({ scope: "s", id: "m", value: Uint8Array.of(1) }));
        }
        const erased = HOSTILE_NAMES.filter((_, place) => place % 2 === 0);
        for (const name of erased) await store.eraseNamespace(name);
        const left = HOSTILE_NAMES.filter((_, place) => place % 2 === 1);
        expect((await allNamespaces(store)).sort()).toEqual([...left].sort());
        for (const name of left) expect(await store.readStates(name, "s", ["m"])).toEqual([Uint8Array.of(1)]);
      },
    },
    {
      title: "keeps state ids apart that look alike, and gives them back exactly",
      async run({ store }) {
        const states = HOSTILE_NAMES.map((id, place) => ({ scope: "s", id, value: mark(place) }));
        await store.commit("n", [entry("k")], writing(...states));
        expect(await store.readStates("n", "s", HOSTILE_NAMES)).toEqual(states.map(({ value }) => value));
        for (const { id, value } of states) expect(await store.readStates("n", "s", [id])).toEqual([value]);
        expect(await allStates(store, "n", "s")).toEqual(new Map(states.map(({ id, value }) => [id, value])));
      },
    },
    {
      title: "keeps scopes apart that look alike",
      async run({ store }) {
        const states = HOSTILE_NAMES.map((scope, place) => ({ scope, id: "m", value: mark(place) }));
        await store.commit("n", [entry("k")], writing(...states));
        for (const { scope, value } of states) {
          expect(await store.readStates("n", scope, ["m"])).toEqual([value]);
          expect(await allStates(store, "n", scope)).toEqual(new Map([["m", value]]));
        }
      },
    },
    {
      title: "keeps idempotency keys and types apart that look alike, and gives them back exactly",
      async run({ store }) {
        const entries = HOSTILE_NAMES.map((name) => ({ ...entry(name), type: name }));
        const receipts = await store.commit("n", entries, writing());
        expect(receipts).toEqual(entries.map((_, place) => ({ status: "committed", seq: place + 1 })));
        const again = await store.commit("n", entries, writing());
        expect(again).toEqual(entries.map((_, place) => ({ status: "duplicate", seq: place + 1 })));
        const stored = await allEntries(store, "n");
        expect(stored.map(({ key, type }) => [key, type])).toEqual(HOSTILE_NAMES.map((name) => [name, name]));
      },
    },
    {
      title: "refuses names that are undefined, empty, too long or not well-formed, and changes nothing",
      async run({ store }) {
        await store.commit("kept", [entry("k")], writing());
        for (const { name, code } of REFUSED_NAMES) {
          const state = (scope: string, id: string) => writing({ scope, id, value: Uint8Array.of(1) });
          await expectRefusal(store.commit(name, [entry("k")], writing()), code);
          await expectRefusal(store.commit("n", [entry("fine"), entry(name)], writing()), code);
          await expectRefusal(store.commit("n", [{ ...entry("k"), type: name }], writing()), code);
          await expectRefusal(store.commit("n", [entry("k")], state(name, "m")), code);
          await expectRefusal(store.commit("n", [entry("k")], state("s", name)), code);
          await expectRefusal(store.readStates(name, "s", ["m"]), code);
          await expectRefusal(store.readStates("n", name, ["m"]), code);
          await expectRefusal(store.readStates("n", "s", ["m", name]), code);
          await expectRefusal(store.scanStates(name, "s", { limit: 1 }), code);
          await expectRefusal(store.scanStates("n", name, { limit: 1 }), code);
          await expectRefusal(store.readEntries(name, { limit: 1 }), code);
          await expectRefusal(store.head(name), code);
          await expectRefusal(writeStates(store, name, []), code);
          await expectRefusal(store.eraseNamespace(name), code);
        }
        expect(await store.namespaces({ limit: 10 })).toEqual(["kept"]);
        expect(await store.readStates("n", "s", ["m"])).toEqual([undefined]);
      },
    },
  ],
};
