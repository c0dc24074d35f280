import type { Store } from "@qavr/core";
import type { Compaction } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { StateMirror } from "../fixtures/state-mirror.js";

const ref = (id: string, scope = "s"): { scope: string; id: string } => ({ scope, id });
const state = (id: string, byte: number) => ({ ...ref(id), value: Uint8Array.of(byte) });

/** A namespace of five entries, keys `k0` … `k4`. */
async function five(store: Store, namespace = "n"): Promise<void> {
  for (let i = 0; i < 5; i++) await store.commit(namespace, [entry(`k${i}`, { link: [ref("m")] })], scriptedReduction);
}

const upTo = (through: number, compaction: Partial<Compaction> = {}): Compaction => ({
  head: 5,
  through,
  checkpoint: [state("m", through)],
  states: [state("m", 5)],
  ...compaction,
});

export const compact: ConformanceTopic = {
  topic: "compact",
  cases: [
    {
      title: "drops entries, keeps the places of the others, and hands out the checkpoint",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await five(store, "other");
        expect(await store.readCheckpoint?.("n")).toBeUndefined();
        const kept = (await allEntries(store, "n")).slice(3);
        const others = await allEntries(store, "other");
        const checkpoint = [
          state("m", 3),
          { ...ref("m", "t"), value: new Uint8Array() },
          { ...ref("gone"), value: null },
        ];
        expect(await store.compact?.("n", upTo(3, { checkpoint }))).toBe(true);
        expect(await store.head("n")).toBe(5);
        expect(await store.readEntries("n", { limit: 10 })).toEqual(kept);
        for (const after of [1, 3]) expect(await store.readEntries("n", { after, limit: 10 })).toEqual(kept);
        expect(await store.readEntries("n", { after: 4, limit: 10 })).toEqual(kept.slice(1));
        expect(await store.readEntries("n", { after: 1, limit: 1 })).toEqual(kept.slice(0, 1));
        const found = await store.readCheckpoint?.("n");
        expect(found?.seq).toBe(3);
        expect(new Set(found?.states)).toEqual(new Set(checkpoint.slice(0, 2)));
        expect(await allEntries(store, "other")).toEqual(others);
        expect(await store.readCheckpoint?.("other")).toBeUndefined();
      },
    },
    {
      title: "replaces the states, and lets later commits build on them",
      needs: "compact",
      async run({ store }) {
        await five(store);
        const mirror = store.changesSince && new StateMirror(store, "n");
        await mirror?.read("s", ["m", "new"]);
        await store.compact?.("n", upTo(5, { states: [state("new", 9)] }));
        expect(await allStates(store, "n", "s")).toEqual(new Map([["new", Uint8Array.of(9)]]));
        if (mirror) expect(await mirror.read("s", ["m", "new"])).toEqual([undefined, Uint8Array.of(9)]);
        expect(await store.readEntries("n", { limit: 10 })).toEqual([]);
        expect(await store.namespaces({ limit: 10 })).toEqual(["n"]);
        expect(await store.commit("n", [entry("k5", { link: [ref("m")] })], scriptedReduction)).toEqual([
          { status: "committed", seq: 6 },
        ]);
        expect((await store.readEntries("n", { limit: 10 })).map(({ seq, key }) => [seq, key])).toEqual([[6, "k5"]]);
      },
    },
    {
      title: "keeps the keys of dropped entries taken, with their places and payloads",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await store.compact?.("n", upTo(2));
        await store.compact?.("n", upTo(4));
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
      title: "changes nothing when the head has moved, or never was there",
      needs: "compact",
      async run({ store }) {
        await five(store);
        const before = [await allEntries(store, "n"), await allStates(store, "n", "s")];
        for (const head of [4, 6]) expect(await store.compact?.("n", upTo(3, { head }))).toBe(false);
        expect(await store.compact?.("never seen", upTo(3))).toBe(false);
        expect([await allEntries(store, "n"), await allStates(store, "n", "s")]).toEqual(before);
        expect(await store.readCheckpoint?.("n")).toBeUndefined();
        expect(await store.namespaces({ limit: 10 })).toEqual(["n"]);
      },
    },
    {
      title: "refuses places outside the ledger and states that no store would keep, and changes nothing",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await store.compact?.("n", upTo(2));
        for (const through of [0, 1, 2, 6, 2.5, Number.NaN]) {
          await expect(store.compact?.("n", upTo(through))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
        }
        for (const wrong of [{ checkpoint: [state("", 1)] }, { states: [state("", 1)] }]) {
          await expect(store.compact?.("n", upTo(4, wrong))).rejects.toMatchObject({ code: "INVALID_ID" });
        }
        expect(await store.readCheckpoint?.("n")).toEqual({ seq: 2, states: [state("m", 2)] });
        expect(await store.readEntries("n", { limit: 10 })).toHaveLength(3);
      },
    },
    {
      title: "leaves nothing behind when the namespace is erased",
      needs: "compact",
      async run({ store }) {
        await five(store);
        await store.compact?.("n", upTo(3));
        await store.eraseNamespace("n");
        expect(await store.head("n")).toBe(0);
        expect(await store.readCheckpoint?.("n")).toBeUndefined();
        expect(await store.commit("n", [entry("k0")], scriptedReduction)).toEqual([{ status: "committed", seq: 1 }]);
      },
    },
  ],
};
