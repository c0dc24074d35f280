import { describe, expect, it } from "vitest";
import { ATTACKS, type Attack, QUICK } from "../src/attacks/attacks.js";
import { MANIPULATED_STREAM, RECOVERY_AFTER_MANIPULATION, recovery } from "../src/attacks/manipulated-stream.js";
import { AttackedWorld, BEST, LAYERS, type Layer } from "../src/attacks/world.js";

const layer = (name: string): Layer => LAYERS.find((one) => one.name === name) as Layer;
const attack = (id: string): Attack => ATTACKS.find((one) => one.id === id) as Attack;

describe("an attacked application", () => {
  it.each([...ATTACKS, MANIPULATED_STREAM, RECOVERY_AFTER_MANIPULATION])(
    "with every layer keeps the promise of $id: $title",
    async ({ run }) => {
      expect(await run(layer("all three"), QUICK, 1)).toMatchObject({ held: true });
    },
  );

  it.each(["S1", "S2", "S3", "S4", "S5", "S26"])(
    "without any layer loses to %s, so the simulation can see it",
    async (id) => {
      expect(await attack(id).run(layer("nothing"), QUICK, 2)).toMatchObject({ held: false });
    },
  );

  it("is bought by a crowd of made-up sources in spite of caps, and not in spite of trust", async () => {
    expect(await attack("S4").run(layer("caps"), QUICK, 1)).toMatchObject({ held: false });
    expect(await attack("S4").run(layer("trust"), QUICK, 1)).toMatchObject({ held: true });
  });
});

describe("ten accounts that were honest in five verified runs each", () => {
  it("bring the best memory from the first place to the last of twenty with 200 votes, in spite of every layer", async () => {
    const world = new AttackedWorld(layer("all three"), 1);
    await world.live(1_500);
    const before = await world.rank(BEST);
    for (let run = 0; run < 50; run++) {
      const episode = await world.show(BEST);
      await world.engine.end(episode, { reward: true, source: `patient ${run % 10}` });
      await world.engine.report(episode, { reward: true, tier: "verified", source: "checker" });
    }
    for (let vote = 0; vote < 200; vote++) {
      await world.engine.end(await world.show(BEST), {
        reward: false,
        source: `patient ${vote % 10}`,
        harmful: ["m1"],
      });
    }
    expect(before.place).toBeCloseTo(1, 6);
    expect(Math.round((await world.rank(BEST)).place)).toBe(20);
  });
});

describe("the recovery of a stream", () => {
  const runs = (count: number, lost: number): number[] => new Array<number>(count).fill(lost);

  it("is counted from the last changed outcome to the first hundred runs that go as well as in a clean stream", () => {
    const clean = { lost: [...runs(1_000, 0), ...runs(500, 0.05)], over: 0 };
    const attacked = (after: readonly number[]) => ({ lost: [...runs(900, 0.3), ...after], over: 900 });
    // The clean stream loses 0.042 a run from there on, and 0.02 are allowed on top: 20 of a hundred runs may lose 0.3.
    expect(recovery({ clean, attacked: attacked([...runs(250, 0.3), ...runs(350, 0)]) })).toEqual({
      runs: 230,
      reached: true,
    });
    expect(recovery({ clean, attacked: attacked(runs(600, 0)) })).toEqual({ runs: 0, reached: true });
    expect(recovery({ clean, attacked: attacked(runs(600, 0.3)) })).toEqual({
      runs: 600,
      reached: false,
    });
  });
});
