import type { Store } from "@qavr/core";
import type { Reduce } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { plainFold } from "../fixtures/plain-fold.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writing } from "../fixtures/writing.js";

const counter = { scope: "stats", id: "count" };
const counting = (key: string): ReturnType<typeof entry> => entry(key, { link: [counter] });

/** Counts like the scripted reduction and throws at the entry `bad`: before it reads, after it read, or after it wrote. */
function failingAt(moment: "first read" | "second read" | "writes", failure: Error): Reduce {
  return function* (sequenced) {
    if (sequenced.key !== "bad") return yield* scriptedReduction(sequenced);
    if (moment === "first read") throw failure;
    const writes = yield* scriptedReduction(sequenced);
    if (moment === "second read") {
      yield [counter];
      throw failure;
    }
    return [...writes, { scope: "stats", id: "", value: Uint8Array.of(1) }];
  };
}

async function links(store: Store): Promise<number> {
  return linksOf((await store.readStates("n", counter.scope, [counter.id]))[0]);
}

export const reductions: ConformanceTopic = {
  topic: "reductions",
  cases: [
    {
      title: "keeps nothing of a call whose reduction throws, and rejects with that very error",
      async run({ store }) {
        await store.commit("n", [counting("a")], scriptedReduction);
        for (const moment of ["first read", "second read"] as const) {
          const failure = new Error("The reduction failed on purpose.");
          const call = store.commit("n", [counting("b"), counting("bad"), counting("c")], failingAt(moment, failure));
          expect(await call.catch((error: unknown) => error)).toBe(failure);
          expect(await store.head("n")).toBe(1);
          expect(await links(store)).toBe(1);
        }
        expect(await store.commit("n", [counting("b")], scriptedReduction)).toEqual([{ status: "committed", seq: 2 }]);
        expect(await links(store)).toBe(2);
      },
    },
    {
      title: "keeps nothing of a call whose reduction returns a write that is refused, nor of its namespace",
      async run({ store }) {
        const refused = store.commit("n", [counting("a"), counting("bad")], failingAt("writes", new Error("unused")));
        await expect(refused).rejects.toMatchObject({ code: "INVALID_ID" });
        expect(await store.head("n")).toBe(0);
        expect(await links(store)).toBe(0);
        expect(await store.namespaces({ limit: 10 })).toEqual([]);
      },
    },
    {
      title: "does not let a call that throws hurt calls of the same moment",
      async run({ store }) {
        const failure = new Error("The reduction failed on purpose.");
        const calls = Array.from({ length: 12 }, (_, call) => {
          const key = call % 3 === 1 ? "bad" : `fine ${call}`;
          return store.commit(`n${call % 2}`, [counting(`${call}`), counting(key)], failingAt("second read", failure));
        });
        const settled = await Promise.allSettled(calls);
        expect(settled.map(({ status }) => status)).toEqual(
          settled.map((_, call) => (call % 3 === 1 ? "rejected" : "fulfilled")),
        );
        for (const namespace of ["n0", "n1"]) {
          const entries = await allEntries(store, namespace);
          expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
          const folded = plainFold(entries, scriptedReduction);
          expect(await allStates(store, namespace, counter.scope)).toEqual(folded.get(counter.scope));
        }
      },
    },
    {
      title: "does not let what is no bytes, or an error that looks like a database's, hurt calls of the same moment",
      async run({ store }) {
        const failure = Object.assign(new Error("The reduction's own database failed."), {
          errcode: 1,
          severity: "ERROR",
        });
        const text = "text" as unknown as Uint8Array;
        const numbers = [1, 2] as unknown as Uint8Array;
        const settled = await Promise.allSettled([
          store.commit("n", [counting("a")], scriptedReduction),
          store.commit("n", [counting("bad")], failingAt("first read", failure)),
          store.commit("n", [counting("b")], scriptedReduction),
          store.commit("n", [entry("text")], writing({ scope: "s", id: "x", value: text })),
          store.commit("n", [counting("c")], scriptedReduction),
          store.commit("n", [{ ...entry("numbers"), payload: numbers }], scriptedReduction),
          store.commit("n", [counting("d")], scriptedReduction),
        ]);
        expect(settled.map(({ status }) => status)).toEqual(
          settled.map((_, call) => (call % 2 === 1 ? "rejected" : "fulfilled")),
        );
        const [reduced, ...refused] = settled.filter(({ status }) => status === "rejected");
        expect(reduced).toMatchObject({ reason: failure });
        for (const refusal of refused) expect(refusal).toMatchObject({ reason: { code: "INVALID_ARGUMENT" } });
        expect((await allEntries(store, "n")).map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
        expect(await links(store)).toBe(4);
      },
    },
    {
      title: "answers each round of reads in the order asked for, so that later keys may depend on earlier values",
      async run({ store }) {
        const pointTo = (id: string): Uint8Array => new TextEncoder().encode(id);
        const chain = ["one", "two", "three", "four"];
        const states = chain.map((id, place) => ({ scope: "s", id, value: pointTo(chain[place + 1] ?? "end") }));
        await store.commit("n", [entry("fill")], writing(...states));
        const visited: string[] = [];
        await store.commit("n", [entry("walk")], function* () {
          let here = "one";
          for (;;) {
            const [next, self, absent] = yield [
              { scope: "s", id: here },
              { scope: "s", id: "one" },
              { scope: "other", id: here },
            ];
            expect([self, absent]).toEqual([pointTo("two"), undefined]);
            if (next === undefined) return [{ scope: "s", id: "length", value: Uint8Array.of(visited.length) }];
            visited.push(here);
            here = new TextDecoder().decode(next);
          }
        });
        expect(visited).toEqual(chain);
        expect(await store.readStates("n", "s", ["length"])).toEqual([Uint8Array.of(4)]);
      },
    },
    {
      title: "tells a reduction the place of its entry, and reduces entries in that order",
      async run({ store }) {
        const seen: [string, number][] = [];
        const watching: Reduce = (sequenced) => {
          seen.push([sequenced.key, sequenced.seq]);
          return scriptedReduction(sequenced);
        };
        await store.commit("n", [counting("a"), counting("b")], watching);
        await store.commit("n", [counting("a"), counting("c")], watching);
        expect([...new Map(seen)]).toEqual([
          ["a", 1],
          ["b", 2],
          ["c", 3],
        ]);
      },
    },
    {
      title: "accepts a reduction that reads nothing, asks for nothing in a round, or writes nothing",
      async run({ store }) {
        await store.commit("n", [entry("a")], writing());
        const answers: unknown[] = [];
        await store.commit("n", [entry("b")], function* () {
          answers.push(yield []);
          return [];
        });
        expect(answers).toEqual([[]]);
        expect(await store.head("n")).toBe(2);
      },
    },
  ],
};
