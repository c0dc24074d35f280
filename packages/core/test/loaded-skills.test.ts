import { createEngine, type Engine, memoryStore, type UseFinder } from "@qavr/core";
import { checkLoop, readLoop } from "@qavr/core/adapter";
import { replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";

const BOTH = ["old", "new"].map((id) => ({ id, similarity: 0.5, text: `${id}: deploys a service` }));

/** Runs that are shown both, load the first one, and succeed with the new one alone. */
async function loading(engine: Engine, by: UseFinder): Promise<string[]> {
  const loaded: string[] = [];
  for (let run = 0; run < 6; run++) {
    const { episode, items } = await engine.rank({ text: "deploy the service", candidates: BOTH, topK: 2 });
    const id = items[0]?.id as string;
    loaded.push(id);
    await engine.end(episode, { reward: id === "new", used: [{ id, by }] });
  }
  return loaded;
}

describe("a skill that a run loaded", () => {
  it.each([
    ["no choice is missed among those that runs load", "skill", []],
    ["a choice is missed among memories that runs quote", "quote", ["NOTHING_TO_CHOOSE_FROM"]],
  ] as const)("where all are shown: %s", async (_, by, codes) => {
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < 9; run++) await loading(engine, by);
    const head = (await engine.history({ limit: 1_000 })).events.length;
    const found = checkLoop(await readLoop(engine, "default", head)).map(({ code }) => code);
    expect(found.filter((code) => code === "NOTHING_TO_CHOOSE_FROM")).toEqual(codes);
  });

  it("is judged by the run's outcome, though another was shown beside it, and no vote is counted", async () => {
    const engine = createEngine({ store: memoryStore() });
    expect((await loading(engine, "skill")).slice(-3)).toEqual(["new", "new", "new"]);
    const { memories } = await engine.memories({});
    expect(memories.every(({ helpful, harmful }) => helpful + harmful === 0)).toBe(true);
    expect((await replay(engine)).identical).toBe(true);
  });

  it("differs from a memory that was quoted: that one shares the outcome", async () => {
    const engine = createEngine({ store: memoryStore() });
    expect(new Set(await loading(engine, "quote"))).toEqual(new Set(["old"]));
  });

  it("leaves the memories of other collections to learn from the run's outcome", async () => {
    const learned = async (used: boolean): Promise<number> => {
      const engine = createEngine({ store: memoryStore() });
      for (let run = 0; run < 40; run++) {
        const id = run % 2 === 0 ? "good" : "bad";
        const { episode } = await engine.rank({ text: "deploy", collection: "skills", candidates: BOTH, topK: 2 });
        const candidates = [{ id, similarity: 0.5 }];
        await engine.rank({ episode, text: "deploy", collection: "notes", candidates, topK: 1 });
        await engine.end(episode, { reward: id === "good", ...(used ? { used: [{ id: "old", by: "skill" }] } : {}) });
      }
      const { memories } = await engine.memories({ ids: ["good", "bad"], collection: "notes" });
      const [good, bad] = memories.map(({ utility }) => utility);
      expect((await replay(engine)).identical).toBe(true);
      return (good ?? 0) - (bad ?? 0);
    };
    expect(await learned(true)).toBeGreaterThan(0.8 * (await learned(false)));
  });
});
