import { createEngine, type Engine, type Store } from "@qavr/core";
import { replay, revoke } from "@qavr/core/maintenance";
import type { CheckpointChange, StateWrite } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { plainFold } from "../fixtures/plain-fold.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { StateMirror } from "../fixtures/state-mirror.js";
import { writeStates } from "../fixtures/write-states.js";

const ref = (id: string): { scope: string; id: string } => ({ scope: "s", id });
const counting = (key: string): ReturnType<typeof entry> => entry(key, { link: [ref("count")] });

export const sharedBackend: ConformanceTopic = {
  topic: "two handles on one backend",
  cases: [
    {
      title: "continue one order and see each other's state",
      needs: "sharedBackend",
      async run({ store, open }) {
        const handles = [store, await open()];
        for (let turn = 0; turn < 12; turn++) {
          const handle = handles[turn % 2];
          expect(await handle?.commit("n", [counting(`k${turn}`)], scriptedReduction)).toEqual([
            { status: "committed", seq: turn + 1 },
          ]);
        }
        for (const handle of handles) {
          expect(await handle.head("n")).toBe(12);
          expect(linksOf((await handle.readStates("n", "s", ["count"]))[0])).toBe(12);
          const folded = plainFold(await allEntries(handle, "n"), scriptedReduction);
          expect(await allStates(handle, "n", "s")).toEqual(folded.get("s"));
        }
      },
    },
    {
      title: "never answer from a cache what the other one has changed",
      needs: "sharedBackend",
      async run({ store, open }) {
        const other = await open();
        const read = async (): Promise<readonly (Uint8Array | undefined)[]> => {
          const seen = await store.readStates("n", "s", ["m", "absent"]);
          expect(await other.readStates("n", "s", ["m", "absent"])).toEqual(seen);
          return seen;
        };
        expect(await read()).toEqual([undefined, undefined]);
        await other.commit("n", [entry("a", { link: [ref("m")] })], scriptedReduction);
        expect(linksOf((await read())[0])).toBe(1);
        await other.commit("n", [entry("b", { link: [ref("m"), ref("absent")] })], scriptedReduction);
        expect((await read()).map(linksOf)).toEqual([2, 1]);
        await other.commit("n", [entry("c", { remove: [ref("m")] })], scriptedReduction);
        expect((await read()).map(linksOf)).toEqual([0, 1]);
        await writeStates(other, "n", [
          { ...ref("m"), value: Uint8Array.of(7) },
          { ...ref("absent"), value: null },
        ]);
        expect(await read()).toEqual([Uint8Array.of(7), undefined]);
        await other.eraseNamespace("n");
        expect(await read()).toEqual([undefined, undefined]);
        expect(await store.head("n")).toBe(0);
      },
    },
    {
      title: "tell a reader that keeps states what the other one has changed",
      needs: "sharedBackend",
      async run({ store, open }) {
        const other = await open();
        const mirror = new StateMirror(store, "n");
        const read = async (): Promise<number[]> => (await mirror.read("s", ["m", "l"])).map(linksOf);
        expect(await read()).toEqual([0, 0]);
        await other.commit("n", [entry("a", { link: [ref("m")] })], scriptedReduction);
        expect(await read()).toEqual([1, 0]);
        await store.commit("n", [entry("b", { link: [ref("l")] })], scriptedReduction);
        await other.commit("n", [entry("c", { link: [ref("m"), ref("l")] })], scriptedReduction);
        expect(await read()).toEqual([2, 2]);
        await other.commit("n", [entry("d", { remove: [ref("l")] })], scriptedReduction);
        expect(await read()).toEqual([2, 0]);
        await writeStates(other, "n", [{ ...ref("m"), value: null }]);
        expect(await read()).toEqual([0, 0]);
        await other.commit("n", [entry("e", { link: [ref("m")] })], scriptedReduction);
        await other.eraseNamespace("n");
        expect(await read()).toEqual([0, 0]);
      },
    },
    {
      title: "reduce on the other's state although they have their own in a cache",
      needs: "sharedBackend",
      async run({ store, open }) {
        const other = await open();
        await store.commit("n", [counting("a")], scriptedReduction);
        await store.readStates("n", "s", ["count"]);
        await other.commit("n", [counting("b")], scriptedReduction);
        await store.commit("n", [counting("c")], scriptedReduction);
        expect(linksOf((await other.readStates("n", "s", ["count"]))[0])).toBe(3);
      },
    },
    {
      title: "know each other's keys",
      needs: "sharedBackend",
      async run({ store, open }) {
        const other = await open();
        await store.commit("n", [counting("a")], scriptedReduction);
        expect(await other.commit("n", [counting("a"), entry("a")], scriptedReduction)).toEqual([
          { status: "duplicate", seq: 1 },
          { status: "conflict", seq: 1 },
        ]);
        await other.eraseNamespace("n");
        expect(await store.commit("n", [counting("a")], scriptedReduction)).toEqual([{ status: "committed", seq: 1 }]);
      },
    },
    {
      title: "commit at the same moment without losing, doubling or reordering anything",
      needs: "sharedBackend",
      async run({ store, open }) {
        const handles = [store, await open()];
        const calls = Array.from({ length: 60 }, (_, call) =>
          handles[call % 2]?.commit("n", [counting(`k${call >> 1}`)], scriptedReduction),
        );
        const receipts = (await Promise.all(calls)).flatMap((receipt) => receipt ?? []);
        expect(receipts.filter(({ status }) => status === "committed")).toHaveLength(30);
        expect(receipts.filter(({ status }) => status === "duplicate")).toHaveLength(30);
        for (const handle of handles) {
          const entries = await allEntries(handle, "n");
          expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
          const folded = plainFold(entries, scriptedReduction);
          expect(await allStates(handle, "n", "s")).toEqual(folded.get("s"));
        }
      },
    },
    {
      title: "compact at the same moment, while one of them commits: the later beginning counts",
      needs: "sharedBackend",
      async run({ store, open }) {
        if (!store.readCheckpoint) return;
        const other = await open();
        const state = (seq: number): StateWrite => ({ ...ref("count"), value: Uint8Array.of(seq) });
        for (let head = 0; head < 60; head += 6) {
          for (let i = 0; i < 5; i++) await store.commit("n", [counting(`k${head + i}`)], scriptedReduction);
          const upTo = (seq: number): CheckpointChange => ({ seq, states: [state(seq)] });
          const late = upTo(head + 4);
          const calls = [
            writeStates(store, "n", [], late),
            writeStates(other, "n", [], upTo(head + 2)),
            writeStates(other, "n", [], late),
          ];
          await Promise.all([...calls, store.commit("n", [counting(`k${head + 5}`)], scriptedReduction)]);
          expect(await other.readCheckpoint?.("n")).toEqual(late);
          expect((await other.readEntries("n", { limit: 10 })).map(({ seq }) => seq)).toEqual([head + 5, head + 6]);
          if (other.verify) expect(await other.verify("n")).toMatchObject({ damaged: 0 });
        }
      },
    },
    {
      title: "rank by nothing that a revocation takes out, also when it is killed before its rebuild",
      needs: "sharedBackend",
      async run({ store, open }) {
        const other = await open();
        const killed: Store = { ...store, readCheckpoint: () => Promise.reject(new Error("killed")) };
        const [left, right] = [killed, other].map((store) => createEngine({ store, readTimeout: 5_000 })) as [
          Engine,
          Engine,
        ];
        const candidates = [0.9, 0.88, 0.86].map((similarity, i) => ({ id: `d${i}`, similarity }));
        const order = async (): Promise<string[]> => {
          await other.refresh?.("default");
          return (await right.rank({ candidates, topK: 3, record: false })).items.map(({ id }) => id);
        };
        for (let run = 0; run < 20; run++) {
          const { episode } = await left.rank({ candidates: candidates.toReversed(), topK: 1, keepOrder: true });
          await left.end(episode, { reward: true, source: "liar" });
        }
        expect(await order()).toEqual(["d2", "d0", "d1"]);
        await expect(revoke(left, { namespace: "default", source: "liar" })).rejects.toThrow("killed");
        expect(await order()).toEqual(["d0", "d1", "d2"]);
        expect(await right.status()).toMatchObject({ rebuildPending: true });
        expect(await replay(right, { write: true })).toMatchObject({ identical: false });
        expect(await replay(right)).toMatchObject({ identical: true });
        expect(await right.status()).toMatchObject({ rebuildPending: false });
      },
    },
    {
      title: "leave each other open when one closes",
      needs: "sharedBackend",
      async run({ store, open }) {
        const other = await open();
        await store.commit("n", [counting("a")], scriptedReduction);
        await store.close();
        await other.commit("n", [counting("b")], scriptedReduction);
        expect(linksOf((await other.readStates("n", "s", ["count"]))[0])).toBe(2);
      },
    },
  ],
};
