import { type Engine, type Learner, memoryStore, type Store } from "@qavr/core";
import { exportState, forget, replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { candidates, oneRun, testEngine } from "../../core/test/support/test-engine.js";
import { cav, jar } from "../src/index.js";

/** A store that records the states written by each commit. */
function watched(): { readonly store: Store; readonly written: () => readonly string[] } {
  const store = memoryStore();
  const written = new Set<string>();
  const commit: Store["commit"] = (namespace, entries, reduce) => {
    written.clear();
    return store.commit(namespace, entries, function* watch(entry) {
      const writes = yield* reduce(entry);
      for (const { scope, id } of writes) written.add(`${scope}/${id}`);
      return writes;
    });
  };
  return { store: { ...store, commit }, written: () => [...written] };
}

/** Run number `run` shows two memories of its own. */
async function runOnce(engine: Engine, run: number, reward: number): Promise<string> {
  const own = candidates(2).map((candidate, i) => ({ ...candidate, id: `run${run}-${i}` }));
  const episode = await oneRun(engine, { vector: [1, run, run * run, 1], candidates: own, topK: 2 }, { reward });
  return episode;
}

const small = (log: number, count: number): Learner => {
  const learner = jar();
  return { ...learner, revisits: { ...learner.revisits, log, count } } as Learner;
};

const episodesIn = (written: readonly string[]): string[] =>
  written.filter((state) => state.startsWith("episode/")).map((state) => state.slice("episode/".length));

describe("revisits", () => {
  it("fit the next runs of the ring again, round robin, and write their episodes and memories", async () => {
    const { store, written } = watched();
    const { engine } = testEngine({ store, learner: small(4, 2) });
    const episodes: string[] = [];
    const revisited: (readonly number[])[] = [];
    for (let run = 0; run < 8; run++) {
      const episode = await runOnce(engine, run, run % 2);
      episodes.push(episode);
      const others = episodesIn(written()).filter((id) => id !== episode);
      revisited.push(others.map((id) => episodes.indexOf(id)).sort((a, b) => a - b));
      const memories = written().filter((state) => state.startsWith("memory:"));
      expect(memories).toHaveLength(2 + 2 * others.length);
    }
    // The ring holds four runs; from the fifth on each new one replaces the oldest. The place of the new run is skipped.
    expect(revisited).toEqual([[], [0], [1], [0], [1, 2], [3, 4], [5], [4]]);
  });

  it("touch nothing but the run itself for a learner that fits each run once", async () => {
    for (const learner of [cav(), small(4, 0)] as Learner[]) {
      const { store, written } = watched();
      const { engine } = testEngine({ store, learner });
      for (let run = 0; run < 5; run++) {
        const episode = await runOnce(engine, run, 1);
        expect(episodesIn(written())).toEqual([episode]);
        expect(written().filter((state) => state.startsWith("revisit/"))).toEqual([]);
      }
    }
  });

  it("are the same when the ledger is folded again", async () => {
    const { engine } = testEngine({ learner: small(4, 2) });
    for (let run = 0; run < 12; run++) await runOnce(engine, run, run % 3 === 0 ? 1 : 0);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("do not repeat for a correction, which replaces what the run itself contributed", async () => {
    const { store, written } = watched();
    const { engine } = testEngine({ store, learner: small(4, 2) });
    const [first] = [await runOnce(engine, 0, 0), await runOnce(engine, 1, 1)];
    await engine.report(first as string, { reward: 1, tier: "verified" });
    expect(episodesIn(written())).toEqual([first]);
    const { memories } = await exportState(engine);
    const shown = memories.find(({ id }) => id === "run0-0") as { state: { advantage: number } } | undefined;
    expect(shown?.state.advantage).toBeGreaterThan(0);
  });

  it("leave alone what was forgotten", async () => {
    const { engine } = testEngine({ learner: small(8, 8) });
    for (let run = 0; run < 4; run++) await runOnce(engine, run, 1);
    await forget(engine, { namespace: "default", ids: ["run1-0"] });
    for (let run = 4; run < 8; run++) await runOnce(engine, run, 0);
    const { memories } = await exportState(engine);
    expect(memories.map(({ id }) => id)).not.toContain("run1-0");
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});
