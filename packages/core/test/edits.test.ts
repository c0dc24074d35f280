import { describe, expect, it } from "vitest";
import type { Engine } from "../src/index.js";
import type { OarMemory } from "../src/learners/index.js";
import { copyLearned, exportState, replay, revise, revoke } from "../src/maintenance/index.js";
import { testEngine } from "./support/test-engine.js";

const list = (text?: string): { id: string; similarity: number; text?: string }[] => [
  text === undefined ? { id: "a", similarity: 0.9 } : { id: "a", similarity: 0.9, text },
  { id: "b", similarity: 0.1 },
];

const show = (engine: Engine, text?: string): Promise<{ readonly episode: string }> =>
  engine.rank({ candidates: list(text), topK: 1, vector: [1, 0], keepOrder: true });

const evidence = async (engine: Engine): Promise<number> => {
  const memory = (await exportState(engine)).memories.find(({ id }) => id === "a");
  return (memory?.state as OarMemory | undefined)?.evidence ?? 0;
};

async function taught(onEdit?: "keep" | "discount" | "reset"): Promise<Engine> {
  const { engine } = testEngine(onEdit ? { onEdit } : {});
  for (let run = 0; run < 4; run++) await engine.end((await show(engine, "old text")).episode, { reward: true });
  expect(await evidence(engine)).toBe(4);
  return engine;
}

describe("a memory whose text has changed", () => {
  it.each([
    [undefined, 2],
    ["discount", 2],
    ["keep", 4],
    ["reset", 0],
  ] as const)("keeps, under the policy %s, the evidence of %d of four runs", async (onEdit, kept) => {
    const engine = await taught(onEdit);
    await engine.end((await show(engine, "new text")).episode);
    expect(await evidence(engine)).toBe(kept);
    // The same text again is no edit.
    await engine.end((await show(engine, "new text")).episode);
    expect(await evidence(engine)).toBe(kept);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("is noticed only where texts are given", async () => {
    const engine = await taught();
    await engine.end((await show(engine)).episode);
    await engine.end((await show(engine, "old text")).episode);
    expect(await evidence(engine)).toBe(4);
  });

  it("was no edit when its text is seen for the first time", async () => {
    const { engine } = testEngine();
    await engine.end((await show(engine)).episode, { reward: true });
    await engine.end((await show(engine, "text")).episode);
    expect(await evidence(engine)).toBe(1);
  });

  it("was edited once, also when runs that were shown the old text end after those that were shown the new one", async () => {
    const { engine, clock } = testEngine();
    const run = async (text: string): Promise<string> => {
      clock.now += 1_000;
      return (await show(engine, text)).episode;
    };
    for (let count = 0; count < 4; count++) await engine.end(await run("old text"), { reward: true });
    const underWay = [await run("old text"), await run("old text")];
    for (const old of underWay) {
      await engine.end(await run("new text"));
      await engine.end(old);
    }
    await engine.end(await run("new text"));
    expect(await evidence(engine)).toBe(2);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("learns from the run that showed the new text at full weight", async () => {
    const engine = await taught();
    await engine.end((await show(engine, "new text")).episode, { reward: true });
    expect(await evidence(engine)).toBe(3);
  });

  it("after a reset is out of reach for outcomes of the old text, and within reach for those of the new", async () => {
    const { engine } = testEngine({ onEdit: "reset" });
    const pending = await show(engine, "old text");
    await engine.end(pending.episode);
    const corrected = await show(engine, "old text");
    await engine.end(corrected.episode, { reward: true, tier: "completed" });
    const edited = await show(engine, "new text");
    await engine.end(edited.episode);
    await engine.report(pending.episode, { reward: false });
    await engine.report(corrected.episode, { reward: false, tier: "verified" });
    expect(await evidence(engine)).toBe(0);
    await engine.report(edited.episode, { reward: true });
    expect(await evidence(engine)).toBe(1);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("after a reset is out of reach for outcomes of an old run, also when the new text came right behind that", async () => {
    const { engine } = testEngine({ onEdit: "reset" });
    const old = await show(engine, "old text");
    await engine.end(old.episode);
    await engine.end((await show(engine, "new text")).episode);
    await engine.report(old.episode, { reward: true });
    expect(await evidence(engine)).toBe(0);
  });

  it("never has negative evidence, whatever is corrected after it was discounted", async () => {
    const { engine } = testEngine();
    const first = await show(engine, "old text");
    await engine.end(first.episode, { reward: true, tier: "self-reported" });
    await engine.end((await show(engine, "new text")).episode);
    expect(await evidence(engine)).toBe(0.5);
    await engine.report(first.episode, { reward: false, tier: "verified" });
    expect(await evidence(engine)).toBe(1);
    expect((await engine.rank({ candidates: list(), topK: 2, vector: [1, 0] })).items[0]?.score).toBeTypeOf("number");
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});

describe("an edit that is reported", () => {
  it.each([
    [undefined, 2],
    ["keep", 4],
    ["reset", 0],
  ] as const)("counts from the first ranking after it, once, under the policy %s", async (onEdit, kept) => {
    const engine = await taught(onEdit);
    const open = await show(engine, "old text");
    await revise(engine, { ids: ["a"] });
    const first = await engine.rank({ candidates: list("new text"), topK: 1, vector: [1, 0], record: false });
    expect(first.items[0]?.evidence).toBeCloseTo(kept, 5);
    await engine.end(open.episode);
    await engine.end((await show(engine, "new text")).episode);
    expect(await evidence(engine)).toBe(kept);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});

describe("a copy of a memory", () => {
  const evidenceOf = async (engine: Engine, id: string): Promise<number | undefined> =>
    ((await exportState(engine)).memories.find((memory) => memory.id === id)?.state as OarMemory | undefined)?.evidence;

  it("begins with what is known of the original, and then learns for itself", async () => {
    const engine = await taught();
    const pending = await show(engine, "old text");
    await engine.end(pending.episode);
    await copyLearned(engine, { memories: [{ from: "a", to: "c" }] });
    expect(await evidenceOf(engine, "c")).toBe(4);
    await engine.report(pending.episode, { reward: false });
    expect([await evidenceOf(engine, "a"), await evidenceOf(engine, "c")]).toEqual([5, 4]);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("loses what is revoked of the original", async () => {
    const { engine } = testEngine();
    await engine.end((await show(engine)).episode, { reward: true });
    await engine.end((await show(engine)).episode, { reward: true, source: "liar" });
    await copyLearned(engine, { memories: [{ from: "a", to: "c" }] });
    await revoke(engine, { namespace: "default", source: "liar" });
    expect(await evidenceOf(engine, "c")).toBe(1);
  });
});
