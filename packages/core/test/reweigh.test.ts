import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import type { Engine } from "../src/index.js";
import { exportState, replay } from "../src/maintenance/index.js";
import { candidates, testEngine } from "./support/test-engine.js";

/** One run that shows one memory of its own; resolves to its episode. */
async function show(engine: Engine, id: string): Promise<string> {
  const [candidate] = candidates(1);
  const { episode } = await engine.rank({
    vector: [1, 0, 0, 0],
    candidates: [{ similarity: candidate?.similarity as number, id }],
    topK: 1,
  });
  await engine.end(episode);
  return episode;
}

/** Evidence of a memory: the weights of its runs, each times the trust in its source. */
async function evidenceOf(engine: Engine, id: string): Promise<number> {
  const { memories } = await exportState(engine);
  const known = memories.find((memory) => memory.id === id) as { state: { evidence: number } } | undefined;
  return known?.state.evidence ?? 0;
}

/** Claims of a source about other memories, each audited: it was right, or it was wrong. */
async function audit(engine: Engine, source: string, count: number, right: boolean, tag: string): Promise<void> {
  for (let i = 0; i < count; i++) {
    const episode = await show(engine, `${tag}-${i}`);
    await engine.report(episode, { reward: 1, tier: "user", source });
    await engine.report(episode, { reward: right ? 1 : 0, tier: "verified", source: "checker" });
  }
}

describe("an audited source's old claims", () => {
  it("count when it has earned trust since, although they counted nothing when they came", async () => {
    const { engine } = testEngine({ governance: governance({ trust: "audited" }) });
    await engine.report(await show(engine, "early"), { reward: 1, tier: "user", source: "anna" });
    expect(await evidenceOf(engine, "early")).toBe(0);
    await audit(engine, "anna", 20, true, "right");
    expect(await evidenceOf(engine, "early")).toBeGreaterThan(0.5);
    expect((await engine.status()).taught).toBe(21);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("count less, and in the end nothing, when it has lost its trust since", async () => {
    const { engine } = testEngine({ governance: governance({ trust: "audited" }) });
    await audit(engine, "anna", 20, true, "right");
    await engine.report(await show(engine, "later"), { reward: 1, tier: "user", source: "anna" });
    const trusted = await evidenceOf(engine, "later");
    expect(trusted).toBeGreaterThan(0.5);
    await audit(engine, "anna", 15, false, "wrong");
    const doubted = await evidenceOf(engine, "later");
    expect(doubted).toBeLessThan(trusted / 2);
    await audit(engine, "anna", 25, false, "wrong again");
    expect(await evidenceOf(engine, "later")).toBeCloseTo(0, 6);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("are charged to the source's cap for what they gain", async () => {
    const { engine } = testEngine({
      governance: governance({ trust: "audited", sourceCaps: { weight: 2, window: 86_400_000 } }),
    });
    for (let i = 0; i < 30; i++) {
      await engine.report(await show(engine, "praised"), { reward: 1, tier: "user", source: "anna" });
    }
    await audit(engine, "anna", 20, true, "right");
    expect(await evidenceOf(engine, "praised")).toBeGreaterThan(0.5);
    expect(await evidenceOf(engine, "praised")).toBeLessThanOrEqual(2);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("stay as they are where better evidence has replaced them, or trust is off", async () => {
    const { engine } = testEngine({ governance: governance({ trust: "audited" }) });
    const episode = await show(engine, "judged");
    await engine.report(episode, { reward: 1, tier: "user", source: "anna" });
    await engine.report(episode, { reward: 0, tier: "verified", source: "checker" });
    const before = await evidenceOf(engine, "judged");
    expect(before).toBe(1);
    await audit(engine, "anna", 20, true, "right");
    expect(await evidenceOf(engine, "judged")).toBe(before);

    const { engine: trusting } = testEngine();
    await trusting.report(await show(trusting, "claimed"), { reward: 1, tier: "user", source: "anna" });
    const claimed = await evidenceOf(trusting, "claimed");
    await audit(trusting, "anna", 20, false, "wrong");
    expect(await evidenceOf(trusting, "claimed")).toBe(claimed);
  });
});
