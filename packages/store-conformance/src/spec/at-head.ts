import type { HeadWork, Revision, StateRef } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { expectRefusal } from "../fixtures/expect-refusal.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, link, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { StateMirror } from "../fixtures/state-mirror.js";
import { writeStates } from "../fixtures/write-states.js";

const ref = (id: string, scope = "s"): StateRef => ({ scope, id });
const three = ["a", "b", "c"].map((key) => entry(key, { link: [ref("m")] }));
const REVISION: Revision = {
  states: [
    { ...ref("m"), value: Uint8Array.of(1) },
    { ...ref("new", "t"), value: Uint8Array.of(2) },
    { ...ref("gone"), value: null },
  ],
};

/** Work that asks for states, notes everything it gets, and returns a revision. */
function noting(
  options: Pick<HeadWork, "after" | "write"> & { readonly limit?: number },
  revision?: Revision,
): HeadWork & { readonly got: unknown[] } {
  const got: unknown[] = [];
  return {
    limit: 10,
    ...options,
    got,
    *work(entries, head) {
      got.length = 0;
      got.push(
        entries.map(({ key }) => key),
        head,
      );
      got.push(yield [ref("m"), ref("missing"), ref("m", "t")]);
      return revision;
    },
  };
}

export const atHead: ConformanceTopic = {
  topic: "work at the head",
  cases: [
    {
      title: "gets the entries after a place, the head, and states",
      async run({ store }) {
        await store.commit("n", three, scriptedReduction);
        const [m] = await store.readStates("n", "s", ["m"]);
        for (const write of [false, true]) {
          for (const [after, keys] of [
            [0, ["a", "b", "c"]],
            [2, ["c"]],
            [3, []],
          ] as const) {
            const work = noting({ after, write });
            expect(await store.atHead("n", work)).toBe(true);
            expect(work.got).toEqual([keys, 3, [m, undefined, undefined]]);
          }
        }
        const nothing = noting({ after: 0, write: true }, REVISION);
        expect(await store.atHead("never seen", nothing)).toBe(true);
        expect(nothing.got).toEqual([[], 0, [undefined, undefined, undefined]]);
        expect(await store.namespaces({ limit: 10 })).toEqual(["n"]);
      },
    },
    {
      title: "writes the states that it returns and no others, and adds no entry",
      async run({ store }) {
        await store.commit("n", [...three, entry("d", { link: [ref("gone"), ref("kept")] })], scriptedReduction);
        await store.commit("other", three, scriptedReduction);
        const mirror = store.changesSince && new StateMirror(store, "n");
        const [, kept] = (await mirror?.read("s", ["m", "kept"])) ?? (await store.readStates("n", "s", ["m", "kept"]));
        const [entries, others] = [await allEntries(store, "n"), await allStates(store, "other", "s")];
        expect(await store.atHead("n", noting({ after: 4, write: true }, REVISION))).toBe(true);
        const expected = [Uint8Array.of(1), undefined, kept];
        expect(await store.readStates("n", "s", ["m", "gone", "kept"])).toEqual(expected);
        if (mirror) expect(await mirror.read("s", ["m", "gone", "kept"])).toEqual(expected);
        expect(await allStates(store, "n", "t")).toEqual(new Map([["new", Uint8Array.of(2)]]));
        expect(await allEntries(store, "n")).toEqual(entries);
        expect(await allStates(store, "other", "s")).toEqual(others);
        expect(await store.commit("n", [entry("e")], scriptedReduction)).toEqual([{ status: "committed", seq: 5 }]);
      },
    },
    {
      title: "writes the last value of a state that it returns twice, and lets later commits build on it",
      async run({ store }) {
        await store.commit("n", three, scriptedReduction);
        const value = link(undefined, { seq: 7, payload: new Uint8Array() });
        const twice = [null, Uint8Array.of(1), value].map((value) => ({ ...ref("m"), value }));
        const removed = [Uint8Array.of(1), null].map((value) => ({ ...ref("gone"), value }));
        expect(await writeStates(store, "n", [...twice, ...removed])).toBe(true);
        expect(await allStates(store, "n", "s")).toEqual(new Map([["m", value]]));
        await store.commit("n", [entry("d", { link: [ref("m")] })], scriptedReduction);
        const [last] = await store.readEntries("n", { after: 3, limit: 1 });
        expect(await store.readStates("n", "s", ["m"])).toEqual([last && link(value, last)]);
      },
    },
    {
      title: "changes nothing without being asked to write",
      async run({ store }) {
        await store.commit("n", three, scriptedReduction);
        const before = await allStates(store, "n", "s");
        expect(await store.atHead("n", noting({ after: 0, write: false }, REVISION))).toBe(true);
        expect(await allStates(store, "n", "s")).toEqual(before);
        expect(await allStates(store, "n", "t")).toEqual(new Map());
      },
    },
    {
      title: "does nothing where more entries follow than it takes on",
      async run({ store }) {
        await store.commit("n", three, scriptedReduction);
        for (const write of [false, true]) {
          const work = noting({ after: 0, write, limit: 2 }, REVISION);
          expect(await store.atHead("n", work)).toBe(false);
          expect(work.got).toEqual([]);
          expect(await store.atHead("n", noting({ after: 1, write, limit: 2 }))).toBe(true);
        }
        expect(await allStates(store, "n", "t")).toEqual(new Map());
      },
    },
    {
      title: "keeps nothing of work that throws, or returns a state that no store would keep",
      async run({ store }) {
        await store.commit("n", three, scriptedReduction);
        const before = await allStates(store, "n", "s");
        const failing: HeadWork = {
          ...noting({ after: 0, write: true }),
          *work() {
            yield [ref("m")];
            throw new Error("The work failed on purpose.");
          },
        };
        await expect(store.atHead("n", failing)).rejects.toThrow("on purpose");
        const illegal = { states: [...REVISION.states, { ...ref(""), value: Uint8Array.of(1) }] };
        await expectRefusal(store.atHead("n", noting({ after: 0, write: true }, illegal)), "INVALID_ID");
        expect(await allStates(store, "n", "s")).toEqual(before);
        expect(await allStates(store, "n", "t")).toEqual(new Map());
        await expectRefusal(store.atHead("n", noting({ after: 0, write: false, limit: 0 })), "INVALID_ARGUMENT");
      },
    },
    {
      title: "counts every entry that other calls commit meanwhile",
      async run({ store }) {
        const heads: number[] = [];
        const calls: Promise<unknown>[] = [];
        for (let i = 0; i < 10; i++) {
          calls.push(store.commit("n", [entry(`k${i}`, { link: [ref("m")] })], scriptedReduction));
          const work: HeadWork["work"] = function* (_, head) {
            const [value] = yield [ref("m")];
            heads.push(head);
            return { states: [{ ...ref(String(head), "heads"), value: value ?? null }] };
          };
          calls.push(store.atHead("n", { after: 0, limit: 100, write: true, work }));
        }
        await Promise.all(calls);
        expect(await store.head("n")).toBe(10);
        expect(heads.every((head) => head <= 10)).toBe(true);
        const [last] = await store.readStates("n", "s", ["m"]);
        const kept = await allStates(store, "n", "heads");
        if (kept.has("10")) expect(kept.get("10")).toEqual(last);
      },
    },
  ],
};
