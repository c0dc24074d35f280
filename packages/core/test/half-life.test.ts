import { describe, expect, it } from "vitest";
import { type Engine, type Learner, oar } from "../src/index.js";
import { replay } from "../src/maintenance/index.js";
import { DAY, testEngine } from "./support/test-engine.js";

const request = {
  vector: [1, 0, 0, 0],
  candidates: [
    { id: "old advice", similarity: 0.9 },
    { id: "other advice", similarity: 0.8 },
  ],
  topK: 2,
};

const fading = (): ReturnType<typeof testEngine> => testEngine({ learner: oar({ halfLife: 7 * DAY }) as Learner });

async function fail(engine: Engine, times: number): Promise<string> {
  let last = "";
  for (let i = 0; i < times; i++) {
    last = (await engine.rank(request)).episode;
    await engine.end(last, { reward: 0, harmful: ["old advice"] });
  }
  return last;
}

const itemOf = async (engine: Engine, id: string) =>
  (await engine.rank({ ...request, record: false })).items.find((item) => item.id === id);

describe("oar with a half-life", () => {
  it("believes half of what it learned after one, a quarter after two, however often it is asked meanwhile", async () => {
    const { engine, clock } = fading();
    await fail(engine, 5);
    const before = await itemOf(engine, "old advice");
    clock.now += 3 * DAY;
    await itemOf(engine, "old advice");
    clock.now += 4 * DAY;
    const after = await itemOf(engine, "old advice");
    expect(after?.evidence).toBeCloseTo((before?.evidence as number) / 2, 9);
    expect(after?.utility).toBeCloseTo((before?.utility as number) / 2, 9);
    clock.now += 7 * DAY;
    expect((await itemOf(engine, "old advice"))?.evidence).toBeCloseTo((before?.evidence as number) / 4, 9);
  });

  it("fades before it learns more, and takes back of a corrected outcome what time has left of it", async () => {
    const { engine, clock } = fading();
    const first = await fail(engine, 1);
    clock.now += 7 * DAY;
    await fail(engine, 1);
    expect((await itemOf(engine, "old advice"))?.evidence).toBeCloseTo(1.5, 6);
    await engine.report(first, { reward: 1, helpful: ["old advice"], tier: "verified" });
    // Half of the first run's evidence is taken back, and the better word counts as of now.
    expect((await itemOf(engine, "old advice"))?.evidence).toBeCloseTo(2, 6);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps a state of its own, and without one nothing fades", async () => {
    expect([oar().id, oar({ halfLife: 7 * DAY }).id]).toEqual(["oar@2", "oar@2/half-life-604800000"]);
    const { engine, clock } = testEngine();
    await fail(engine, 5);
    const before = await itemOf(engine, "old advice");
    clock.now += 3_650 * DAY;
    expect(await itemOf(engine, "old advice")).toEqual(before);
  });

  it.each([0, -1, Number.NaN, 59_999, "7 days"])("refuses the half-life %s", (halfLife) => {
    expect(() => oar({ halfLife: halfLife as number })).toThrow(/halfLife must be ms, at least a minute/);
  });
});
