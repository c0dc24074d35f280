import { describe, expect, it } from "vitest";
import { createRunSession } from "../src/adapter/run-session.js";
import { request, testEngine } from "./support/test-engine.js";

const shown = (namespace: string, id: string) => ({
  ...request({ topK: 1, candidates: [{ id, similarity: 1 }] }),
  namespace,
});

describe("the session of a run", () => {
  it("opens another episode when the engine has given up the first", async () => {
    const { engine } = testEngine();
    const session = createRunSession({ engine, open: (namespace) => engine.open({ namespace }) });
    const first = await session.rank(shown("default", "a"));
    await engine.end(first.episode);
    const second = await session.rank(shown("default", "b"));
    expect(await session.episodes()).toEqual([{ namespace: "default", episode: second.episode }]);
    expect(second.episode).not.toBe(first.episode);
  });

  it("opens none after the run is over", async () => {
    const { engine } = testEngine();
    let over = false;
    const session = createRunSession({ engine, open: () => engine.open(), isOver: () => over });
    const { episode } = await session.rank(shown("default", "a"));
    await engine.end(episode);
    over = true;
    await expect(session.rank(shown("default", "b"))).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });

  it("gives each episode the votes for its own memories", async () => {
    const { engine } = testEngine();
    const session = createRunSession({ engine, open: (namespace) => engine.open({ namespace }) });
    await session.rank(shown("one", "a"));
    await session.rank(shown("two", "b"));
    await session.end({ outcome: { reward: null, helpful: ["a", "b"] } });
    for (const namespace of ["one", "two"]) {
      expect((await engine.status({ namespace })).outcomes).toMatchObject({ user: 1 });
    }
  });

  it("records the fallback when the engine refuses the outcome, and throws the refusal", async () => {
    const { engine } = testEngine();
    const session = createRunSession({ engine, open: () => engine.open() });
    await session.rank(shown("default", "a"));
    const outcome = { reward: 1, tier: "verified" as const, helpful: ["never shown"] };
    const ending = session.end({ outcome, fallback: { reward: 0, tier: "observed" } });
    await expect(ending).rejects.toMatchObject({ code: "NOT_SHOWN" });
    expect((await engine.status()).outcomes).toMatchObject({ observed: 1 });
  });

  it("ends as ended after a suspension", async () => {
    const { engine } = testEngine();
    const session = createRunSession({ engine, open: () => engine.open() });
    const { episode } = await session.rank(shown("default", "a"));
    await session.suspend("waiting");
    await session.end({ outcome: { reward: true } });
    expect(await engine.explain(episode)).toMatchObject({ state: "ended", outcome: { reward: 1 } });
  });
});
