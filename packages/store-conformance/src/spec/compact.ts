import type { Store } from "@qavr/core";
import type { Checkpoint } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";

const ref = (id: string, scope = "s"): { scope: string; id: string } => ({ scope, id });
const state = (id: string, byte: number) => ({ ...ref(id), value: Uint8Array.of(byte) });
const upTo = (seq: number): Checkpoint => ({ seq, states: [state("m", seq)] });

/** A namespace of five entries, keys `k0` … `k4`. */
async function five(store: Store, namespace = "n"): Promise<void> {
  for (let i = 0; i < 5; i++) await store.commit(namespace, [entry(`k${i}`, { link: [ref("m")] })], scriptedReduction);
}

/** Checkpoints that work at the head returns. */
export const compact: ConformanceTopic = {
  topic: "checkpoints",
  cases: [
    {
      title: "drop entries, keep the places of the others, and are handed out",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await five(store, "other");
        expect(await store.readCheckpoint?.("n")).toBeUndefined();
        const kept = (await allEntries(store, "n")).slice(3);
        const [others, states] = [await allEntries(store, "other"), await allStates(store, "n", "s")];
        const checkpoint = { seq: 3, states: [state("m", 3), { ...ref("m", "t"), value: new Uint8Array() }] };
        expect(await writeStates(store, "n", [state("new", 9)], checkpoint)).toBe(true);
        expect(await store.head("n")).toBe(5);
        for (const after of [0, 1, 3]) expect(await store.readEntries("n", { after, limit: 10 })).toEqual(kept);
        expect(await store.readEntries("n", { after: 4, limit: 10 })).toEqual(kept.slice(1));
        expect(await store.readEntries("n", { after: 1, limit: 1 })).toEqual(kept.slice(0, 1));
        const found = await store.readCheckpoint?.("n");
        expect(found?.seq).toBe(3);
        expect(new Set(found?.states)).toEqual(new Set(checkpoint.states));
        expect(await allStates(store, "n", "s")).toEqual(states.set("new", Uint8Array.of(9)));
        expect(await allEntries(store, "other")).toEqual(others);
        expect(await store.readCheckpoint?.("other")).toBeUndefined();
      },
    },
    {
      title: "show the work that follows the entries that are left",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await writeStates(store, "n", [], upTo(4));
        let seen: unknown;
        const done = await store.atHead("n", {
          after: 0,
          limit: 1,
          write: false,
          *work(entries, head) {
            const [m] = yield [ref("m")];
            seen = [entries.map(({ key }) => key), head, m];
            return undefined;
          },
        });
        expect([done, seen]).toEqual([true, [["k4"], 5, (await store.readStates("n", "s", ["m"]))[0]]]);
      },
    },
    {
      title: "may leave no entry, and later commits go on from the head",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await writeStates(store, "n", [], upTo(5));
        expect(await store.readEntries("n", { limit: 10 })).toEqual([]);
        expect(await store.namespaces({ limit: 10 })).toEqual(["n"]);
        expect(await store.commit("n", [entry("k5", { link: [ref("m")] })], scriptedReduction)).toEqual([
          { status: "committed", seq: 6 },
        ]);
        expect((await store.readEntries("n", { limit: 10 })).map(({ seq, key }) => [seq, key])).toEqual([[6, "k5"]]);
      },
    },
    {
      title: "keep the keys of dropped entries taken, with their places and payloads",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await writeStates(store, "n", [], upTo(2));
        await writeStates(store, "n", [], upTo(4));
        const again = [0, 1, 2, 3, 4].map((i) => entry(`k${i}`, { link: [ref("m")] }));
        expect(await store.commit("n", again, scriptedReduction)).toEqual(
          again.map((_, i) => ({ status: "duplicate", seq: i + 1 })),
        );
        const others = [0, 4].map((i) => entry(`k${i}`, { note: "another payload" }));
        expect(await store.commit("n", others, scriptedReduction)).toEqual([
          { status: "conflict", seq: 1 },
          { status: "conflict", seq: 5 },
        ]);
        expect(await store.head("n")).toBe(5);
        for (const [i, { key, payload }] of again.entries()) {
          const found = await store.findKey("n", key);
          expect([found?.seq, found?.hasPayload(payload)]).toEqual([i + 1, true]);
          expect(found?.hasPayload(entry(key, { note: "another payload" }).payload)).toBe(false);
        }
      },
    },
    {
      title: "are changed state by state, at a later place or at their own",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await writeStates(store, "n", [], { seq: 2, states: [state("a", 1), state("b", 2), state("c", 3)] });
        const steps = [
          { seq: 4, states: [state("b", 4), { ...ref("c"), value: null }], left: [state("a", 1), state("b", 4)] },
          { seq: 4, states: [{ ...ref("a"), value: null }, state("d", 5)], left: [state("b", 4), state("d", 5)] },
          { seq: 4, states: [state("d", 6), state("d", 7)], left: [state("b", 4), state("d", 7)] },
          {
            seq: 5,
            states: [
              { ...ref("b"), value: null },
              { ...ref("d"), value: null },
            ],
            left: [],
          },
        ];
        for (const { left, ...change } of steps) {
          expect(await writeStates(store, "n", [], change)).toBe(true);
          const found = await store.readCheckpoint?.("n");
          expect([found?.seq, new Set(found?.states)]).toEqual([change.seq, new Set(left)]);
          if (store.verify) expect(await store.verify("n")).toMatchObject({ damaged: 0 });
        }
        expect(await store.readEntries("n", { limit: 10 })).toEqual([]);
      },
    },
    {
      title: "change nothing where entries up to their place were dropped before",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await writeStates(store, "n", [], upTo(3));
        const left = await store.readEntries("n", { limit: 10 });
        const states = await allStates(store, "n", "s");
        for (const seq of [0, 2]) {
          expect(await writeStates(store, "n", [state("new", 9)], { seq, states: [state("other", 1)] })).toBe(true);
          expect(await store.readCheckpoint?.("n")).toEqual(upTo(3));
          expect(await store.readEntries("n", { limit: 10 })).toEqual(left);
          expect(await allStates(store, "n", "s")).toEqual(states);
        }
        expect(await writeStates(store, "never seen", [], upTo(3))).toBe(true);
        expect(await store.namespaces({ limit: 10 })).toEqual(["n"]);
      },
    },
    {
      title: "leave nothing behind when the namespace is erased",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await writeStates(store, "n", [], upTo(3));
        await store.eraseNamespace("n");
        expect(await store.head("n")).toBe(0);
        expect(await store.readCheckpoint?.("n")).toBeUndefined();
        expect(await store.commit("n", [entry("k0")], scriptedReduction)).toEqual([{ status: "committed", seq: 1 }]);
      },
    },
  ],
};
