import type { Store } from "@qavr/core";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { plainFold } from "../fixtures/plain-fold.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";

const ref = (id: number, scope = "memory:docs"): { scope: string; id: string } => ({ scope, id: `m${id}` });

/** A history that links, removes, follows and overwrites states of three scopes, in calls of one to five entries. */
async function writeHistory(store: Store, namespace: string, salt: number): Promise<void> {
  let next = 0;
  for (let call = 0; call < 12; call++) {
    const entries = Array.from({ length: 1 + ((call + salt) % 5) }, () => {
      const n = next++;
      return entry(`${salt}-${n}`, {
        link: [ref(n % 7), ref((n * 3) % 11, "shared"), ...(n % 4 === 0 ? [ref(n % 5, "stats")] : [])],
        ...(n % 6 === 5 ? { remove: [ref((n + salt) % 9)] } : {}),
        ...(n % 3 === 1 ? { follow: ref(n % 7) } : {}),
      });
    });
    await store.commit(namespace, entries, scriptedReduction);
  }
}

export const replay: ConformanceTopic = {
  topic: "replay",
  cases: [
    {
      title: "holds exactly the state that folding its entries again gives, byte for byte",
      async run({ store }) {
        await writeHistory(store, "one", 0);
        await writeHistory(store, "two", 3);
        for (const namespace of ["one", "two"]) {
          const folded = plainFold(await allEntries(store, namespace), scriptedReduction);
          expect([...folded.keys()].sort()).toEqual(["memory:docs", "shared", "stats"]);
          for (const [scope, states] of folded) {
            expect(await allStates(store, namespace, scope)).toEqual(states);
            const ids = [...states.keys()];
            expect(await store.readStates(namespace, scope, ids)).toEqual(ids.map((id) => states.get(id)));
          }
        }
      },
    },
    {
      title: "folds many calls of one moment into the state that their order in the ledger defines",
      async run({ store }) {
        await Promise.all([writeHistory(store, "n", 1), writeHistory(store, "n", 2), writeHistory(store, "n", 5)]);
        const entries = await allEntries(store, "n");
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1));
        for (const [scope, states] of plainFold(entries, scriptedReduction)) {
          expect(await allStates(store, "n", scope)).toEqual(states);
        }
      },
    },
  ],
};
