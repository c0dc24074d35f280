import type { Store } from "@qavr/core";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { plainFold } from "../fixtures/plain-fold.js";
import { allEntries, allNamespaces, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";

const ref = (id: string): { scope: string; id: string } => ({ scope: "s", id });

async function snapshot(store: Store): Promise<unknown> {
  const namespaces = (await allNamespaces(store)).sort();
  return Promise.all(
    namespaces.map(async (namespace) => ({
      namespace,
      entries: await allEntries(store, namespace),
      states: await allStates(store, namespace, "s"),
    })),
  );
}

export const durability: ConformanceTopic = {
  topic: "reopening",
  cases: [
    {
      title: "continues the order, knows the keys and folds on",
      needs: "durable",
      async run({ store, open }) {
        await store.commit("n", [entry("a", { link: [ref("m")] })], scriptedReduction);
        await store.close();
        const reopened = await open();
        const receipts = await reopened.commit(
          "n",
          [entry("a", { link: [ref("m")] }), entry("a"), entry("b", { link: [ref("m")] })],
          scriptedReduction,
        );
        expect(receipts).toEqual([
          { status: "duplicate", seq: 1 },
          { status: "conflict", seq: 1 },
          { status: "committed", seq: 2 },
        ]);
        const folded = plainFold(await allEntries(reopened, "n"), scriptedReduction);
        expect(await allStates(reopened, "n", "s")).toEqual(folded.get("s"));
      },
    },
    {
      title: "finds entries and states as they were, removals, replaced states and erased namespaces included",
      needs: "durable",
      async run({ store, open }) {
        for (const namespace of ["removed", "replaced", "erased", "n\0"]) {
          await store.commit(namespace, [entry("a", { link: [ref("m"), ref("l")] })], scriptedReduction);
        }
        await store.commit("removed", [entry("b", { remove: [ref("m")] })], scriptedReduction);
        const states = [
          { ...ref("m"), value: Uint8Array.of(5) },
          { ...ref("l"), value: null },
        ];
        await writeStates(store, "replaced", states);
        await store.eraseNamespace("erased");
        const before = await snapshot(store);
        await store.close();
        const reopened = await open();
        expect(await snapshot(reopened)).toEqual(before);
        expect((await allNamespaces(reopened)).sort()).toEqual(["n\0", "removed", "replaced"]);
        expect(await reopened.readStates("replaced", "s", ["m", "l"])).toEqual([Uint8Array.of(5), undefined]);
      },
    },
    {
      title: "finds nothing of a call that was refused",
      needs: "durable",
      async run({ store, open }) {
        await store.commit("n", [entry("a", { link: [ref("m")] })], scriptedReduction);
        const before = await snapshot(store);
        const failing = store.commit("n", [entry("b", { link: [ref("m")] }), entry("c")], function* (sequenced) {
          if (sequenced.key === "c") throw new Error("The reduction failed on purpose.");
          return yield* scriptedReduction(sequenced);
        });
        await expect(failing).rejects.toThrow("on purpose");
        await store.close();
        expect(await snapshot(await open())).toEqual(before);
      },
    },
  ],
};
