import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { expectRefusal } from "../fixtures/expect-refusal.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";

const counter = { scope: "stats", id: "count" };
const counting = (key: string): ReturnType<typeof entry> => entry(key, { link: [counter] });

export const close: ConformanceTopic = {
  topic: "close",
  cases: [
    {
      title: "refuses every call after it",
      async run({ store }) {
        await store.commit("n", [counting("a")], scriptedReduction);
        await store.close();
        await expectRefusal(store.commit("n", [counting("b")], scriptedReduction), "STORE_CLOSED");
        await expectRefusal(store.readStates("n", "stats", ["count"]), "STORE_CLOSED");
        await expectRefusal(store.scanStates("n", "stats", { limit: 1 }), "STORE_CLOSED");
        await expectRefusal(store.readEntries("n", { limit: 1 }), "STORE_CLOSED");
        await expectRefusal(store.findKey("n", "a"), "STORE_CLOSED");
        await expectRefusal(store.head("n"), "STORE_CLOSED");
        await expectRefusal(store.namespaces({ limit: 1 }), "STORE_CLOSED");
        await expectRefusal(writeStates(store, "n", []), "STORE_CLOSED");
        await expectRefusal(store.eraseNamespace("n"), "STORE_CLOSED");
      },
    },
    {
      title: "may be called twice, also at the same moment",
      async run({ store }) {
        await Promise.all([store.close(), store.close()]);
        await store.close();
      },
    },
    {
      title: "finishes the commits under way first",
      async run({ store }) {
        const calls = Array.from({ length: 5 }, (_, i) => store.commit("n", [counting(`k${i}`)], scriptedReduction));
        const closed = store.close();
        const receipts = (await Promise.all(calls)).flat();
        expect(receipts.map(({ seq }) => seq).sort()).toEqual([1, 2, 3, 4, 5]);
        await closed;
      },
    },
    {
      title: "keeps what was under way when it was called",
      needs: "durable",
      async run({ store, open }) {
        const calls = Array.from({ length: 5 }, (_, i) => store.commit("n", [counting(`k${i}`)], scriptedReduction));
        await Promise.all([store.close(), ...calls]);
        const reopened = await open();
        expect(await reopened.head("n")).toBe(5);
        expect(linksOf((await reopened.readStates("n", "stats", ["count"]))[0])).toBe(5);
      },
    },
  ],
};
