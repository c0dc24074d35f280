import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { expectRefusal } from "../fixtures/expect-refusal.js";
import { allEntries } from "../fixtures/read-all.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writing } from "../fixtures/writing.js";

const counter = { scope: "stats", id: "count" };
const counting = (key: string, note = ""): ReturnType<typeof entry> => entry(key, { link: [counter], note });

export const idempotency: ConformanceTopic = {
  topic: "idempotency",
  cases: [
    {
      title: "answers a repeated event with the place of the first one and changes nothing",
      async run({ store }) {
        await store.commit("n", [counting("a"), counting("b")], scriptedReduction);
        const before = await store.readStates("n", counter.scope, [counter.id]);
        expect(await store.commit("n", [counting("b")], scriptedReduction)).toEqual([{ status: "duplicate", seq: 2 }]);
        expect(await store.commit("n", [counting("a")], scriptedReduction)).toEqual([{ status: "duplicate", seq: 1 }]);
        expect(await store.readStates("n", counter.scope, [counter.id])).toEqual(before);
        expect(await store.head("n")).toBe(2);
      },
    },
    {
      title: "answers a used key with another payload with a conflict and changes nothing",
      async run({ store }) {
        await store.commit("n", [counting("a", "x")], scriptedReduction);
        const before = await store.readStates("n", counter.scope, [counter.id]);
        for (const other of ["y", "xx", "", "X"]) {
          const receipts = await store.commit("n", [counting("a", other)], scriptedReduction);
          expect(receipts).toEqual([{ status: "conflict", seq: 1 }]);
        }
        expect(await store.readStates("n", counter.scope, [counter.id])).toEqual(before);
        expect(await allEntries(store, "n")).toHaveLength(1);
      },
    },
    {
      title: "tells payloads apart that share a beginning",
      async run({ store }) {
        const of = (...bytes: number[]): ReturnType<typeof entry> => ({
          ...entry("k"),
          payload: Uint8Array.from(bytes),
        });
        await store.commit("n", [of(1, 2, 0)], writing());
        for (const other of [of(1, 2), of(1, 2, 0, 0), of(1, 2, 1), of()]) {
          expect(await store.commit("n", [other], writing())).toEqual([{ status: "conflict", seq: 1 }]);
        }
        expect(await store.commit("n", [of(1, 2, 0)], writing())).toEqual([{ status: "duplicate", seq: 1 }]);
      },
    },
    {
      title: "ignores the time when it compares: a retry comes later",
      async run({ store }) {
        const first = counting("a");
        await store.commit("n", [first], scriptedReduction);
        const retry = { ...first, at: first.at + 60_000 };
        expect(await store.commit("n", [retry], scriptedReduction)).toEqual([{ status: "duplicate", seq: 1 }]);
        expect((await allEntries(store, "n"))[0]?.at).toBe(first.at);
      },
    },
    {
      title: "recognises a repeated event inside one call",
      async run({ store }) {
        const receipts = await store.commit(
          "n",
          [counting("a"), counting("a"), counting("a", "other"), counting("b")],
          scriptedReduction,
        );
        expect(receipts).toEqual([
          { status: "committed", seq: 1 },
          { status: "duplicate", seq: 1 },
          { status: "conflict", seq: 1 },
          { status: "committed", seq: 2 },
        ]);
        expect(linksOf((await store.readStates("n", counter.scope, [counter.id]))[0])).toBe(2);
      },
    },
    {
      title: "commits the new events of a call that also repeats old ones",
      async run({ store }) {
        await store.commit("n", [counting("a"), counting("b")], scriptedReduction);
        const mixed = [counting("c"), counting("a"), counting("b", "other"), counting("d")];
        expect(await store.commit("n", mixed, scriptedReduction)).toEqual([
          { status: "committed", seq: 3 },
          { status: "duplicate", seq: 1 },
          { status: "conflict", seq: 2 },
          { status: "committed", seq: 4 },
        ]);
        expect(linksOf((await store.readStates("n", counter.scope, [counter.id]))[0])).toBe(4);
      },
    },
    {
      title: "commits one of many equal events that arrive at the same moment",
      async run({ store }) {
        const calls = Array.from({ length: 10 }, () => store.commit("n", [counting("a")], scriptedReduction));
        const receipts = (await Promise.all(calls)).flat();
        expect(receipts.filter(({ status }) => status === "committed")).toHaveLength(1);
        expect(receipts.every(({ seq }) => seq === 1)).toBe(true);
        expect(linksOf((await store.readStates("n", counter.scope, [counter.id]))[0])).toBe(1);
      },
    },
    {
      title: "finds the entry of a key, and tells its payload from others",
      async run({ store }) {
        const [a, b] = [counting("a"), counting("b", "x")];
        expect(await store.findKey("n", "a")).toBeUndefined();
        await store.commit("n", [a, b], scriptedReduction);
        const found = await store.findKey("n", "b");
        expect(found?.seq).toBe(2);
        expect([b, counting("b", "y"), a].map(({ payload }) => found?.hasPayload(payload))).toEqual([
          true,
          false,
          false,
        ]);
        for (const free of ["c", "B", "b "]) expect(await store.findKey("n", free)).toBeUndefined();
        expect(await store.findKey("m", "b")).toBeUndefined();
        expect(await store.head("n")).toBe(2);
        await expectRefusal(store.findKey("n", ""), "INVALID_ID");
        await store.eraseNamespace("n");
        expect(await store.findKey("n", "b")).toBeUndefined();
      },
    },
  ],
};
