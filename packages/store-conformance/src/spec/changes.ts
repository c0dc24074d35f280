import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { StateMirror } from "../fixtures/state-mirror.js";
import { writeStates } from "../fixtures/write-states.js";

const ref = (id: string): { scope: string; id: string } => ({ scope: "s", id });
const ids = ["a", "b", "c"];

export const changes: ConformanceTopic = {
  topic: "changesSince",
  cases: [
    {
      title: "names every state that a commit wrote or removed, once the commit is acknowledged",
      needs: "changesSince",
      async run({ store }) {
        const mirror = new StateMirror(store, "n");
        expect(await mirror.read("s", ids)).toEqual([undefined, undefined, undefined]);
        await store.commit("n", [entry("1", { link: [ref("a"), ref("b")] })], scriptedReduction);
        expect((await mirror.read("s", ids)).map(linksOf)).toEqual([1, 1, 0]);
        await store.commit("n", [entry("2", { link: [ref("b")], remove: [ref("a")] })], scriptedReduction);
        expect((await mirror.read("s", ids)).map(linksOf)).toEqual([0, 2, 0]);
        const entries = Array.from({ length: 50 }, (_, i) => entry(`many ${i}`, { link: [ref(ids[i % 3] as string)] }));
        await store.commit("n", entries, scriptedReduction);
        expect((await mirror.read("s", ids)).map(linksOf)).toEqual([17, 19, 16]);
      },
    },
    {
      title: "counts for each namespace by itself and serves several readers",
      needs: "changesSince",
      async run({ store }) {
        const [early, other] = [new StateMirror(store, "n"), new StateMirror(store, "ab")];
        await early.read("s", ids);
        await other.read("s", ids);
        await store.commit("n", [entry("1", { link: [ref("a")] })], scriptedReduction);
        const late = new StateMirror(store, "n");
        expect((await late.read("s", ids)).map(linksOf)).toEqual([1, 0, 0]);
        await store.commit("ab", [entry("1", { link: [ref("b")] })], scriptedReduction);
        await store.commit("n", [entry("2", { link: [ref("a")] })], scriptedReduction);
        expect((await early.read("s", ids)).map(linksOf)).toEqual([2, 0, 0]);
        expect((await late.read("s", ids)).map(linksOf)).toEqual([2, 0, 0]);
        expect((await other.read("s", ids)).map(linksOf)).toEqual([0, 1, 0]);
      },
    },
    {
      title: "tells of work at the head and of an erasure",
      needs: "changesSince",
      async run({ store }) {
        const mirror = new StateMirror(store, "n");
        await store.commit("n", [entry("1", { link: [ref("a"), ref("b")] })], scriptedReduction);
        await mirror.read("s", ids);
        await writeStates(store, "n", [
          { ...ref("a"), value: null },
          { ...ref("c"), value: Uint8Array.of(1) },
        ]);
        expect(await mirror.read("s", ["a", "c"])).toEqual([undefined, Uint8Array.of(1)]);
        await store.eraseNamespace("n");
        expect(await mirror.read("s", ids)).toEqual([undefined, undefined, undefined]);
        await store.commit("n", [entry("1", { link: [ref("a")] })], scriptedReduction);
        expect((await mirror.read("s", ids)).map(linksOf)).toEqual([1, 0, 0]);
      },
    },
    {
      title: "serves a reader that has not asked for very long",
      needs: "changesSince",
      async run({ store }) {
        const mirror = new StateMirror(store, "n");
        await mirror.read("s", ids);
        for (let round = 0; round < 4; round++) {
          const entries = Array.from({ length: 4_000 }, (_, i) => entry(`${round}-${i}`, { link: [ref(`m${i}`)] }));
          await store.commit("n", [...entries, entry(`${round}`, { link: [ref("a")] })], scriptedReduction);
        }
        expect((await mirror.read("s", ids)).map(linksOf)).toEqual([4, 0, 0]);
      },
    },
  ],
};
