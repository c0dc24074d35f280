import type { Store } from "@qavr/core";
import { expect } from "vitest";
import type { CaseContext, ConformanceTopic } from "../conformance-case.js";
import { plainFold } from "../fixtures/plain-fold.js";
import { allEntries, allStates } from "../fixtures/read-all.js";
import { entry, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { StateMirror } from "../fixtures/state-mirror.js";
import { writeStates } from "../fixtures/write-states.js";

const COUNT = { scope: "s", id: "count" };
/** The note makes its writes distinct. */
const counting = (key: string): ReturnType<typeof entry> => entry(key, { link: [COUNT], note: key });

/** Two handles on two entries that will stay, with the means to lose what follows. */
async function twoHandles({ store, open, remember }: CaseContext): Promise<{
  readonly store: Store;
  readonly other: Store;
  readonly goBack: () => Promise<void>;
}> {
  const other = await open();
  // Twice, so that a handle may take itself for the only one.
  for (const key of ["a", "b"]) await store.commit("n", [counting(key)], scriptedReduction);
  return { store, other, goBack: (await remember?.()) as () => Promise<void> };
}

/** Expects every handle to find the entries with these keys, in order, and the states that follow from them. */
async function expectLedger(handles: readonly Store[], keys: readonly string[]): Promise<void> {
  for (const handle of handles) {
    const entries = await allEntries(handle, "n");
    expect(entries.map(({ key, seq }) => `${seq} ${key}`)).toEqual(keys.map((key, place) => `${place + 1} ${key}`));
    const counted = plainFold(entries, scriptedReduction).get("s");
    expect(await allStates(handle, "n", "s")).toEqual(counted);
    expect((await handle.readStates("n", "s", ["count"]))[0]).toEqual(counted?.get("count"));
    expect((await handle.verify?.())?.damaged ?? 0).toBe(0);
  }
}

export const goingBack: ConformanceTopic = {
  topic: "a backend that goes back",
  cases: [
    {
      title: "has handles that go on with what is there, although they know another history of the same length",
      needs: "goesBack",
      async run(context) {
        const { store, other, goBack } = await twoHandles(context);
        const mirror = new StateMirror(store, "n");
        await store.commit("n", [counting("lost")], scriptedReduction);
        await mirror.read("s", ["count"]);
        await goBack();
        await other.commit("n", [counting("kept")], scriptedReduction);
        expect(await mirror.read("s", ["count"])).toEqual(await other.readStates("n", "s", ["count"]));
        await expectLedger([store, other], ["a", "b", "kept"]);
        expect(await store.commit("n", [counting("c")], scriptedReduction)).toEqual([{ status: "committed", seq: 4 }]);
        await expectLedger([store, other], ["a", "b", "kept", "c"]);
      },
    },
    {
      title: "has handles that reduce on what is there, also when that is all they are asked for",
      needs: "goesBack",
      async run(context) {
        const { store, other, goBack } = await twoHandles(context);
        await store.commit("n", [counting("lost")], scriptedReduction);
        await goBack();
        await other.commit("n", [counting("kept")], scriptedReduction);
        await store.commit("n", [counting("c")], scriptedReduction);
        await expectLedger([store, other], ["a", "b", "kept", "c"]);
      },
    },
    {
      title: "has free keys where entries were lost, and knows those that were not",
      needs: "goesBack",
      async run(context) {
        const { store, other, goBack } = await twoHandles(context);
        await store.commit("n", [counting("lost"), counting("also lost")], scriptedReduction);
        await goBack();
        const again = ["also lost", "b", "lost"].map(counting);
        expect(await store.commit("n", again, scriptedReduction)).toEqual([
          { status: "committed", seq: 3 },
          { status: "duplicate", seq: 2 },
          { status: "committed", seq: 4 },
        ]);
        await expectLedger([store, other], ["a", "b", "also lost", "lost"]);
      },
    },
    {
      title: "has handles that know nothing of states that were written at the head in a lost history",
      needs: "goesBack",
      async run(context) {
        const { store, other, goBack } = await twoHandles(context);
        await writeStates(store, "n", [{ ...COUNT, value: Uint8Array.of(1) }]);
        await store.readStates("n", "s", ["count"]);
        await goBack();
        await writeStates(other, "n", [{ ...COUNT, value: Uint8Array.of(2) }]);
        expect(await store.readStates("n", "s", ["count"])).toEqual([Uint8Array.of(2)]);
      },
    },
  ],
};
