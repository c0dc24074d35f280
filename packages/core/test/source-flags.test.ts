import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import type { OutcomeInput } from "../src/index.js";
import { DAY, oneRun, testEngine } from "./support/test-engine.js";

type World = ReturnType<typeof testEngine>;

async function runs({ engine }: World, count: number, outcome: OutcomeInput, verdict?: boolean): Promise<void> {
  for (let run = 0; run < count; run++) {
    const episode = await oneRun(engine, { candidates: [{ id: `m${run % 20}`, similarity: 1 }], topK: 1 }, outcome);
    if (verdict !== undefined) await engine.report(episode, { reward: verdict, tier: "verified", source: "checker" });
  }
}

const flagsOf = async ({ engine }: World): Promise<Record<string, readonly string[]>> =>
  Object.fromEntries((await engine.status()).sources.map(({ source, flags }) => [source, flags]));

describe("a source's flags", () => {
  it("say that better evidence contradicts it, from the fifth audit on", async () => {
    const world = testEngine({ governance: governance() });
    await runs(world, 4, { reward: true, source: "liar" }, false);
    await runs(world, 8, { reward: true, source: "honest" }, true);
    expect(await flagsOf(world)).toEqual({ liar: [], honest: [] });
    await runs(world, 1, { reward: true, source: "liar" }, false);
    expect(await flagsOf(world)).toEqual({ liar: ["contradicted"], honest: [] });
    expect((await world.engine.status()).sources[0]?.source).toBe("liar");
  });

  it("say that it is at its cap and credits more than its part, in the present window", async () => {
    const world = testEngine({ governance: governance({ sourceCaps: { weight: 3, window: DAY } }) });
    await runs(world, 2, { reward: true, source: "ann" });
    await runs(world, 2, { reward: true, source: "bob" });
    await runs(world, 2, { reward: true, source: "cat" });
    await runs(world, 2, { reward: true, source: "dan" });
    expect(await flagsOf(world)).toEqual({ ann: [], bob: [], cat: [], dan: [] });
    await runs(world, 100, { reward: true, source: "loop" });
    expect(await flagsOf(world)).toEqual({ ann: [], bob: [], cat: [], dan: [], loop: ["capped", "dominant"] });
    expect((await world.engine.status()).sources[0]).toMatchObject({ source: "loop", credited: 60, audits: 0 });
    world.clock.now += DAY;
    expect(await flagsOf(world)).toEqual({});
  });

  it("say that it is at its cap also after the clock was set back: the window that was reached goes on", async () => {
    const world = testEngine({ governance: governance({ sourceCaps: { weight: 1, window: DAY } }) });
    world.clock.now += 365 * DAY;
    await runs(world, 1, { reward: true, source: "ann" });
    world.clock.now -= 365 * DAY;
    await runs(world, 1, { reward: true, source: "ann" });
    expect((await world.engine.status()).cappedCredits).toBe(1);
    expect(await flagsOf(world)).toEqual({ ann: ["capped"] });
  });

  it("say nothing of a lone source's part", async () => {
    const world = testEngine({ governance: governance({ sourceCaps: { weight: 30, window: DAY } }) });
    await runs(world, 20, { reward: true, source: "only" });
    expect(await flagsOf(world)).toEqual({ only: [] });
  });
});
