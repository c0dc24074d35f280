import type { Store } from "@qavr/core";
import type { LedgerCheck, LedgerEntry } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";

const ref = { scope: "s", id: "m" };

/** Commits entries one after the other. */
async function write(store: Store, namespace: string, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await store.commit(namespace, [entry(key, { link: [ref] })], scriptedReduction);
}

async function check(store: Store, namespace?: string): Promise<LedgerCheck> {
  const found = await store.verify?.(namespace);
  expect(found).toMatchObject({ damaged: 0, damage: [], digest: expect.stringMatching(/^([0-9a-f]{2})+$/) });
  return found as LedgerCheck;
}

export const verify: ConformanceTopic = {
  topic: "verify",
  cases: [
    {
      title: "finds a ledger that nobody damaged in order, all of it or one namespace",
      needs: "verify",
      async run({ store }) {
        expect(await check(store)).toMatchObject({ namespaces: 0, entries: 0 });
        await write(store, "n", "a", "b");
        await write(store, "m\0", "a");
        expect(await check(store)).toMatchObject({ namespaces: 2, entries: 3 });
        expect(await check(store, "n")).toMatchObject({ namespaces: 1, entries: 2 });
        expect(await check(store, "never seen")).toMatchObject({ namespaces: 0, entries: 0 });
      },
    },
    {
      title: "gives two ledgers one digest if they hold the same, in whichever order their namespaces came",
      needs: "verify",
      async run({ store, fresh }) {
        const { store: other } = await fresh();
        await write(store, "n", "a", "b");
        await write(store, "m", "a");
        await write(other, "m", "a");
        await other.commit(
          "n",
          ["a", "b"].map((key) => entry(key, { link: [ref] })),
          scriptedReduction,
        );
        expect((await check(other)).digest).toBe((await check(store)).digest);
        expect((await check(other, "n")).digest).toBe((await check(store, "n")).digest);
      },
    },
    {
      title: "gives them different digests if anything differs: an entry, its place, its time, its namespace",
      needs: "verify",
      async run({ fresh }) {
        const [a, b] = [entry("a"), entry("b")];
        const ledgers: readonly (readonly [namespace: string, ...entries: LedgerEntry[]])[] = [
          ["n"],
          ["n", a],
          ["n", a, b],
          ["n", b, a],
          ["m", a, b],
          ["n", a, { ...b, at: b.at + 1 }],
          ["n", a, { ...b, type: `${b.type}s` }],
          ["n", a, { ...b, key: "bb" }],
          ["n", a, entry("b", { note: "other" })],
        ];
        const digests = new Set<string>();
        for (const [namespace, ...entries] of ledgers) {
          const { store } = await fresh();
          await store.commit(namespace, entries, scriptedReduction);
          digests.add((await check(store)).digest);
        }
        expect(digests.size).toBe(ledgers.length);
      },
    },
    {
      title: "goes on from the checkpoint after a compaction, which leaves the digest as it was",
      needs: "verify",
      async run({ store }) {
        if (!store.readCheckpoint) return;
        await write(store, "n", "a", "b", "c");
        const before = await check(store);
        const state = { ...ref, id: "kept", value: Uint8Array.of(7) };
        expect(await writeStates(store, "n", [state], { seq: 2, states: [state] })).toBe(true);
        expect(await check(store)).toEqual({ ...before, entries: 1 });
        await write(store, "n", "d");
        expect(await check(store)).toMatchObject({ entries: 2 });
        expect(await writeStates(store, "n", [], { seq: 4, states: [] })).toBe(true);
        expect(await check(store, "n")).toMatchObject({ namespaces: 1, entries: 0 });
      },
    },
    {
      title: "changes nothing, and neither does a repair of what is in order",
      needs: "verify",
      async run({ store }) {
        await write(store, "n", "a", "b");
        const before = [await allEntries(store, "n"), await allStates(store, "n", "s"), await check(store)];
        await store.repair?.();
        expect([await allEntries(store, "n"), await allStates(store, "n", "s"), await check(store)]).toEqual(before);
        await write(store, "n", "c");
        expect(await check(store)).toMatchObject({ entries: 3 });
      },
    },
    {
      title: "knows nothing of a namespace that was erased, and of one of its name that came later",
      needs: "verify",
      async run({ store }) {
        await write(store, "n", "a", "b");
        await store.eraseNamespace("n");
        expect(await check(store)).toMatchObject({ namespaces: 0, entries: 0 });
        await write(store, "n", "c");
        expect(await check(store)).toMatchObject({ namespaces: 1, entries: 1 });
      },
    },
  ],
};
