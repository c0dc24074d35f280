import { DAMAGED_STATE } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { entry, linksOf, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";

const links = [{ scope: "s", id: "a" }];

export const damage: ConformanceTopic = {
  topic: "damage",
  cases: [
    {
      title: "appends nothing to a namespace whose head is damaged, and does not say its place",
      needs: "damage",
      async run({ store, open, damage }) {
        await store.commit("n", [entry("1", { link: links }), entry("2", { link: links })], scriptedReduction);
        await store.commit("whole", [entry("1", { link: links })], scriptedReduction);
        await store.close();
        for (const part of ["head", "digest"] as const) {
          // Twice flipped is whole.
          await damage?.(part);
          const damaged = await open();
          const commit = (namespace: string) =>
            damaged.commit(namespace, [entry(`new ${part}`, { link: links })], scriptedReduction);
          for (let time = 0; time < 2; time++) {
            await expect(commit("n"), part).rejects.toMatchObject({ code: "STORE_CORRUPT" });
          }
          await expect(damaged.head("n"), part).rejects.toMatchObject({ code: "STORE_CORRUPT" });
          await expect(writeStates(damaged, "n", []), part).rejects.toMatchObject({ code: "STORE_CORRUPT" });
          expect(await commit("whole")).toMatchObject([{ status: "committed" }]);
          await damaged.close();
          await damage?.(part);
        }
        const again = await open();
        expect(await again.commit("n", [entry("3", { link: links })], scriptedReduction)).toEqual([
          { status: "committed", seq: 3 },
        ]);
        expect(linksOf((await again.readStates("n", "s", ["a"]))[0])).toBe(3);
      },
    },
    {
      title: "reads a damaged state as DAMAGED_STATE, and reduces nothing on top of it until it is replaced",
      needs: "damage",
      async run({ store, open, damage }) {
        await store.commit("n", [entry("1", { link: links })], scriptedReduction);
        const [kept] = await store.readStates("n", "s", ["a"]);
        await store.close();
        await damage?.("states");
        const damaged = await open();
        const [read] = await damaged.readStates("n", "s", ["a"]);
        expect(read).toBe(DAMAGED_STATE);
        const [scanned] = await damaged.scanStates("n", "s", { limit: 10 });
        expect(scanned).toEqual({ id: "a", value: DAMAGED_STATE });
        const onTop = damaged.commit("n", [entry("2", { link: links })], scriptedReduction);
        const beside = damaged.commit("n", [entry("3", { link: [{ scope: "s", id: "b" }] })], scriptedReduction);
        await expect(onTop).rejects.toMatchObject({ code: "STORE_CORRUPT", details: { scope: "s", state: "a" } });
        expect(await beside).toEqual([{ status: "committed", seq: 2 }]);
        await writeStates(damaged, "n", [{ scope: "s", id: "a", value: kept as Uint8Array }]);
        await damaged.commit("n", [entry("2", { link: links })], scriptedReduction);
        expect(linksOf((await damaged.readStates("n", "s", ["a"]))[0])).toBe(2);
      },
    },
  ],
};
