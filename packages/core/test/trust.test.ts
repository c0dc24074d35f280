import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import type { EngineOptions, OutcomeInput } from "../src/index.js";
import type { OarMemory } from "../src/learners/index.js";
import { decodeEpisode } from "../src/ledger/episode-record.js";
import { exportState, replay } from "../src/maintenance/index.js";
import { oneRun, request, testEngine } from "./support/test-engine.js";

type World = ReturnType<typeof testEngine>;

/** One run with these outcomes, in order. */
async function run({ engine }: World, ...outcomes: readonly OutcomeInput[]): Promise<string> {
  const episode = await oneRun(engine, request({ topK: 1, keepOrder: true }));
  for (const outcome of outcomes) await engine.report(episode, outcome);
  return episode;
}

const claim = (reward: number, more: OutcomeInput = {}): OutcomeInput => ({ reward, source: "ann", ...more });
const verdict = (reward: number): OutcomeInput => ({ reward, tier: "verified", source: "checker" });

async function evidence({ engine }: World): Promise<number> {
  const [first] = (await exportState(engine)).memories;
  return (first?.state as OarMemory | undefined)?.evidence ?? 0;
}

const sourcesOf = async ({ engine }: World): Promise<Record<string, number>> =>
  Object.fromEntries((await engine.status()).sources.map(({ source, audits }) => [source, audits]));

describe("an audit", () => {
  it("happens when better evidence meets a claim, in either order, with trust on or off", async () => {
    for (const trust of ["off", "audited"] as const) {
      const world = testEngine({ governance: governance({ trust }) });
      for (let i = 0; i < 3; i++) await run(world, claim(1), verdict(1));
      for (let i = 0; i < 3; i++) await run(world, verdict(0), claim(0));
      const [ann] = (await world.engine.status()).sources;
      expect(ann).toMatchObject({ source: "ann", audits: 6 });
      expect(ann?.trust).toBeGreaterThan(0.5);
      expect(await replay(world.engine)).toMatchObject({ identical: true });
    }
  });

  it("measures how far off a claim was", async () => {
    const world = testEngine({ governance: governance() });
    await run(world, claim(0.75), verdict(1));
    expect((await world.engine.status()).sources[0]?.agreement).toBeCloseTo(1.75 / 3, 12);
  });

  it("counts once per episode and source, however often the claim is repeated", async () => {
    const world = testEngine({ governance: governance() });
    await run(world, claim(1), verdict(1), claim(1), claim(1), verdict(1), claim(1));
    expect(await sourcesOf(world)).toEqual({ ann: 1 });
    await run(world, verdict(1), claim(1), claim(1), { ...claim(1), source: "bob" });
    expect(await sourcesOf(world)).toEqual({ ann: 2, bob: 1 });
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("needs two rewards of two tiers by two sources", async () => {
    const world = testEngine({ governance: governance() });
    await run(world, verdict(1), { reward: null, source: "ann", helpful: ["m1"] });
    await run(world, claim(1), { ...claim(0), source: "bob" });
    await run(world, claim(1, { tier: "self-reported" }), claim(1, { tier: "verified" }));
    // Observations are not claims.
    await run(world, { reward: 0, tier: "observed", source: "run" }, verdict(1));
    expect(await sourcesOf(world)).toEqual({});
  });

  it("by a source that is not trusted itself changes nothing", async () => {
    const world = testEngine({ governance: governance() });
    const report: OutcomeInput = { reward: 1, tier: "self-reported", source: "agent" };
    await run(world, report, claim(0));
    expect(await sourcesOf(world)).toEqual({});
    for (let i = 0; i < 5; i++) await run(world, claim(1), verdict(1));
    await run(world, report, claim(0));
    expect(await sourcesOf(world)).toEqual({ ann: 5, agent: 1 });
  });
});

describe('trust: "audited"', () => {
  const doubtful: Partial<EngineOptions> = { governance: governance({ trust: "audited" }) };

  it("lets a new source teach nothing, and one that agreed with verdicts as much as it has earned", async () => {
    const world = testEngine(doubtful);
    const episode = await run(world, claim(1));
    expect((await world.engine.status()).taught).toBe(0);
    expect((await world.engine.explain(episode))?.outcome).toMatchObject({ reward: 1, source: "ann", trust: 0 });
    for (let i = 0; i < 10; i++) await run(world, claim(1), verdict(1));
    const before = await evidence(world);
    await run(world, claim(1));
    const trust = (await world.engine.status()).sources[0]?.trust as number;
    expect(trust).toBeGreaterThan(0.7);
    expect((await evidence(world)) - before).toBeCloseTo(trust, 5);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("leaves out who is known to lie", async () => {
    const world = testEngine(doubtful);
    for (let i = 0; i < 10; i++) await run(world, claim(1), verdict(0));
    const before = await evidence(world);
    await run(world, claim(1), { reward: null, source: "ann", harmful: ["m1"] });
    expect(await evidence(world)).toBe(before);
  });

  it("does not doubt verdicts and failures that were seen", async () => {
    const world = testEngine(doubtful);
    const episode = await run(world, { reward: 1, tier: "verified", source: "new checker" });
    expect((await world.engine.explain(episode))?.outcome).not.toHaveProperty("trust");
    await run(world, { reward: 0, tier: "observed" });
    expect(await evidence(world)).toBeCloseTo(2, 5);
  });

  it("takes back as much as it gave when better evidence comes", async () => {
    const world = testEngine(doubtful);
    for (let i = 0; i < 4; i++) await run(world, claim(1), verdict(1));
    const before = await evidence(world);
    const episode = await run(world, claim(1));
    expect(await evidence(world)).toBeGreaterThan(before);
    await world.engine.report(episode, { reward: null, tier: "verified", harmful: ["m1"] });
    await world.engine.report(episode, verdict(1));
    expect(await evidence(world)).toBeCloseTo(before + 1, 5);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("counts a run once that taught, taught nothing while its source was not trusted, and teaches again", async () => {
    const world = testEngine(doubtful);
    const trust = async (): Promise<number> => (await world.engine.status()).sources[0]?.trust as number;
    let runs = 0;
    const audits = async (agree: boolean): Promise<void> => {
      runs += 1;
      await run(world, claim(1), verdict(agree ? 1 : 0));
    };
    for (let i = 0; i < 5; i++) await audits(true);
    const episode = await run(world, claim(1));
    const believed = async (): Promise<unknown> => (await world.engine.explain(episode))?.outcome?.trust;
    runs += 1;
    expect(await believed()).toBeGreaterThan(0);
    expect((await world.engine.status()).taught).toBe(runs);
    while ((await trust()) > 0 || (await believed()) !== 0) await audits(false);
    while ((await believed()) === 0) await audits(true);
    expect((await world.engine.status()).taught).toBe(runs);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("keeps the votes of a trusted source when the reward beside them is not believed", async () => {
    const world = testEngine(doubtful);
    await run(world, claim(0), { reward: null, tier: "verified", source: "checker", helpful: ["m1"] });
    expect(await evidence(world)).toBe(1);
    expect((await world.engine.status()).collections[0]?.best[0]?.utility).toBeGreaterThan(0);
  });

  it("is part of the ledger: a replay without the option gives the same state", async () => {
    const world = testEngine(doubtful);
    for (let i = 0; i < 4; i++) await run(world, claim(1), verdict(i % 2));
    await run(world, claim(1));
    const other = testEngine({ store: world.store, prefix: "other" }).engine;
    expect(await replay(other)).toMatchObject({ identical: true });
  });

  it.each(["on", true, ""])("is not %j", (trust) => {
    expect(() => governance({ trust: trust as "off" })).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});

describe("an episode with one outcome", () => {
  it("keeps nothing aside for audits", async () => {
    const world = testEngine({ governance: governance() });
    const episode = await run(world, claim(1), claim(0));
    const [bytes] = await world.store.readStates("default", "episode", [episode]);
    expect(decodeEpisode(bytes as Uint8Array)).toMatchObject({ claims: [], audits: [], reward: { reward: 0 } });
  });
});

describe("who is not trusted", () => {
  const trusted = async (): Promise<World> => {
    const world = testEngine({ governance: governance({ trust: "audited" }) });
    for (let i = 0; i < 5; i++) await run(world, claim(1), verdict(1));
    return world;
  };
  const bob: OutcomeInput = { reward: 0, source: "bob" };
  const bot: OutcomeInput = { reward: 1, tier: "self-reported", source: "bot" };

  it("silences nobody who is, of the same tier or a weaker one, first or last", async () => {
    const world = await trusted();
    for (let i = 0; i < 5; i++) await run(world, bot, verdict(1));
    for (const outcomes of [
      [claim(1), bob],
      [bob, claim(1)],
      [bot, bob],
      [bob, bot],
    ]) {
      const before = await evidence(world);
      const episode = await run(world, ...outcomes);
      expect((await world.engine.explain(episode))?.outcome?.source).not.toBe("bob");
      expect(await evidence(world)).toBeGreaterThan(before);
    }
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("is audited all the same, so that a newcomer can earn trust where others are trusted already", async () => {
    const world = await trusted();
    for (let i = 0; i < 5; i++) await run(world, claim(1), { ...bob, reward: 1 }, verdict(1));
    const [ann, newcomer] = (await world.engine.status()).sources;
    expect(ann).toMatchObject({ source: "ann", audits: 10 });
    expect(newcomer).toMatchObject({ source: "bob", audits: 5 });
    expect(newcomer?.trust).toBeGreaterThan(0.4);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("cannot fill an episode with claims: eight wait, by different sources, the last word of each", async () => {
    const world = await trusted();
    const crowd = Array.from({ length: 20 }, (_, i) => ({ ...bob, source: `bob ${i}` }));
    await run(world, claim(1), ...crowd, ...crowd, verdict(1));
    expect(Object.keys(await sourcesOf(world)).filter((source) => source.startsWith("bob"))).toHaveLength(8);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });
});
