import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import { type Learner, type OutcomeInput, qValue } from "../src/index.js";
import { exportState, replay } from "../src/maintenance/index.js";
import { snapshot, testEpisode } from "./support/test-engine.js";

describe("the used memories of a run", () => {
  /** A run that showed d0, d1 and d2, its outcomes in this order, and d0's, d1's and d2's q: 0.55 used or unknown, 0.46 not used. */
  async function learned(...outcomes: readonly OutcomeInput[]) {
    const { engine, store, episode } = await testEpisode({ aliases: ["run"] }, { learner: qValue() as Learner });
    await engine.end(episode);
    for (const outcome of outcomes) await engine.report("run", outcome);
    const { memories } = await exportState(engine);
    const states = new Map(memories.map(({ id, state }) => [id, state as { readonly q: number }]));
    const q = ["d0", "d1", "d2"].map((id) => states.get(id)?.q ?? Number.NaN);
    const live = await snapshot(store);
    expect(await replay(engine)).toMatchObject({ identical: true });
    expect(await snapshot(store)).toEqual(live);
    return { q: q.map((value) => Math.round(value * 1e9) / 1e9), used: (await engine.explain("run"))?.used };
  }
  const success: OutcomeInput = { reward: 1, tier: "verified" };

  it("stay known when better evidence arrives that says nothing about use", async () => {
    const { q, used } = await learned({ reward: 1, tier: "completed", used: ["m1"] }, { reward: 1, helpful: ["m2"] });
    expect(q).toEqual([0.55, 0.46, 0.46]);
    expect(used).toEqual([{ id: "d0", by: "application" }]);
  });

  it("are unknown without a report, and none after an empty list", async () => {
    expect(await learned(success)).toEqual({ q: [0.55, 0.55, 0.55], used: undefined });
    expect(await learned(success, { used: [] })).toEqual({ q: [0.46, 0.46, 0.46], used: [] });
  });

  it("say who was not used only where the list is complete: an application's, or the citations of an answer", async () => {
    for (const by of ["quote", "argument", "skill"] as const) {
      expect((await learned({ ...success, used: [{ id: "m1", by }] })).q).toEqual([0.55, 0.55, 0.55]);
    }
    for (const by of ["citation", "application"] as const) {
      expect((await learned({ ...success, used: [{ id: "m1", by }] })).q).toEqual([0.55, 0.46, 0.46]);
    }
  });

  it("join several reports, each memory with its plainest finder", async () => {
    const { used } = await learned(
      { used: [{ id: "m1", by: "quote" }] },
      {
        used: [
          { id: "d0", by: "citation" },
          { id: "m2", by: "argument" },
          { id: "d1", by: "quote" },
        ],
      },
    );
    expect(used).toEqual([
      { id: "d0", by: "citation" },
      { id: "d1", by: "argument" },
    ]);
  });

  it("are the application's where it has spoken, whatever an adapter found before or finds later", async () => {
    const found: OutcomeInput = { used: [{ id: "m1", by: "citation" }] };
    const said: OutcomeInput = { used: ["m2"] };
    const expected = { q: [0.46, 0.55, 0.46], used: [{ id: "d1", by: "application" }] };
    expect(await learned(success, found, said)).toEqual(expected);
    expect(await learned(success, said, found)).toEqual(expected);
    expect((await learned(success, found, { used: [] })).used).toEqual([]);
  });

  it("are refused with an unknown finder", async () => {
    const { engine, episode } = await testEpisode();
    const used = [{ id: "m1", by: "guess" as "quote" }];
    await expect(engine.end(episode, { used })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("application, citation, skill, argument, quote"),
    });
  });

  it("are not those that a source without trust names, but an adapter's findings count", async () => {
    const { engine, episode } = await testEpisode(
      { aliases: ["run"] },
      { governance: governance({ trust: "audited" }) },
    );
    await engine.end(episode);
    await engine.report("run", { used: ["m2"], source: "eve" });
    expect((await engine.explain("run"))?.used).toBeUndefined();
    await engine.report("run", { tier: "completed", used: [{ id: "m1", by: "citation" }] });
    expect((await engine.explain("run"))?.used).toEqual([{ id: "d0", by: "citation" }]);
  });
});
