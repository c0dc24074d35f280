import { createScorer, runEvals } from "@mastra/core/evals";
import { InMemoryStore } from "@mastra/core/storage";
import type { FeedbackReward, LearningOptions } from "@qavr/mastra";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bench, latest, QUESTION, scriptedAgent, USER } from "./support/bench.js";
import { answered, giveFeedback, half, judged, rewardOf } from "./support/judged.js";
import { listener } from "./support/listener.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a scorer", () => {
  it("whose rule throws is named, and keeps its row in Mastra's storage", async () => {
    const { codes, logger } = listener();
    const rule = (): number => {
      throw new Error("bad rule");
    };
    const given = await judged({ logger }, ({ memory }) => memory.rewardFrom(half, rule), false);
    const scores = await given.mastra.getStorage()?.getStore("scores");
    const rows = async (): Promise<unknown[] | undefined> =>
      (await scores?.listScoresByScorerId({ scorerId: "quality", pagination: { page: 0, perPage: 10 } }))?.scores;
    await expect.poll(rows).toHaveLength(1);
    expect(codes).toEqual(["OUTCOME_NOT_RECORDED"]);
    expect(await rewardOf(given)).toMatchObject({ tier: "completed" });
  });

  it.each<[string, LearningOptions, boolean]>([
    ["in percent", {}, false],
    ["in percent that is named", { scores: ["quality"] }, true],
  ])("%s teaches nothing, and that is said once", async (_how, qavr, observed) => {
    const { codes, logger } = listener();
    const percent = createScorer({ id: "quality", description: "85 %.", type: "agent" }).generateScore(() => 85);
    const given = await judged(
      { ...qavr, logger },
      ({ memory }) => (observed ? percent : memory.rewardFrom(percent)),
      observed,
    );
    await expect.poll(() => codes).toEqual(["SCORE_IGNORED"]);
    await given.memory.rewardFrom(percent).run({ runId: given.runId, output: [] } as never);
    expect(codes).toEqual(["SCORE_IGNORED"]);
    expect(await rewardOf(given)).toMatchObject({ tier: "completed" });
  });

  it("that is named and cannot be heard, for want of observability or by its spelling, is said once", async () => {
    const { codes, messages, logger } = listener();
    await judged({ scores: ["quality"], logger }, () => half, false);
    expect(codes).toEqual(["SCORE_IGNORED"]);
    const named = await judged({ scores: ["Quality"], logger }, () => half, true);
    await expect.poll(() => codes).toEqual(["SCORE_IGNORED", "SCORE_IGNORED"]);
    expect(messages).toEqual([expect.stringContaining("observability"), expect.stringContaining('It has "quality"')]);
    expect(await rewardOf(named)).toMatchObject({ tier: "completed" });
  });

  it("that another memory rewards judges runs which that memory does not know", async () => {
    const { codes, logger } = listener();
    const other = bench({ logger });
    await judged({}, () => other.memory.rewardFrom(half), false);
    await expect.poll(() => codes).toEqual(["SCORE_IGNORED"]);
  });

  it("of a run that reads only teaches nothing, and nobody is told that the memory is another", async () => {
    const { codes, logger } = listener();
    const given = await answered({ logger });
    const scorer = given.memory.rewardFrom(half);
    const readOnly = { thread: "read", resource: USER, options: { readOnly: true } };
    const { runId } = await scriptedAgent(given.memory, [{ text: "with helm" }]).generate(QUESTION, {
      memory: readOnly,
    });
    await scorer.run({ runId, threadId: "read", resourceId: USER, output: [] } as never);
    expect(codes).toEqual([]);
    expect((await given.memory.status()).outcomes.verified).toBe(0);
  });

  it("in an experiment teaches nothing, while the experiment's run with a thread is a run", async () => {
    const { codes, logger } = listener();
    const { memory } = await answered({ logger });
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await runEvals({
      target: agent,
      data: [{ input: QUESTION }],
      scorers: [memory.rewardFrom(half)] as never,
      targetOptions: { memory: { thread: "experiment", resource: USER } } as never,
    });
    expect((await latest(memory, "experiment"))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect((await memory.status()).outcomes.verified).toBe(0);
    expect(codes).toEqual([]);
  });

  it("that is named teaches nothing of a run by its scores in an experiment", async () => {
    const given = await judged({ scores: ["named"] }, () => half, true);
    const observability = given.mastra.observability as unknown as { addScore(args: object): Promise<void> };
    const give = (score: number, scoreSource: string): Promise<void> =>
      observability.addScore({
        traceId: given.traceId,
        correlationContext: {},
        score: { scorerId: "named", score, scoreSource },
      });
    await give(0, "experiment");
    await give(1, "live");
    await expect.poll(() => rewardOf(given)).toMatchObject({ reward: 1, tier: "verified" });
    expect((await given.memory.status()).outcomes.verified).toBe(1);
  });

  it("is heard of without a logger", async () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { memory, runId } = await answered();
    const percent = createScorer({ id: "percent", description: "85 %.", type: "agent" }).generateScore(() => 85);
    await memory.rewardFrom(percent).run({ runId, output: [] } as never);
    expect(emit).toHaveBeenCalledWith(expect.stringContaining("[0, 1]"), {
      type: "QavrWarning",
      code: "SCORE_IGNORED",
    });
  });
});

describe("feedback that is no thumb", () => {
  it.each([
    ["a rating of unknown scale", { feedbackType: "rating", value: 1 }, ["SCORE_IGNORED"]],
    ["a thumb that says neither", { feedbackType: "thumbs", value: "sideways" }, ["SCORE_IGNORED"]],
    ["a comment in words", { feedbackType: "comment", value: "nice" }, []],
  ])(
    "such as %s teaches nothing, and is told of where it looks like a judgement",
    async (_what, feedback, expected) => {
      const { codes, logger } = listener();
      const given = await judged({ logger }, () => half, true);
      for (let time = 0; time < 2; time++) await giveFeedback(given, feedback);
      await new Promise((done) => setTimeout(done, 50));
      expect(codes).toEqual(expected);
      expect(await rewardOf(given)).toMatchObject({ tier: "completed" });
    },
  );
});

describe("a thumb beside an application's own reader of feedback", () => {
  it.each<[string, FeedbackReward, object]>([
    ["counts as ever where the reader returns undefined", () => undefined, { reward: 0, tier: "user" }],
    ["teaches nothing where the reader returns null", () => null, { reward: 1, tier: "completed" }],
  ])("%s", async (_what, feedback, outcome) => {
    const given = await judged({ feedback }, () => half, true);
    await giveFeedback(given, { feedbackType: "thumbs", value: -1 });
    await expect.poll(() => rewardOf(given)).toMatchObject(outcome);
  });
});

describe("feedback without an id, as Mastra 1.14 gives it", () => {
  it("counts beside earlier feedback of the run, and once when it arrives again", async () => {
    const { codes, logger } = listener();
    const storage = new InMemoryStore();
    const store = await storage.getStore("observability");
    // That of today refuses it.
    Object.assign(store ?? {}, { createFeedback: async () => {} });
    const given = await judged({ logger }, () => half, true, { storage });
    for (const [value, second] of Object.entries({ up: 1, down: 2, "-1": 2 })) {
      const thumb = { feedbackType: "thumbs", value, runId: given.runId, timestamp: new Date(second * 1_000) };
      await store?.createFeedback({ feedback: thumb as never });
    }
    expect(await rewardOf(given)).toMatchObject({ reward: 0, tier: "user" });
    expect((await given.memory.status()).outcomes.user).toBe(2);
    expect(codes).not.toContain("ALREADY_REWARDED");
  });
});
