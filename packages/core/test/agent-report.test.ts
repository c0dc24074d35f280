import { describe, expect, it } from "vitest";
import { recordAgentReport } from "../src/adapter/agent-report.js";
import { createRunSession, endOrReport } from "../src/adapter/run-session.js";
import { exportState } from "../src/maintenance/index.js";
import { request, testEngine, testEpisode } from "./support/test-engine.js";

const namespace = "default";

describe("what an agent reports about its own run", () => {
  it("counts in each episode of the run that it is about, once per call", async () => {
    const { engine } = testEngine();
    const show = (id: string) => engine.rank(request({ topK: 1, candidates: [{ id, similarity: 1 }] }));
    const ofRun = [await show("a"), await show("b")].map(({ episode }) => ({ episode, namespace }));
    await recordAgentReport(engine, ofRun, { harmful: ["b"] }, "first call");
    expect(await engine.status()).toMatchObject({ outcomes: { "self-reported": 1 } });
    for (let time = 0; time < 2; time++) await recordAgentReport(engine, ofRun, { success: true }, "second call");
    expect(await engine.status()).toMatchObject({ outcomes: { "self-reported": 3 } });
  });

  it("means the id where an id looks like a handle", async () => {
    const { engine } = testEngine();
    const list = ["m2", "other"].map((id, i) => ({ id, similarity: 1 - i / 10 }));
    const { episode } = await engine.rank(request({ topK: 2, candidates: list }));
    await recordAgentReport(engine, [{ episode, namespace }], { harmful: ["m2"] }, "call");
    await engine.end(episode);
    expect((await exportState(engine)).memories.map(({ id }) => id)).toEqual(["m2"]);
  });

  it("is recorded before the test's timeout where a model repeats a handle 400,000 times", async () => {
    const { engine } = testEngine();
    const { episode } = await engine.rank(request({ topK: 1, candidates: [{ id: "a", similarity: 1 }] }));
    const helpful = new Array<string>(400_000).fill("m1");
    const said = await recordAgentReport(engine, [{ episode, namespace }], { helpful }, "call");
    expect(said).toBe("Recorded.");
    await engine.end(episode);
    expect((await engine.explain(episode))?.votes).toMatchObject([{ id: "a", vote: "helpful" }]);
  });
});

describe("ending an episode that may be recorded already", () => {
  it("reports its outcome then, and says that it is gone when there is none", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode);
    const receipt = await endOrReport(engine, episode, { reward: true }, { namespace });
    expect(receipt).toMatchObject({ status: "committed", episode });
    const gone = endOrReport(engine, episode, undefined, { namespace });
    await expect(gone).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });

  it("throws the refusal of the outcome after the end is recorded, and nothing when there is no outcome", async () => {
    const { engine } = testEngine();
    const session = createRunSession({ engine, open: () => engine.open({ namespace }) });
    const { episode } = await session.rank({ ...request(), namespace });
    await engine.end(episode);
    const refused = session.end({ outcome: { reward: true, helpful: ["not shown"] } });
    await expect(refused).rejects.toMatchObject({ code: "NOT_SHOWN" });
    await expect(session.end({})).resolves.toBeUndefined();
  });
});
