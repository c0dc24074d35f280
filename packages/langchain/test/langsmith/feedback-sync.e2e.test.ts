import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { replay } from "@qavr/core/maintenance";
import { getCurrentRunTree, traceable } from "langsmith/traceable";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LangSmithFeedbackOptions, langsmithFeedback } from "../../src/langsmith/index.js";
import { type Bench, bench, credit, QUESTION } from "../support/bench.js";
import { type LangSmithServer, langsmithServer } from "../support/langsmith-server.js";

const PROJECT = "11111111-1111-4111-8111-111111111111";
const runIdOf = (run: number): string => `aaaaaaaa-aaaa-4aaa-8aaa-${String(run).padStart(12, "0")}`;
const RUN_ID = runIdOf(0);

let server: LangSmithServer;
beforeEach(async () => {
  server = await langsmithServer();
});
afterEach(() => server.close());

/** A tracked run that shows one memory and ends. */
async function run({ memory, showing }: Bench, config: RunnableConfig = {}, shown: string = "restart"): Promise<void> {
  const chain = memory.track(
    RunnableLambda.from((question: string, inner: RunnableConfig) => showing(shown).invoke(question, inner)),
  );
  await chain.invoke(QUESTION, { runId: RUN_ID, ...config });
}

const feedbackOf = ({ memory }: Bench, options: Partial<LangSmithFeedbackOptions> = {}) =>
  langsmithFeedback({ memory, client: server.client, ...options });

describe("late feedback", () => {
  it("replaces what the end of the run said, exactly once however often it is read", async () => {
    const setup = await bench();
    await run(setup);
    expect(await credit(setup.memory)).toEqual({ restart: 1 });
    await server.client.createFeedback({
      runId: RUN_ID,
      sessionId: PROJECT,
      key: "user_score",
      score: false,
      comment: "no",
    });
    const feedback = feedbackOf(setup);
    expect(await feedback.sync()).toMatchObject({ recorded: 1, duplicate: 0, unknown: 0, refused: 0 });
    expect(await credit(setup.memory)).toEqual({ restart: -1 });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toEqual({
      reward: 0,
      tier: "user",
      source: "langsmith:user_score",
      note: "no",
    });
    const before = await setup.memory.status();
    expect(before).toMatchObject({ corrections: 1, outcomes: { completed: 1, user: 1 } });

    expect(await feedback.sync()).toMatchObject({ recorded: 0, duplicate: 1 });
    expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 0, duplicate: 1 });
    expect(await feedback.record(server.feedback[0]!)).toEqual({ status: "duplicate" });
    expect(await setup.memory.status()).toEqual(before);
  });

  it("of a run inside the trace reaches the trace's memories", async () => {
    const setup = await bench();
    await run(setup);
    server.add({ run_id: runIdOf(77), trace_id: RUN_ID, score: 0 });
    expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 1 });
    expect(await credit(setup.memory)).toEqual({ restart: -1 });
  });

  it("of a trace whose root is a function around the run, as in LangSmith's evaluate, reaches the run's memories", async () => {
    const setup = await bench();
    let trace = "";
    const target = traceable(
      async (config: RunnableConfig) => {
        trace = getCurrentRunTree().trace_id;
        await traceable(() => run(setup, config), { name: "step" })();
      },
      { name: "target", client: server.client, tracingEnabled: true },
    );
    await target({ runId: RUN_ID, metadata: { qavr_namespace: "experiment" } });
    await awaitAllCallbacks();
    server.add({ run_id: trace, trace_id: trace, score: 0, feedback_source: { type: "model" } });
    expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 1 });
    expect(await credit(setup.memory, "experiment")).toEqual({ restart: -1 });
    expect((await setup.memory.explain(RUN_ID, { namespace: "experiment" }))?.outcome).toMatchObject({
      reward: 0,
      tier: "verified",
    });
  });

  it("during a run whose own function loses its config reaches the run, and not what was retrieved there", async () => {
    const setup = await bench();
    const { memory, showing } = setup;
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await showing("restart").invoke(question, config);
      await traceable(() => showing("scale").invoke(question), { name: "step" })();
      server.add({ run_id: RUN_ID, trace_id: RUN_ID, score: 0 });
      expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 1 });
    });
    const tracer = new LangChainTracer({ client: server.client, projectName: "test" });
    await memory.track(chain).invoke(QUESTION, { runId: RUN_ID, callbacks: [tracer] });
    await awaitAllCallbacks();
    expect(await credit(memory)).toEqual({ restart: -1 });
  });

  it("of a run inside the trace that has memories of its own reaches those, and not the trace's", async () => {
    const setup = await bench();
    await setup.retriever.invoke(QUESTION, { runId: RUN_ID });
    await setup.retriever.invoke(QUESTION, { runId: runIdOf(1) });
    server.add({ run_id: runIdOf(1), trace_id: RUN_ID, score: 1 });
    expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 1 });
    expect((await setup.memory.explain(runIdOf(1)))?.outcome).toMatchObject({ reward: 1 });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toBeUndefined();
  });

  it("of an evaluator counts more than a person's, whichever comes first", async () => {
    for (const evaluatorFirst of [true, false]) {
      const setup = await bench();
      await run(setup);
      const words = [
        { run_id: RUN_ID, score: 1, feedback_source: { type: "model" } },
        { run_id: RUN_ID, score: 0, feedback_source: { type: "app" } },
      ];
      server.feedback.length = 0;
      for (const word of evaluatorFirst ? words : words.reverse()) server.add(word);
      expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 2 });
      expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "verified" });
    }
  });

  it("of one tier: the last word counts, in whatever order it is listed", async () => {
    const setup = await bench();
    await run(setup);
    server.add({ run_id: RUN_ID, score: 1, created_at: "2026-01-03T00:00:00Z", modified_at: "2026-01-03T00:00:00Z" });
    server.add({ run_id: RUN_ID, score: 0, created_at: "2026-01-02T00:00:00Z", modified_at: "2026-01-02T00:00:00Z" });
    await feedbackOf(setup).sync();
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1 });
  });

  it("that is edited replaces itself", async () => {
    const setup = await bench();
    await run(setup);
    const { id } = server.add({ run_id: RUN_ID, score: 0 });
    const feedback = feedbackOf(setup);
    await feedback.sync();
    await server.client.updateFeedback(id, { score: 1 });
    expect(await feedback.sync()).toMatchObject({ recorded: 1, duplicate: 0 });
    expect(await credit(setup.memory)).toEqual({ restart: 1 });
    await server.client.updateFeedback(id, { score: 0 });
    await feedback.sync();
    expect(await credit(setup.memory)).toEqual({ restart: -1 });
    expect((await replay(setup.memory.engine)).identical).toBe(true);
  });

  it("waits for a run that is not recorded yet", async () => {
    const setup = await bench();
    server.add({ run_id: RUN_ID, score: 0 });
    const feedback = feedbackOf(setup);
    expect(await feedback.sync()).toMatchObject({ unknown: 1, recorded: 0 });
    await run(setup);
    expect(await feedback.sync()).toMatchObject({ unknown: 0, recorded: 1 });
  });
});

describe("which feedback counts", () => {
  it("is said by key: categories, scores and functions, and no other key", async () => {
    const setup = await bench();
    for (const place of [0, 1, 2]) await run(setup, { runId: runIdOf(place) }, ["restart", "scale", "coffee"][place]);
    server.add({ run_id: runIdOf(0), key: "verdict", value: "bad" });
    server.add({ run_id: runIdOf(1), key: "stars", score: 5 });
    server.add({ run_id: runIdOf(2), key: "latency", score: 0 });
    server.add({ run_id: runIdOf(2), key: "thumbs", score: 0 });
    const keys: LangSmithFeedbackOptions["keys"] = {
      verdict: { good: 1, bad: 0 },
      stars: ({ score }) => (Number(score) - 1) / 4,
      thumbs: "score",
    };
    expect(await feedbackOf(setup, { keys }).sync()).toMatchObject({ recorded: 3 });
    expect(server.pages[0]?.getAll("key")).toEqual(["verdict", "stars", "thumbs"]);
    expect(await credit(setup.memory)).toEqual({ restart: -1, scale: 1, coffee: -1 });
    expect(await feedbackOf(setup, { keys }).record(server.feedback[2]!)).toEqual({ status: "silent" });
  });

  it("may follow how it came in", async () => {
    const setup = await bench();
    await run(setup);
    server.add({ run_id: RUN_ID, score: 0, feedback_source: { type: "model" } });
    expect(await feedbackOf(setup, { sources: ["api", "app"] }).sync()).toMatchObject({ recorded: 0 });
    expect(server.pages[0]?.getAll("source")).toEqual(["api", "app"]);
  });

  it("leaves out what says nothing, belongs to no run or cannot be read, and names the last with a code", async () => {
    const setup = await bench();
    await run(setup);
    server.add({ run_id: RUN_ID, comment: "interesting" });
    server.add({ run_id: null, score: 1 });
    server.add({ run_id: runIdOf(9), score: 1 });
    server.add({ run_id: RUN_ID, score: 4 });
    server.add({ run_id: RUN_ID, key: "broken", score: 1 });
    server.add({ run_id: RUN_ID, key: "votes", score: 1 });
    const keys: LangSmithFeedbackOptions["keys"] = {
      user_score: "score",
      broken: () => {
        throw new Error("cannot read");
      },
      votes: () => ({ success: true, helpful: ["holiday"] }),
    };
    expect(await feedbackOf(setup, { keys }).sync()).toMatchObject({ silent: 1, unknown: 2, refused: 3, recorded: 0 });
    expect(setup.lines.filter(({ level }) => level === "warn").map(({ code, reason }) => [code, reason])).toEqual([
      ["FEEDBACK_REFUSED", "INVALID_REWARD"],
      ["FEEDBACK_REFUSED", undefined],
      ["FEEDBACK_REFUSED", "NOT_SHOWN"],
    ]);
    expect(await credit(setup.memory)).toEqual({ restart: 1 });
  });

  it("is refused when its key was read otherwise before", async () => {
    const setup = await bench();
    await run(setup);
    const given = server.add({ run_id: RUN_ID, score: 1 });
    await feedbackOf(setup).sync();
    const other = feedbackOf(setup, { keys: { user_score: () => false } });
    expect(await other.record(given)).toEqual({ status: "refused", reason: "IDEMPOTENCY_CONFLICT" });
    expect(await credit(setup.memory)).toEqual({ restart: 1 });
  });

  it("takes tier and source as they are named", async () => {
    const setup = await bench();
    await run(setup);
    server.add({ run_id: RUN_ID, score: 0, feedback_source: { type: "api", metadata: { user: "kim" } } });
    await feedbackOf(setup, {
      tier: ({ key }) => (key === "user_score" ? "verified" : "user"),
      source: ({ feedback_source }) => `person:${(feedback_source as { metadata: { user: string } }).metadata.user}`,
    }).sync();
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ tier: "verified", source: "person:kim" });
  });
});

describe("the namespace of feedback", () => {
  it("is the run's where this process ran it, and named in the feedback's source otherwise", async () => {
    const setup = await bench();
    await run(setup, { metadata: { qavr_namespace: "acme" } });
    server.add({ run_id: RUN_ID, score: 0 });
    await feedbackOf(setup).sync();
    expect(await credit(setup.memory, "acme")).toEqual({ restart: -1 });

    const elsewhere = runIdOf(5);
    await setup.memory.engine.rank({
      namespace: "globex",
      aliases: [elsewhere],
      candidates: [{ id: "coffee", similarity: 1 }],
      topK: 1,
    });
    await setup.memory.flush();
    server.add({
      run_id: elsewhere,
      score: 0,
      feedback_source: { type: "api", metadata: { qavr_namespace: "globex" } },
    });
    expect(await feedbackOf(setup).sync()).toMatchObject({ recorded: 1, duplicate: 1 });
    expect(await credit(setup.memory, "globex")).toEqual({ coffee: -1 });
  });

  it("may be named, also as several of which each that knows the run takes the outcome", async () => {
    const setup = await bench();
    for (const namespace of ["docs", "chats"]) {
      await setup.memory.engine.rank({
        namespace,
        aliases: [RUN_ID],
        candidates: [{ id: namespace, similarity: 1 }],
        topK: 1,
      });
    }
    server.add({ run_id: RUN_ID, score: 0 });
    expect(await feedbackOf(setup).sync()).toMatchObject({ unknown: 1 });
    expect(await feedbackOf(setup, { namespace: ["docs", "mail", "chats"] }).sync()).toMatchObject({ recorded: 1 });
    expect(await credit(setup.memory, "docs")).toEqual({ docs: -1 });
    expect(await credit(setup.memory, "chats")).toEqual({ chats: -1 });
    const named = feedbackOf(setup, { namespace: () => "docs" });
    expect(await named.record(server.feedback[0]!)).toEqual({ status: "duplicate" });
  });

  it.each([[null], [7], [Promise.resolve("docs")]])(
    "is refused where a function returns no name, and the sync goes on: %s",
    async (answer) => {
      const setup = await bench();
      await run(setup);
      server.add({ run_id: RUN_ID, score: 0 });
      server.add({ run_id: RUN_ID, key: "comment" });
      expect(await feedbackOf(setup, { namespace: () => answer as never }).sync()).toMatchObject({
        refused: 1,
        silent: 1,
      });
      expect(setup.lines.find(({ level }) => level === "warn")).toMatchObject({ reason: "INVALID_ARGUMENT" });
    },
  );

  it("is never guessed where a ledger could not keep it", async () => {
    const setup = await bench();
    await run(setup);
    server.add({ run_id: RUN_ID, score: 0 });
    expect(await feedbackOf(setup, { namespace: "a\uD800" }).sync()).toMatchObject({ refused: 1 });
  });
});

describe("wrong input", () => {
  it.each([
    [{ client: {} }],
    [{ client: undefined }],
    [{ keys: "user_score" }],
    [{ keys: { a: "value" } }],
    [{ keys: { a: { good: 2 } } }],
    [{ keys: { a: {} } }],
    [{ tier: "god" }],
    [{ source: "me" }],
    [{ namespace: "" }],
    [{ namespace: ["a", 7] }],
    [{ namespace: [] }],
    [{ sources: "api" }],
    [{ cursor: {} }],
    [{ lookback: -1 }],
    [{ lookback: Number.NaN }],
    [{ lookBack: 1 }],
    [{ memory: {} }],
  ])("is refused: %j", async (options) => {
    const setup = await bench();
    expect(() => feedbackOf(setup, options as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it.each([[null], [{}], [{ id: "f" }]])("is refused as feedback: %j", async (feedback) => {
    const setup = await bench();
    await expect(feedbackOf(setup).record(feedback as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
