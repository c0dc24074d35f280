import { createScorer } from "@mastra/core/evals";
import { Mastra } from "@mastra/core/mastra";
import { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import { qValue } from "@qavr/core";
import { exportState } from "@qavr/core/maintenance";
import type { LearningOptions } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { bench, latest, NOTE, on, QUESTION, remember, scriptedAgent, USER } from "./support/bench.js";
import { quietObservability } from "./support/judged.js";
import type { Script } from "./support/scripted-model.js";
import { tools } from "./support/tools.js";

const REQUEST_CONTEXT_KEY = "qavr";

describe("two runs at the same time on one request context", () => {
  it("are credited apart: each with what it was shown and how it ended", async () => {
    const { memory } = bench();
    await remember(memory, NOTE);
    await remember(memory, "restart the printer on the third floor");
    const good = scriptedAgent(memory, [{ text: "a slow and good answer", delayMs: 10 }]);
    const bad = scriptedAgent(memory, [{ error: new Error("down") }]);
    const requestContext = new RequestContext();
    await Promise.allSettled([
      good.generate(QUESTION, { requestContext, memory: { thread: "good", resource: USER } }),
      bad.generate("the printer does not start", { requestContext, memory: { thread: "bad", resource: USER } }),
    ]);
    const [first, second] = [await latest(memory, "good"), await latest(memory, "bad")];
    expect(first?.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(second?.outcome).toMatchObject({ reward: 0, tier: "observed" });
    const shown = [first, second].map((episode) => episode?.exposures[0]?.items[0]?.id);
    expect(new Set(shown).size).toBe(2);
  });

  it("are reported apart by their run ids", async () => {
    const { memory } = bench();
    await remember(memory, NOTE);
    const agents = ["a", "b", "c"].map((id) => scriptedAgent(memory, [{ text: "one two three", delayMs: 5 }], { id }));
    const requestContext = new RequestContext();
    const runs = await Promise.all(
      agents.map((agent, at) =>
        agent.generate(QUESTION, { requestContext, memory: { thread: `t${at}`, resource: USER } }),
      ),
    );
    await memory.reportOutcome({ runId: runs[1]?.runId as string, success: false });
    const outcomes = await Promise.all(runs.map((_run, at) => latest(memory, `t${at}`)));
    expect(outcomes.map((episode) => episode?.outcome?.tier)).toEqual(["completed", "user", "completed"]);
  });
});

describe("runs that share a workflow's run id", () => {
  it.each<[string, LearningOptions, boolean]>([
    ["reports itself", {}, false],
    ["is named", { scores: ["length"] }, true],
  ])("are judged apart by a scorer that %s", async (_how, qavr, isObserved) => {
    const { memory, storage } = bench(qavr);
    await remember(memory, NOTE);
    const length = createScorer({ id: "length", description: "Length.", type: "agent" }).generateScore(({ run }) =>
      JSON.stringify(run.output).includes("short") ? 0.2 : 0.8,
    );
    const scorers = { length: { scorer: isObserved ? length : memory.rewardFrom(length) } };
    const ids = ["short", "long"];
    const agents = Object.fromEntries(ids.map((id) => [id, scriptedAgent(memory, [{ text: id }], { id, scorers })]));
    new Mastra({ agents, storage, logger: false, ...(isObserved ? { observability: quietObservability() } : {}) });
    for (const [thread, agent] of Object.entries(agents)) {
      const on = { thread, resource: USER };
      await agent.generate(QUESTION, { runId: "of-the-workflow", memory: on });
    }
    const rewards = (): Promise<unknown[]> =>
      Promise.all(ids.map(async (thread) => (await latest(memory, thread))?.outcome?.reward));
    await expect.poll(rewards).toEqual([0.2, 0.8]);
  });

  it("are not reported on by it, but by their threads", async () => {
    const { memory } = bench();
    await remember(memory, NOTE);
    const runId = "of-the-workflow";
    const say = (thread: string) =>
      scriptedAgent(memory, [{ text: "done" }]).generate(QUESTION, {
        runId,
        memory: { thread, resource: USER },
      });
    await say("first");
    expect(await memory.reportOutcome({ runId, success: false })).toMatchObject({ status: "committed" });
    await say("second");
    await expect(memory.reportOutcome({ runId, success: false })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await memory.reportOutcome({ threadId: "second", success: false });
    expect((await latest(memory, "second"))?.outcome).toMatchObject({ reward: 0, tier: "user" });
  });
});

describe("a request context that a client has filled", () => {
  it("cannot credit a run of somebody else that is under way", async () => {
    const { memory } = bench();
    await remember(memory, NOTE);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const waits = createTool({
      id: "waits",
      description: "Waits.",
      inputSchema: { type: "object", properties: {} } as unknown as undefined,
      execute: () => gate.then(() => ({ ok: true })),
    });
    const context = new RequestContext();
    const victim = scriptedAgent(memory, [{ tool: "waits" }, { text: "done" }], { tools: { waits } });
    const running = victim.generate(QUESTION, {
      requestContext: context,
      memory: { thread: "victim", resource: USER },
    });
    await expect.poll(async () => (await latest(memory, "victim"))?.exposures.length).toBe(1);
    const { episode } = (await latest(memory, "victim")) ?? {};

    // An attacker knows the episode and hands it in: without a thread, on one of its own, on the victim's, and through the tool.
    const script = [
      { tool: "report_memory_outcome", args: { success: false, harmful: ["m1"] } },
      { error: new Error("down") },
    ];
    const forged = (more: object = {}): RequestContext =>
      new RequestContext(Object.entries({ [REQUEST_CONTEXT_KEY]: { episode }, ...more }) as never);
    const attack = (requestContext: RequestContext, on: object): Promise<unknown> =>
      scriptedAgent(memory, script)
        .generate("how is it", { requestContext, ...on })
        .catch(() => undefined);
    await attack(forged(), {});
    await attack(forged(), { memory: { thread: "attacker", resource: "attacker" } });
    await attack(forged({ MastraMemory: { thread: { id: "victim" }, resourceId: USER } }), {});
    expect(await memory.explain({ episode: episode as string })).toMatchObject({ state: "open" });
    open();
    await running;
    const ended = await memory.explain({ episode: episode as string });
    expect(ended).toMatchObject({ state: "ended", outcome: { reward: 1, tier: "completed" } });
    expect(ended?.exposures).toHaveLength(1);
    expect((await memory.status()).outcomes.observed).toBe(0);
  });

  it("loses what it says of an episode as soon as a run begins", async () => {
    const { memory } = bench();
    const requestContext = new RequestContext([[REQUEST_CONTEXT_KEY, { episode: "forged" }]] as never);
    const agent = scriptedAgent(memory, [{ text: "hello" }]);
    await agent.generate("hello", { requestContext });
    expect(requestContext.get(REQUEST_CONTEXT_KEY)).toBeUndefined();
    await agent.generate("hello", { requestContext, memory: { thread: "own", resource: USER } });
    expect(requestContext.get(REQUEST_CONTEXT_KEY)).toMatchObject({
      episode: expect.stringMatching(/^[0-9a-z]{20}$/),
    });
  });
});

describe("the judge of an application", () => {
  it("decides before the run's end does, and sees what was recalled", async () => {
    const seen: unknown[] = [];
    const { memory } = bench({
      evaluate: (run) => {
        seen.push([run.finishReason, run.text, run.toolErrors, run.threadId, run.memories.map(({ handle }) => handle)]);
        return { success: false, harmful: ["m1"] };
      },
    });
    await remember(memory, NOTE, { thread: "seed" });
    const agent = scriptedAgent(memory, [{ tool: "fails" }, { text: "sorry" }], { tools });
    await agent.generate(QUESTION, { memory: on });
    expect(seen.at(-1)).toEqual(["tool-error", "sorry", 1, "task", ["m1"]]);
    expect((await latest(memory, "task"))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
  });

  it("leaves the end's own word where it cannot tell or throws", async () => {
    const { memory } = bench({
      evaluate: ({ threadId }) => {
        if (threadId === "throws") throw new Error("the judge is ill");
        return undefined;
      },
    });
    await remember(memory, NOTE);
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    for (const thread of ["throws", "shrugs"]) {
      await agent.generate(QUESTION, { memory: { thread, resource: USER } });
      expect((await latest(memory, thread))?.outcome).toMatchObject({ tier: "completed" });
    }
  });

  it.each([
    ["names memories that were not shown", { success: true, helpful: ["m9"] }],
    ["has a source with a longer name than is kept", { success: true, source: "s".repeat(513) }],
  ])("is recorded without its verdict when that %s", async (_what, verdict) => {
    const { memory } = bench({ evaluate: () => verdict });
    await remember(memory, NOTE);
    await scriptedAgent(memory, [{ text: "with helm" }]).generate(QUESTION, {
      memory: on,
    });
    expect(await latest(memory, "task")).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
  });
});

describe("the end of a run", () => {
  it("is recorded while its turn is embedded, so that neither waits for the other", async () => {
    const { memory, vector } = bench();
    await remember(memory, NOTE);
    const upsert = vector.upsert.bind(vector);
    let embeddedAfterEnd = false;
    vector.upsert = async (params) => {
      await expect.poll(async () => (await latest(memory, "task"))?.state).toBe("ended");
      embeddedAfterEnd = true;
      return upsert(params);
    };
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await agent.generate(QUESTION, { memory: on });
    expect(embeddedAfterEnd).toBe(true);
  });
});

describe("the table of finish reasons", () => {
  it("may be changed row by row", async () => {
    const { memory } = bench({ outcomes: { stop: null, error: { reward: 0.2, tier: "completed" } } });
    await remember(memory, NOTE);
    const ask = async (thread: string, script: Parameters<typeof scriptedAgent>[1]): Promise<unknown> => {
      const agent = scriptedAgent(memory, script);
      await agent.generate(QUESTION, { memory: { thread, resource: USER } }).catch(() => undefined);
      return (await latest(memory, thread))?.outcome;
    };
    expect(await ask("good", [{ text: "with helm" }])).toBeUndefined();
    expect(await ask("bad", [{ error: new Error("down") }])).toMatchObject({ reward: 0.2, tier: "completed" });
  });

  it("keeps the rows that are left undefined", async () => {
    const { memory } = bench({ outcomes: { stop: undefined } });
    await remember(memory, NOTE);
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await agent.generate(QUESTION, { memory: on });
    expect((await latest(memory, "task"))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });
});

describe("the used memories of a run", () => {
  const LESSONS = {
    refund: "Refunds over 500 euros need the approval of a team lead before the payment service will send them.",
    account: "Write to ops@acme.example for a new account.",
    skill: "---\nname: invoices\n---\nRead the invoice before you pay it.",
  };
  const lessons = {
    name: "lessons",
    search: () => Object.entries(LESSONS).map(([id, text], i) => ({ id, text, similarity: 0.9 - i / 10 })),
  };
  const does = (id: string, result: unknown = "done") =>
    createTool({
      id,
      description: "Does it.",
      inputSchema: { type: "object", properties: { value: { type: "string" } } } as unknown as undefined,
      execute: async () => result,
    });

  async function usedIn(script: Script, tools = {}, request = "what now?", qavr: LearningOptions = {}) {
    const { memory } = bench({ collections: [{ collection: lessons }], ...qavr });
    await scriptedAgent(memory, script, { tools }).generate(request, { memory: on });
    return { memory, used: (await latest(memory, "task"))?.used };
  }

  it("are those that the answer cites, and the seed's formula gives the others its reward for unused ones", async () => {
    const qavr = { learner: qValue(), evaluate: () => true };
    const { memory, used } = await usedIn([{ text: "Ask your team lead [m1]." }], {}, "what now?", qavr);
    expect(used).toEqual([{ id: "refund", by: "citation" }]);
    const { memories } = await exportState(memory.engine, { collection: "lessons" });
    const q = new Map(memories.map(({ id, state }) => [id, (state as { readonly q: number }).q]));
    expect(q.get("refund")).toBeCloseTo(0.5 + 0.1 * (1 - 0.5), 6);
    expect(q.get("account")).toBeCloseTo(0.5 + 0.1 * (0.1 - 0.5), 6);
  });

  it("are those that it quotes, that a tool call has a value of, and that it loads as a skill", async () => {
    const quote = "Note: refunds over 500 euros need the approval of a team lead before the payment";
    expect((await usedIn([{ text: quote }])).used).toEqual([{ id: "refund", by: "quote" }]);
    const mail: Script = [{ tool: "mail", args: { value: "ops@acme.example" } }, { text: "done" }];
    const tools = { mail: does("mail", { sent: "ops@acme.example" }), load_skill: does("load_skill") };
    expect((await usedIn(mail, tools)).used).toEqual([{ id: "account", by: "argument" }]);
    const load: Script = [{ tool: "load_skill", args: { value: "invoices" } }, { text: "done" }];
    expect((await usedIn(load, tools)).used).toEqual([{ id: "skill", by: "skill" }]);
  });

  it("are unknown where nothing shows them, also where the request or an earlier result has the same value", async () => {
    expect((await usedIn([{ text: "Ask somebody." }])).used).toBeUndefined();
    const mail: Script = [{ tool: "find" }, { tool: "mail", args: { value: "ops@acme.example" } }, { text: "done" }];
    const tools = { find: does("find", { found: ["ops@acme.example"] }), mail: does("mail") };
    expect((await usedIn(mail, tools)).used).toBeUndefined();
    expect((await usedIn(mail.slice(1), tools, "mail ops@acme.example")).used).toBeUndefined();
  });
});
