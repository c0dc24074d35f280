import { describe, expect, it } from "vitest";
import { createEngine } from "../engine/create-engine.js";
import type { RankedItem } from "../engine/types.js";
import { memoryStore } from "../store/memory-store.js";
import { createRunKit, type RunRanking } from "./run-kit.js";
import { createRunSession } from "./run-session.js";
import { worthShowing } from "./worth-showing.js";

const item = (id: string, learned: number, utility: number, evidence: number): RankedItem =>
  ({ id, learned, utility, evidence }) as RankedItem;
const kept = (items: readonly RankedItem[], minWorth: number, order: "learned" | "host" = "learned"): string[] =>
  worthShowing({ items, order }, minWorth).map(({ id }) => id);

describe("worthShowing", () => {
  const items = [
    item("good", 0.3, 0.5, 9),
    item("bad", -0.1, -0.2, 9),
    item("new", 0, 0, 0),
    item("some", 0.1, 0.1, 2),
  ];

  it("leaves out what is known and not expected to help, once another memory is expected to help enough", () => {
    expect(kept(items, 0.5)).toEqual(["good", "new", "some"]);
    expect(kept(items, 0.6)).toEqual(["good", "bad", "new", "some"]);
  });

  it("keeps the first, and all where the order is the host's or closed gates leave nothing learned", () => {
    expect(kept([item("bad", -0.1, -0.2, 9), ...items], 0.5)).toEqual(["bad", "good", "new", "some"]);
    expect(kept(items, 0.5, "host")).toHaveLength(4);
    const closed = items.map((one) => ({ ...one, learned: 0 }));
    expect(kept(closed, 0.5)).toHaveLength(4);
  });
});

describe("a kit's ranking with minWorth", () => {
  const candidates = [
    { id: "bad", similarity: 0.9 },
    { id: "good", similarity: 0.8 },
    { id: "other", similarity: 0.7 },
    { id: "far", similarity: 0.2 },
  ];

  it.each(["in a run", "outside any run"])(
    "shows no memory that it leaves out, which earns nothing: %s",
    async (where) => {
      const engine = createEngine({ store: memoryStore() });
      for (let run = 0; run < 12; run++) {
        const one = candidates.slice(run % 2, (run % 2) + 1);
        const { episode } = await engine.rank({ vector: [1, 0], candidates: one, topK: 1 });
        await engine.end(episode, { reward: run % 2 === 1, tier: "verified" });
      }
      const kit = createRunKit({ engine, logger: undefined, onError: "throw", storable: (name) => name });
      const session =
        where === "in a run"
          ? createRunSession({ engine: kit.engine, open: (namespace) => engine.open({ namespace }) })
          : undefined;
      const ranking: RunRanking<{ ids: string[]; episode: string }> = {
        session,
        runId: undefined,
        minWorth: 0.1,
        mapIn: () => ({ namespace: "default", vector: [1, 0], candidates: candidates.slice().reverse(), topK: 4 }),
        mapOut: ({ items, episode }) => ({ ids: items.map(({ id }) => id), episode }),
      };
      const shown = await kit.rank(ranking);
      expect(shown?.ids.toSorted()).toEqual(["far", "good", "other"]);
      const { episode } = shown as { episode: string };
      const [exposure] = (await engine.explain(episode))?.exposures ?? [];
      expect(exposure?.notShown).toMatchObject([{ id: "bad", reason: "dropped" }]);
      await engine.end(episode, { reward: false, tier: "verified" });
      const { memories } = await engine.memories({ ids: ["bad", "good", "far"] });
      expect(memories.map(({ shown: times, failures }) => [times, failures])).toEqual([
        [6, 6],
        [7, 1],
        [1, 1],
      ]);
      await engine.close();
    },
  );
});
