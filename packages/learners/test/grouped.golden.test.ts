import type { Learner } from "@qavr/core";
import { exportState, importState, replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { oneRun, testEngine } from "../../core/test/support/test-engine.js";
import {
  chanceAt,
  chanceOf,
  chancesOf,
  HELPS,
  levelsOf,
  MISLEADS,
  NOTHING,
  spreadInGroups,
  withMemory,
} from "../src/grouped/group-model.js";
import { type GroupedMemory, grouped } from "../src/grouped/grouped.js";

describe("the model of a group", () => {
  it("has a helping memory cure three failures in four, and a misleading one spare half of the successes", () => {
    const helped = withMemory(NOTHING, HELPS);
    const misled = withMemory(NOTHING, MISLEADS);
    // At the usual level half of the runs succeed by themselves.
    expect(chanceAt(1, NOTHING)).toBeCloseTo(0.5, 12);
    expect(chanceAt(1, helped)).toBeCloseTo(0.875, 12);
    expect(chanceAt(1, misled)).toBeCloseTo(0.25, 12);
    expect(chanceAt(1, withMemory(misled, MISLEADS))).toBeCloseTo(0.25, 12);
    expect(chanceAt(1, withMemory(helped, MISLEADS))).toBeCloseTo(0.4375, 12);
  });

  it("averages over what unknown memories may be", () => {
    const unknown = chancesOf(undefined);
    expect(unknown).toEqual([0.4, 0.3, 0.3].map((chance) => expect.closeTo(chance, 12)));
    // 0.4 · 0.875 + 0.3 · 0.5 + 0.3 · 0.25
    expect(chanceAt(1, withMemory(NOTHING, unknown))).toBeCloseTo(0.575, 12);
    // With a second one: none helps .36, none misleads .49, none does either .09.
    const two = withMemory(withMemory(NOTHING, unknown), unknown);
    expect(chanceAt(1, two)).toBeCloseTo(0.5 * (0.09 + 0.5 * 0.27) + 0.875 * (0.4 + 0.5 * 0.24), 12);
  });

  it("sums the evidence about its level over its members", () => {
    const member = { helps: 0, misleads: 0, hard: Math.log(2), easy: 0 };
    expect(levelsOf([member, undefined, member])).toEqual([1, 0.5, 0.25].map((one) => expect.closeTo(one / 1.75, 12)));
    expect(chanceOf(levelsOf([]), NOTHING)).toBeCloseTo(0.5, 12);
  });
});

describe("the spread inside groups", () => {
  it("is the variance left by the groups' means, and 1 in the mean where groups are drawn at random", () => {
    const similarities = Float64Array.of(0.9, 0.8, 0.3, 0.2);
    const told = spreadInGroups(similarities, Int32Array.of(0, 0, 1, 1));
    // Inside: 2 · 0.005; the list's sample variance is 0.37 / 3.
    expect(told.within / told.freedom).toBeCloseTo((0.01 / 2 / 0.37) * 3, 9);
    const crossed = [
      [0, 0, 1, 1],
      [0, 1, 0, 1],
      [0, 1, 1, 0],
    ].map((groups) => spreadInGroups(similarities, Int32Array.from(groups)));
    const mean = crossed.reduce((sum, { within, freedom }) => sum + within / freedom, 0) / 3;
    expect(mean).toBeCloseTo(1, 9);
  });

  it("says nothing about equal similarities and about groups of one", () => {
    expect(spreadInGroups(Float64Array.of(0.5, 0.5), Int32Array.of(0, 0)).freedom).toBe(0);
    expect(spreadInGroups(Float64Array.of(0.5, 0.4), Int32Array.of(0, 1)).freedom).toBe(0);
  });
});

/** Two groups of three memories whose similarities tell them apart; `of` names each memory's group. */
const asked = (near: "a" | "b", of: (id: string) => string | undefined = ([group]) => group) => ({
  candidates: ["a", "b"]
    .toSorted((one) => (one === near ? -1 : 1))
    .flatMap((group, far) =>
      [1, 2, 3].map((n) => ({ id: `${group}${n}`, similarity: 0.9 - 0.5 * far - 0.01 * n, group: of(`${group}${n}`) })),
    ),
  vector: near === "a" ? [1, 0.2] : [0.2, 1],
  topK: 1,
});

async function lived(of?: (id: string) => string | undefined, runs = 60) {
  const tested = testEngine({ learner: grouped() as Learner });
  for (let run = 0; run < runs; run++) {
    const near = run % 2 === 0 ? "a" : "b";
    const { episode, items } = await tested.engine.rank(asked(near, of));
    await tested.engine.end(episode, { reward: items[0]?.id === `${near}3`, tier: "verified" });
  }
  return tested;
}
const best = async ({ engine }: Awaited<ReturnType<typeof lived>>, near: "a" | "b", of?: (id: string) => undefined) =>
  (await engine.rank({ ...asked(near, of), record: false })).items[0]?.id;

describe("grouped", () => {
  it("learns one run by hand", async () => {
    const { engine } = testEngine({ learner: grouped() as Learner });
    const candidates = [
      { id: "a", similarity: 1, group: "one" },
      { id: "b", similarity: 1, group: "one" },
    ];
    await oneRun(engine, { candidates, topK: 2 }, { reward: 1, tier: "verified" });
    const { memories } = await exportState(engine);
    // One group, so it is the request's. Beside the other memory, at three levels: p₀ = sigmoid(−2, 0, 2).
    const level = [-2, 0, 2].map((one) => 1 / (1 + Math.exp(-one)));
    const given = (quality: "helps" | "idle" | "misleads"): number =>
      level.reduce((sum, alone, i) => {
        const helped = 1 - (1 - alone) / 4;
        const [none, one] = quality === "helps" ? [helped, helped] : [alone, helped];
        const half = quality === "misleads" ? 0.5 : 1;
        // The other helps (.4), does nothing (.3) or misleads (.3).
        const spoiled = quality === "misleads" ? 1 : 0.5;
        return sum + ([0.25, 0.5, 0.25][i] as number) * half * (0.4 * one + 0.3 * none + 0.3 * spoiled * none);
      }, 0);
    for (const { state } of memories as readonly { readonly state: GroupedMemory }[]) {
      expect(state.helps).toBeCloseTo(Math.log(given("helps") / given("idle")), 6);
      expect(state.misleads).toBeCloseTo(Math.log(given("misleads") / given("idle")), 6);
      expect(state.easy).toBeGreaterThan(0);
      expect(state.hard).toBeLessThan(0);
    }
  });

  it("finds in each group the memory that helps", async () => {
    const tested = await lived();
    expect([await best(tested, "a"), await best(tested, "b")]).toEqual(["a3", "b3"]);
    expect(await replay(tested.engine)).toMatchObject({ identical: true });
    const { learner, items } = await tested.engine.rank({ ...asked("a"), record: false });
    expect(learner).toBe("grouped@1");
    const [item] = items;
    expect(item?.score).toBeCloseTo((item?.similarity ?? 0) + (item?.learned ?? 0), 9);
  });

  it("ranks as oar without groups, and where similarities do not tell the groups apart", async () => {
    const { oar } = await import("@qavr/core");
    const plain = testEngine({ learner: oar() as Learner });
    const none = testEngine({ learner: grouped() as Learner });
    const crossed = testEngine({ learner: grouped() as Learner });
    for (let run = 0; run < 30; run++) {
      const near = run % 3 === 0 ? "a" : "b";
      for (const [tested, of] of [
        [plain, undefined],
        [none, () => undefined],
        [crossed, (id: string) => id[1]],
      ] as const) {
        await oneRun(tested.engine, { ...asked(near, of), keepOrder: true }, { reward: run % 2, tier: "verified" });
      }
    }
    const scores = async ({ engine }: typeof plain, of?: (id: string) => string | undefined) =>
      (await engine.rank({ ...asked("a", of), topK: 6, record: false })).items.map(({ id, score }) => [id, score]);
    expect(await scores(none, () => undefined)).toEqual(await scores(plain));
    expect(await scores(crossed, (id) => id[1])).toEqual(await scores(plain));
  });

  it("counts a vote for its memory", async () => {
    const { engine } = testEngine({ learner: grouped() as Learner });
    const { episode, items } = await engine.rank({ ...asked("a"), topK: 2 });
    const [first, second] = items.map(({ id }) => id) as [string, string];
    await engine.end(episode, { reward: null, helpful: [second], harmful: [first] });
    const { memories } = await exportState(engine);
    const of = (id: string) => memories.find((memory) => memory.id === id)?.state as GroupedMemory;
    expect(of(second)).toMatchObject({ helps: expect.closeTo(Math.log(4), 9), misleads: 0 });
    expect(of(first)).toMatchObject({ helps: 0, misleads: expect.closeTo(Math.log(4), 9) });
  });

  it("keeps bounded evidence, so that a memory that turned is learned anew", async () => {
    const { engine } = await lived(undefined, 100);
    const { memories } = (await exportState(engine)) as unknown as { memories: { state: GroupedMemory }[] };
    for (const { state } of memories) {
      for (const value of [state.helps, state.misleads, state.hard, state.easy])
        expect(Math.abs(value)).toBeLessThanOrEqual(5);
    }
    expect(Math.max(...memories.map(({ state }) => state.helps - state.misleads))).toBeGreaterThan(4);
  });

  it("refuses evidence whose odds are infinite", async () => {
    const { engine } = await lived(undefined, 30);
    const learned = await exportState(engine);
    const certain = learned.memories.map(({ id, state }) => ({ id, state: { ...(state as object), helps: 1_000 } }));
    const other = testEngine({ learner: grouped() as Learner });
    await expect(importState(other.engine, { ...learned, memories: certain })).rejects.toMatchObject({
      code: "INVALID_STATE",
    });
    await importState(other.engine, learned);
  });
});
