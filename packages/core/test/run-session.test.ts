import { describe, expect, it, vi } from "vitest";
import { MOST_BEHIND } from "../src/adapter/run-ends.js";
import { createRunKit } from "../src/adapter/run-kit.js";
import { createRunSession } from "../src/adapter/run-session.js";
import { createEngine } from "../src/index.js";
import { heldStore } from "./support/held-store.js";
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

  it("has not shown what a ranking finds that the end of the run overtook", async () => {
    const { engine } = testEngine();
    let over = false;
    const session = createRunSession({ engine, open: () => engine.open(), isOver: () => over });
    const { episode } = await session.rank(shown("default", "a"));
    const late = session.rank(shown("default", "b"));
    over = true;
    await expect(late).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    await session.end({ outcome: { reward: true } });
    const exposures = (await engine.explain(episode))?.exposures ?? [];
    expect(exposures.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(["a"]);
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

  describe("finds the used memories of its run", () => {
    const memories = ["a", "b", "c"].map((id, i) => ({
      id,
      handle: `m${i + 1}`,
      text: `The code of ${id} is ${id}-20441.`,
    }));
    const texts = { memories, request: "Which code?", steps: [], answer: "It is a-20441 [m1]." };
    const rankAll = {
      candidates: memories.map(({ id }, i) => ({ id, similarity: 1 - i / 10 })),
      topK: 3,
      namespace: "default",
    };
    const setUp = () => {
      const { engine } = testEngine();
      return { engine, session: createRunSession({ engine, open: () => engine.open() }) };
    };

    it("in its texts, and leaves the outcome as it is", async () => {
      const { engine, session } = setUp();
      const { episode } = await session.rank(rankAll);
      await session.end({ outcome: { reward: 1, tier: "verified" }, texts });
      expect(await engine.explain(episode)).toMatchObject({
        outcome: { reward: 1, tier: "verified" },
        used: [{ id: "a", by: "citation" }],
      });
    });

    it("also when its result is unknown, and records nothing where it finds none", async () => {
      const { engine, session } = setUp();
      const { episode } = await session.rank(rankAll);
      await session.end({ texts });
      expect(await engine.explain(episode)).toMatchObject({ used: [{ id: "a" }] });
      const other = setUp();
      await other.session.rank(rankAll);
      await other.session.end({ texts: { ...texts, answer: "I do not know [m9]." } });
      expect((await other.engine.status()).outcomes).toMatchObject({ completed: 0 });
    });

    it("but for those that a later stage dropped", async () => {
      const { engine, session } = setUp();
      const ranking = await session.rank(rankAll);
      session.shown(ranking, ["b", "c"]);
      await session.end({ outcome: { reward: 1 }, texts: { ...texts, answer: "a-20441 and b-20441" } });
      expect((await engine.explain(ranking.episode))?.used).toEqual([{ id: "b", by: "quote" }]);
    });

    it("unless the outcome names them itself", async () => {
      const { engine, session } = setUp();
      const { episode } = await session.rank(rankAll);
      await session.end({ outcome: { reward: 1, used: ["m3"] }, texts });
      expect((await engine.explain(episode))?.used).toEqual([{ id: "c", by: "application" }]);
    });

    it("and those from before its suspension by their handles", async () => {
      const { engine, session } = setUp();
      await session.rank(rankAll);
      await session.suspend("waiting");
      const resumed = createRunSession({ engine, open: () => engine.open() });
      const episode = (await engine.resume("waiting")) as string;
      resumed.add("default", episode);
      await resumed.end({ outcome: { reward: 1 }, texts: { ...texts, memories: [], answer: "As noted [m2]." } });
      expect((await engine.explain(episode))?.used).toEqual([{ id: "b", by: "citation" }]);
    });
  });
});

describe("the ends of runs", () => {
  /** A kit on a store whose commits wait until they are released. */
  function held() {
    const { store, hold, release } = heldStore("commit");
    const commit = vi.spyOn(store, "commit");
    hold();
    const engine = createEngine({ store });
    const kit = createRunKit({ engine, logger: undefined, onError: "open", storable: (name) => name });
    const run = async (id: string) => {
      const session = createRunSession({ engine: kit.engine, open: () => engine.open() });
      await session.rank(shown("default", id));
      return session;
    };
    const end = async (id: string): Promise<void> => {
      const session = await run(id);
      await kit.held(kit.record(() => session.end({ outcome: { reward: 1 } }), id));
    };
    return { kit, run, end, release, commits: () => commit.mock.calls.length };
  }
  const isSettled = async (work: Promise<unknown>): Promise<boolean> => {
    let settled = false;
    void work.then(() => {
      settled = true;
    });
    for (let turn = 0; turn < 50; turn++) await undefined;
    return settled;
  };

  it("are recorded behind the caller, before a later report, look or flush", async () => {
    const { kit, end, release, commits } = held();
    await end("a");
    expect(commits()).toBe(0);
    const looked = kit.engine.status();
    expect(await isSettled(looked)).toBe(false);
    release();
    expect((await looked).outcomes.user).toBe(1);
    await end("b");
    expect((await kit.engine.memories({ ids: ["b"] })).memories).toMatchObject([{ id: "b", successes: 1 }]);
    await end("c");
    expect((await kit.engine.history()).events.filter(({ type }) => type === "outcome")).toHaveLength(3);
    await end("d");
    await kit.flush();
    expect((await kit.engine.status()).outcomes.user).toBe(4);
  });

  it("are recorded and flushed while an application's test fakes the timers", async () => {
    const { kit, end, release, commits } = held();
    vi.useFakeTimers();
    try {
      release();
      await end("a");
      await kit.flush();
      expect(commits()).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("are begun together in the next turn of the event loop, and in order", async () => {
    const { kit, run, release } = held();
    release();
    const begun: string[] = [];
    for (const id of ["a", "b", "c"]) {
      const session = await run(id);
      void kit.record(() => {
        begun.push(id);
        return session.end({});
      }, id);
    }
    // The ranking of "c" came after no end, so nothing has begun.
    expect(begun).toEqual(["a", "b"]);
    await kit.engine.status();
    expect(begun).toEqual(["a", "b", "c"]);
  });

  it("come before a ranking, which waits for them at most a second, and once while the store does not answer", async () => {
    vi.useFakeTimers();
    try {
      const { run, end, release } = held();
      await end("a");
      const waiting = run("b");
      await vi.advanceTimersByTimeAsync(999);
      expect(await isSettled(waiting)).toBe(false);
      await vi.advanceTimersByTimeAsync(2);
      expect(await isSettled(waiting)).toBe(true);
      expect(await isSettled(run("c"))).toBe(true);
      release();
    } finally {
      vi.useRealTimers();
    }
  });

  it("make a run wait itself once too many are behind", async () => {
    const { run, kit, release } = held();
    const session = await run("a");
    const work = (): Promise<void> => session.end({});
    for (let i = 0; i < MOST_BEHIND; i++) await kit.held(kit.record(work, undefined));
    const last = kit.held(kit.record(work, undefined));
    expect(await isSettled(last)).toBe(false);
    release();
    await last;
    await kit.flush();
  });
});
