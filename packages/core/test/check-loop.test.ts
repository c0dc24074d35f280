import { createEngine, type Engine, memoryStore, type OutcomeInput } from "@qavr/core";
import { checkLoop, readLoop } from "@qavr/core/adapter";
import { describe, expect, it } from "vitest";

const RUNS = 50;

async function codesOf(engine: Engine): Promise<string[]> {
  const { events } = await engine.history({ limit: 1_000 });
  return checkLoop(await readLoop(engine, "default", events.length)).map(({ code }) => code);
}

describe("one text under many ids", () => {
  it.each([
    ["is a sign of ids that change", "notes", true],
    ["is no sign among messages, where a question that is asked again is another one", "messages", false],
    ["is no sign among messages under a later name either", "messages-2", false],
  ] as const)("%s", async (_, collection, isFound) => {
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < RUNS; run++) {
      const candidates = [run, run + 1].map((id) => ({ id: `m${id}`, similarity: 0.5, text: "the queue is stuck" }));
      await engine.end((await engine.rank({ collection, candidates, topK: 1 })).episode, { reward: run % 2 });
    }
    expect((await codesOf(engine)).includes("IDS_CHANGE")).toBe(isFound);
  });
});

describe("a store that was filled again once, with new ids", () => {
  it.each([
    ["is found though some texts were shown in one half only", 8, true],
    ["is not found where only a few texts have two ids", 3, false],
  ])("%s", async (_, repeated, isFound) => {
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < 2 * RUNS; run++) {
      const candidates = [run % 10, run % 2].map((i) => ({
        id: run < RUNS || i >= repeated ? `${i}` : `new-${i}`,
        similarity: 1 / (i + 1),
        text: `note ${i}`,
      }));
      await engine.end((await engine.rank({ candidates, topK: 1, keepOrder: true })).episode, { reward: run % 2 });
    }
    expect((await codesOf(engine)).includes("IDS_CHANGE")).toBe(isFound);
  });
});

describe("more memories than one read takes", () => {
  it("keep nothing from being found", async () => {
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < RUNS; run++) {
      const candidates = Array.from({ length: 250 }, (_, i) => ({
        id: `${run}-${i}`,
        similarity: 0.5,
        text: `note ${i}`,
      }));
      await engine.end((await engine.rank({ candidates, topK: 250 })).episode, { reward: run % 2 });
    }
    expect(await codesOf(engine)).toContain("IDS_CHANGE");
  });
});

describe("one id in two collections", () => {
  it("is no sign of ids that change, with texts and without", async () => {
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < 2 * RUNS; run++) {
      const collection = run % 2 ? "lessons" : "documents";
      const candidates = ["a", "b"].map((id) => ({ id, similarity: 0.5, ...(run < RUNS ? {} : { text: id }) }));
      await engine.end((await engine.rank({ collection, candidates, topK: 2 })).episode, { reward: (run >> 1) % 2 });
    }
    expect(await codesOf(engine)).not.toContain("IDS_CHANGE");
  });
});

describe("the rewards of runs that find one memory", () => {
  it.each<[string, (run: number) => OutcomeInput, readonly string[]]>([
    [
      "are no finding where some were judged",
      (run) => ({ reward: run % 2, tier: run < 30 ? "completed" : "user" }),
      [],
    ],
    ["are one finding where none was judged", () => ({ reward: 1, tier: "completed" }), ["NOTHING_JUDGED"]],
    ["are a finding where all are the same", () => ({ reward: 1 }), ["REWARDS_EQUAL"]],
  ])("%s", async (_, outcomeOf, codes) => {
    const engine = createEngine({ store: memoryStore() });
    let last = "";
    for (let run = 0; run < RUNS; run++) {
      const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, keepOrder: true });
      await engine.end(episode, outcomeOf(run));
      last = episode;
    }
    expect(await codesOf(engine)).toEqual(codes);
    await engine.report(last, { reward: 0, tier: "user" });
    expect(await codesOf(engine)).toEqual([]);
  });
});

describe("a run without an outcome", () => {
  it("is a finding when it has ended, and none while it waits for a person", async () => {
    const engine = createEngine({ store: memoryStore() });
    const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 1 - i / 2 }));
    for (let run = 0; run < RUNS; run++) {
      await engine.suspend((await engine.rank({ candidates, topK: 1 })).episode, { alias: `thread-${run}` });
    }
    expect(await codesOf(engine)).toEqual([]);
    for (let run = 0; run < RUNS; run++) await engine.end((await engine.resume(`thread-${run}`)) as string);
    expect(await codesOf(engine)).toEqual(["OUTCOMES_MISSING"]);
  });
});

describe("runs whose memories are voted on", () => {
  /** Each shows one of two memories, merely ends, and has a vote on it. */
  async function findings(
    hasReward: (run: number) => boolean,
    isHelpful: (run: number, id: string) => boolean,
  ): Promise<readonly string[]> {
    const engine = createEngine({ store: memoryStore() });
    const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 1 - i / 2 }));
    for (let run = 0; run < RUNS; run++) {
      const { episode, items } = await engine.rank({ candidates, topK: 1 });
      const id = items[0]?.id as string;
      await engine.end(episode, hasReward(run) ? { reward: 1, tier: "completed" } : {});
      await engine.report(episode, { [isHelpful(run, id) ? "helpful" : "harmful"]: [id] });
    }
    return codesOf(engine);
  }

  it("have an outcome without a reward, and were judged", async () => {
    const hasReward = (run: number): boolean => run < 20;
    expect(await findings(hasReward, (run) => run % 2 === 1)).toEqual([]);
  });

  it("are told apart by the votes, though their rewards are the same", async () => {
    const hasReward = (): boolean => true;
    expect(await findings(hasReward, (_, id) => id === "b")).toEqual([]);
  });
});
