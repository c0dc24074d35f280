import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createScorer } from "@mastra/core/evals";
import { Mastra } from "@mastra/core/mastra";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import type { OutcomeReceipt } from "@qavr/core";
import type { LearningOptions, ReportedRun } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { bench, latest, on, QUESTION, remember, scriptedAgent, THREAD, USER } from "./support/bench.js";
import { answered, giveFeedback, half, judged, quietObservability, rewardOf } from "./support/judged.js";
import { listener } from "./support/listener.js";
import { promptText } from "./support/scripted-model.js";
import { temporaryFolder } from "./support/stores.js";
import { tools } from "./support/tools.js";

describe("reportOutcome", () => {
  it.each<[string, (given: { runId: string; episode: string }) => ReportedRun]>([
    ["the run's id", ({ runId }) => ({ runId, success: false })],
    ["its thread's", () => ({ threadId: THREAD, success: false })],
    ["its episode's", ({ episode }) => ({ episode, success: false })],
  ])("finds a run by %s, and overrules what its end said", async (_what, report) => {
    const { memory, runId } = await answered();
    const { episode } = (await latest(memory, THREAD)) ?? { episode: "" };
    await memory.reportOutcome(report({ runId, episode }));
    expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    expect((await memory.status()).corrections).toBe(1);
  });

  it("counts the same key once and refuses another word under it", async () => {
    const { memory, runId } = await answered();
    const say = (success: boolean): Promise<OutcomeReceipt> =>
      memory.reportOutcome({ runId, success, idempotencyKey: "ticket-7" });
    expect((await say(true)).status).toBe("committed");
    expect((await say(true)).status).toBe("duplicate");
    await expect(say(false)).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  });

  it.each([
    ["no run", {}],
    ["two runs", { runId: "a", threadId: "b" }],
    ["a run by a number", { runId: 7 as never }],
    ["a run without a name", { threadId: "" }],
    ["a namespace that is none", { runId: "a", namespace: 7 as never }],
  ])("refuses a report about %s", async (_what, reference) => {
    const { memory } = bench();
    await expect(memory.reportOutcome({ ...reference, success: true } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  it("refuses a run that it does not know", async () => {
    const { memory } = bench();
    await expect(memory.reportOutcome({ runId: "nobody", success: true })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
    });
  });

  describe.each<[string, LearningOptions, object, string]>([
    ["was shown nothing", {}, {}, "something else entirely"],
    ["recalled nothing, since that was off", {}, { options: { semanticRecall: false } }, QUESTION],
    ["was read only", {}, { options: { readOnly: true } }, QUESTION],
    ["is ignored", { ignore: ({ requestContext }) => requestContext?.get("ignored") === true }, {}, QUESTION],
  ])("about a thread's latest run, which %s", (_what, qavr, options, question) => {
    const two = async () => {
      const fields = { options: { semanticRecall: { topK: 1, messageRange: 0, threshold: 0.3 } } } as const;
      const { runId: first, ...given } = await answered(qavr, fields);
      const agent = scriptedAgent(given.memory, [{ text: "hello" }]);
      new Mastra({ agents: { agent }, storage: given.storage, logger: false, observability: quietObservability() });
      const { runId = "", traceId = "" } = await agent.generate(question, {
        memory: { ...on, ...options },
        requestContext: new RequestContext([["ignored", true]] as never),
      });
      return { ...given, runId, traceId, first };
    };

    it("has nothing to keep, and leaves the run before it alone", async () => {
      const { memory, runId, traceId, first } = await two();
      for (const run of [{ runId }, { traceId }, { threadId: THREAD }]) {
        expect(await memory.reportOutcome({ ...run, success: false })).toMatchObject({ status: "ignored", seq: 0 });
        await expect(memory.reportOutcome({ ...run, helpful: ["m1"] })).rejects.toThrow(/was shown no memory/);
        await expect(memory.reportOutcome({ ...run, neutral: ["m1"] })).rejects.toThrow(/was shown no memory/);
        expect(await memory.explain(run)).toBeUndefined();
      }
      expect((await memory.explain({ runId: first }))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    });

    it("finds the next one that is shown something", async () => {
      const { memory, first } = await two();
      await memory.reportOutcome({ runId: first, success: true }); // now something is known
      const { runId = "" } = await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on });
      await memory.reportOutcome({ threadId: THREAD, success: false });
      expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    });
  });

  it("refuses a report by thread on a run that is not learned from, while it goes on", async () => {
    const ignore: LearningOptions["ignore"] = ({ requestContext }) => requestContext?.get("ignored") === true;
    const { memory, runId } = await answered({ ignore });
    let reported: Promise<unknown> | undefined;
    const agent = scriptedAgent(memory, () => {
      reported = memory.reportOutcome({ threadId: THREAD, success: false }).catch((error: unknown) => error);
      return { text: "done" };
    });
    await agent.generate(QUESTION, {
      memory: on,
      requestContext: new RequestContext([["ignored", true]] as never),
    });
    expect(await reported).toMatchObject({ code: "UNKNOWN_EPISODE" });
    expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });

  it("refuses a report by thread on a suspended run that had been shown nothing", async () => {
    const { memory, storage, runId } = await answered(
      {},
      { options: { semanticRecall: { topK: 1, messageRange: 0, threshold: 0.3 } } },
    );
    const agent = scriptedAgent(memory, [{ tool: "needsApproval" }, { text: "done" }], { tools } as never);
    new Mastra({ agents: { agent }, storage, logger: false });
    await agent.generate("something else entirely", { memory: on });
    const report = memory.reportOutcome({ threadId: THREAD, success: false });
    await expect(report).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    expect(await latest(memory, THREAD)).toBeUndefined();
    expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });

  it("means the run that waits where a thread's latest run is suspended", async () => {
    const { memory, storage } = await answered();
    const agent = scriptedAgent(memory, [{ tool: "needsApproval" }, { text: "with helm" }], { tools } as never);
    new Mastra({ agents: { agent }, storage, logger: false });
    const waiting = await agent.generate(QUESTION, { memory: on });
    await memory.reportOutcome({ threadId: THREAD, success: false });
    expect(await memory.explain({ runId: waiting.runId as string })).toMatchObject({
      state: "suspended",
      outcome: { reward: 0, tier: "user" },
    });
  });

  it("finds runs of a namespace that a function chose, in the same process", async () => {
    const { memory, runId } = await answered({ namespace: ({ resourceId }) => `tenant-${resourceId}` });
    await memory.reportOutcome({ runId, success: true });
    expect((await memory.status({ namespace: `tenant-${USER}` })).outcomes.user).toBe(1);
    expect((await memory.status({ namespace: "default" })).episodes.recorded).toBe(0);
  });

  it("does not ask the kind of task, which says nothing of where a run was learned from", async () => {
    const { memory } = bench({ context: ({ requestContext }) => (requestContext as RequestContext).get("kind") });
    const report = { runId: "of another process", success: true };
    await expect(memory.reportOutcome(report)).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    expect(await memory.explain({ runId: report.runId })).toBeUndefined();
  });

  it("asks for the namespace where a function chooses it and cannot say", async () => {
    const { memory } = await answered({ namespace: ({ requestContext }) => requestContext?.get("tenant") ?? "shared" });
    await expect(memory.status()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const other = bench({ namespace: ({ requestContext }) => (requestContext as RequestContext).get("tenant") }).memory;
    const report = { runId: "of another process", success: true };
    await expect(other.reportOutcome(report)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(other.reportOutcome({ ...report, namespace: "acme" })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
    });
  });
});

describe("the report tool", () => {
  const reporting = (args: unknown): Parameters<typeof scriptedAgent>[1] => [
    { tool: "report_memory_outcome", args },
    { text: "reported" },
  ];

  it("takes the agent's votes, by the handles that the prompt names", async () => {
    const { memory } = await answered();
    const agent = scriptedAgent(memory, reporting({ success: false, harmful: ["m1"], note: "outdated" }), { tools });
    await agent.generate(QUESTION, { memory: { thread: "second", resource: USER } });
    expect(promptText(agent.prompts[0])).toMatch(/\[m1\] /);
    const episode = await latest(memory, "second");
    expect(episode?.outcome).toMatchObject({ reward: 0, tier: "self-reported", note: "outdated" });
  });

  it("names what it ignores and keeps the rest", async () => {
    const { memory } = await answered();
    const agent = scriptedAgent(memory, reporting({ success: true, helpful: ["m1"], harmful: ["m9"] }), { tools });
    await agent.generate(QUESTION, { memory: { thread: "second", resource: USER } });
    const answer = JSON.stringify(agent.prompts[1]);
    expect(answer).toContain("Recorded.");
    expect(answer).toContain("Ignored m9: not shown in this run.");
  });

  it("finds the agent's run in the ledger when this process does not know it any more", async () => {
    const { memory, runId } = await answered();
    const tool = memory.listTools().report_memory_outcome as unknown as {
      execute(input: unknown, context: unknown): Promise<string>;
    };
    const call = (context: object): Promise<string> => tool.execute({ success: false, harmful: ["m1"] }, context);
    expect(await call({ runId, agent: { toolCallId: "late" } })).toContain("no memory was recalled");
    expect(await call({ runId, agent: { threadId: "another" } })).toContain("no memory was recalled");
    expect(await call({ runId, agent: { toolCallId: "late", threadId: THREAD } })).toBe("Recorded.");
    expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "self-reported" });
    expect(await call({ agent: {} })).toContain("no memory was recalled");
    await memory.close();
    expect(await call({ runId, agent: { threadId: THREAD } })).toContain("could not be recorded");
  });

  it("reports on the caller's own run where another goes by the same run id", async () => {
    const { memory } = await answered();
    await remember(memory, "payments restart the queue worker");
    const report = { tool: "report_memory_outcome", args: { success: false, note: "of the first" }, delayMs: 200 };
    const first = scriptedAgent(memory, [{ tool: "works" }, report, { text: "done" }], { tools });
    const second = scriptedAgent(memory, [{ tool: "works" }, { text: "well", delayMs: 400 }], { tools });
    const ask = (agent: typeof first, thread: string, question: string): Promise<unknown> =>
      agent.generate(question, { runId: "workflow-run", memory: { thread, resource: USER } });
    const reporting = ask(first, "of-first", QUESTION);
    await pause(100);
    await Promise.all([reporting, ask(second, "of-second", "restart the payments queue")]);
    expect((await latest(memory, "of-first"))?.outcome).toMatchObject({ reward: 0, note: "of the first" });
    expect((await latest(memory, "of-second"))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });

  it("says so when there is nothing to report about", async () => {
    const { memory } = bench();
    const agent = scriptedAgent(memory, reporting({ success: true }), { tools });
    await agent.generate(QUESTION, { memory: on });
    expect(JSON.stringify(agent.prompts[1])).toContain("no memory was recalled");
  });

  it("can be renamed, left out and asked for", async () => {
    const renamed = bench({ reportTool: { name: "rate" } });
    const without = bench({ reportTool: false });
    expect(Object.keys(renamed.memory.listTools())).toEqual(["rate"]);
    expect(Object.keys(without.memory.listTools())).toEqual([]);
    expect(Object.keys(bench({ reportTool: true }).memory.listTools())).toEqual(["report_memory_outcome"]);
    expect(Object.keys(bench().memory.listTools({ readOnly: true }))).toEqual([]);
  });
});

describe("a scorer", () => {
  it("that is a reward says how the run went, without any observability", async () => {
    const given = await judged({}, ({ memory }) => memory.rewardFrom(half), false);
    await expect.poll(() => rewardOf(given)).toMatchObject({ reward: 0.5, tier: "verified", source: "scorer:quality" });
  });

  it("may have its numbers turned into rewards", async () => {
    const given = await judged({}, ({ memory }) => memory.rewardFrom(half, (score) => 1 - score / 2), false);
    await expect.poll(() => rewardOf(given)).toMatchObject({ reward: 0.75 });
  });

  it("that is named counts when its scores arrive through observability", async () => {
    const given = await judged({ scores: ["quality"] }, () => half, true);
    await expect.poll(() => rewardOf(given)).toMatchObject({ reward: 0.5, tier: "verified", source: "scorer:quality" });
    expect((await given.memory.status()).outcomes.verified).toBe(1);
  });

  it("that reports itself and arrives through observability too counts once", async () => {
    const given = await judged({ scores: { quality: () => 1 } }, ({ memory }) => memory.rewardFrom(half), true);
    await expect.poll(() => rewardOf(given)).toMatchObject({ reward: 0.5 });
    await given.memory.flush();
    expect((await given.memory.status()).outcomes.verified).toBe(1);
  });

  it("that nobody named teaches nothing", async () => {
    const given = await judged({}, () => half, true);
    await new Promise((done) => setTimeout(done, 100));
    expect(await rewardOf(given)).toMatchObject({ tier: "completed" });
  });

  it("is refused when it is none", () => {
    expect(() => bench().memory.rewardFrom({} as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("that changes its mind about a run is heard once, and the second word is named", async () => {
    const { codes, logger } = listener();
    const { memory, runId } = await answered({ logger });
    let score = 0.2;
    const moody = createScorer({ id: "moody", description: "Moody.", type: "agent" }).generateScore(() => score);
    const reward = memory.rewardFrom(moody);
    await reward.run({ runId, output: [] } as never);
    score = 0.9;
    await reward.run({ runId, output: [] } as never);
    await reward.run({ runId: "nobody's", output: [] } as never);
    expect((await memory.explain({ runId }))?.outcome).toMatchObject({ reward: 0.2, source: "scorer:moody" });
    expect(codes).toEqual(["ALREADY_REWARDED"]);
  });

  it("stays what it was in everything else", async () => {
    const reward = bench().memory.rewardFrom(half);
    expect([reward.id, reward.description, reward.constructor]).toEqual([half.id, half.description, half.constructor]);
    expect((await reward.run({ output: "x" } as never)).score).toBe(0.5);
  });
});

describe("a thumb that is given in code", () => {
  it.each([
    [1, { reward: 1, tier: "user" }],
    [-1, { reward: 0, tier: "user" }],
    ["-1", { reward: 0, tier: "user" }],
    ["down", { reward: 0, tier: "user" }],
    [false, { reward: 0, tier: "user" }],
    ["up", { reward: 1, tier: "user" }],
  ])("of %j is a person's word about the trace's run", async (value, outcome) => {
    const given = await judged({}, () => half, true);
    await giveFeedback(given, { feedbackType: "thumbs", value });
    await expect.poll(() => rewardOf(given)).toMatchObject(outcome);
  });

  it("may be read otherwise", async () => {
    const given = await judged({ feedback: ({ value }) => ({ reward: Number(value) / 5 }) }, () => half, true);
    const run = { runId: given.runId, threadId: THREAD, resourceId: USER };
    await giveFeedback(given, { feedbackType: "stars", value: 4 }, run);
    await expect.poll(() => rewardOf(given)).toMatchObject({ reward: 0.8, tier: "user" });
  });
});

describe("a thumb that arrives over HTTP", () => {
  /** Keeps feedback as Mastra's server does. */
  async function arrive(mastra: Mastra, feedback: object): Promise<void> {
    const store = await mastra.getStorage()?.getStore("observability");
    await store?.createFeedback({ feedback: { feedbackType: "thumbs", timestamp: new Date(), ...feedback } as never });
  }

  /** LibSQL keeps no feedback. */
  const keeping = (): Partial<Parameters<typeof bench>[1]> => ({ storage: new InMemoryStore() });

  it.each([
    ["its trace", ({ traceId }: { traceId?: string | undefined }) => ({ traceId })],
    ["its run", ({ runId }: { runId: string }) => ({ runId })],
  ])("is a person's word about the run, found by %s, and kept", async (_how, of) => {
    const given = await judged({}, () => half, true, keeping());
    await arrive(given.mastra, { feedbackId: "f1", value: -1, ...of(given) });
    expect(await rewardOf(given)).toMatchObject({ reward: 0, tier: "user", source: "feedback:thumbs" });
    const store = await given.mastra.getStorage()?.getStore("observability");
    expect((await store?.listFeedback({} as never))?.feedback).toHaveLength(1);
  });

  it("counts once when it arrives again, and reaches every memory of the application once", async () => {
    const given = await judged({}, () => half, true, keeping());
    given.memory.__registerMastra(given.mastra);
    const other = bench();
    other.memory.__registerMastra(given.mastra);
    await other.memory.flush();
    for (let time = 0; time < 2; time++) await arrive(given.mastra, { feedbackId: "f1", value: 1, runId: given.runId });
    expect(await rewardOf(given)).toMatchObject({ reward: 1, tier: "user" });
    expect((await given.memory.status()).outcomes.user).toBe(1);
    expect((await other.memory.status()).outcomes.user).toBe(0);
  });

  it("goes to the memory that took the place of one that was closed", async () => {
    const { codes, logger } = listener();
    const qavr = { logger, engine: { readTimeout: 60_000 }, store: join(temporaryFolder(), "ledger.db") };
    const { memory, mastra, runId } = await judged(qavr, () => half, true, keeping());
    await memory.close();
    const next = bench(qavr).memory;
    next.__registerMastra(mastra);
    await arrive(mastra, { feedbackId: "f1", value: -1, runId });
    expect((await next.explain({ runId }))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    expect(codes).toEqual([]);
    await next.close();
  });

  it("is not taken for said when it could not be kept", async () => {
    const given = await judged({}, () => half, true);
    await expect(arrive(given.mastra, { feedbackId: "f1", value: -1, runId: given.runId })).rejects.toThrow(/support/);
    expect(await rewardOf(given)).toMatchObject({ tier: "completed" });
  });
});

describe("channels together", () => {
  it("let the better tier count, whatever comes first", async () => {
    const given = await judged({}, ({ memory }) => memory.rewardFrom(half), false);
    const { memory, runId } = given;
    await expect.poll(() => rewardOf(given)).toMatchObject({ tier: "verified" });
    await memory.reportOutcome({ runId, success: false });
    expect(await rewardOf(given)).toMatchObject({ reward: 0.5, tier: "verified" });
    expect((await memory.status()).taught).toBe(1);
  });
});
