import type { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { createEngine, type Learner, memoryStore, similarity } from "@qavr/core";
import type { CollectionHit, LearningOptions, MemoryCollection } from "@qavr/mastra";
import { type RankedToolsProcessorFields, rankedToolsProcessor } from "@qavr/mastra/agents";
import { describe, expect, it, vi } from "vitest";
import { bench, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import type { Script } from "./support/scripted-model.js";
import { NO_INPUT, tools as stock } from "./support/tools.js";

const toolNamed = (id: string, description = `does ${id}`) =>
  createTool({ id, description, inputSchema: NO_INPUT, execute: async () => ({ ok: true }) });
const named = (tools: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(tools).map(([id, description]) => [id, toolNamed(id, description)]));

const FORTY = named(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`t${i}`, undefined])));
/** Lists all of them for any request. */
const equal: MemoryCollection = {
  name: "tools",
  search: (): CollectionHit[] => Object.keys(FORTY).map((id) => ({ id, text: `${id}: does ${id}`, similarity: 0 })),
};

/** An agent whose model calls the tool that fits if it has it. */
function agentWith(
  fields: Omit<RankedToolsProcessorFields, "memory">,
  right: string,
  { qavr = {}, script }: { qavr?: LearningOptions; script?: Script } = {},
) {
  const { memory, storage } = bench({ reportTool: false, ...qavr });
  const model: Script =
    script ??
    ((prompt) => {
      if (prompt.at(-1)?.role === "tool") return { text: "done" };
      return offeredBy(agent).includes(right) ? { tool: right } : { error: new Error("no tool fits") };
    });
  const agent = scriptedAgent(memory, model, {
    tools: { own: toolNamed("own"), ...fields.tools } as never,
    inputProcessors: [rankedToolsProcessor({ memory, ...fields })],
  });
  return { memory, storage, agent };
}

function offeredBy({ offered }: ReturnType<typeof scriptedAgent>): readonly string[] {
  return offered.at(-1) ?? [];
}

let threads = 0;
const on = () => ({ memory: { thread: `tools-${threads++}`, resource: USER } });

describe("an agent with ranked tools", () => {
  it("finds the right tool of forty with equal similarities within twenty failures", async () => {
    const { memory, agent } = agentWith({ tools: FORTY, k: 3, base: equal }, "t33");
    let failures = 0;
    for (let run = 0; run < 40; run++) await agent.generate("please help", on()).catch(() => failures++);
    expect(agent.offered[0]).toEqual(["own", "t0", "t1", "t2"]);
    expect(failures).toBeLessThanOrEqual(20);
    expect(offeredBy(agent)).toContain("t33");
    await memory.flush();
    const { memories } = await memory.memories({ collection: "tools" });
    expect(memories.find(({ id }) => id === "t33")).toMatchObject({ used: 40 - failures, successes: 40 - failures });
  });

  it("knows the groups that its base names", async () => {
    const engine = createEngine({ store: memoryStore() });
    const rank = vi.spyOn(engine, "rank");
    const search = (): CollectionHit[] => [
      { id: "post", text: "post: sends a letter", similarity: 0.9, group: "letters" },
      { id: "rates", text: "rates: money exchange", similarity: 0.8 },
    ];
    const tools = named({ post: "sends a letter", rates: "money exchange" });
    const { agent } = agentWith({ tools, k: 1, base: { name: "tools", search } }, "post", { qavr: { engine } });
    await agent.generate("send a letter to Lyon", on());
    expect(rank.mock.calls[0]?.[0].candidates.map(({ group }) => group)).toEqual(["letters", undefined]);
  });

  it("chooses among the tools that the step has", async () => {
    const tools = named({
      post: "sends a letter",
      mail: "sends a letter",
      rates: "money exchange",
      weather: "the forecast",
    });
    const { agent } = agentWith({ tools, k: 1 }, "rates");
    const activeTools = ["own", "rates", "weather"];
    await agent.generate("send a letter to Lyon", { ...on(), activeTools } as never).catch(() => undefined);
    expect(offeredBy(agent)).toEqual(["own", expect.stringMatching(/rates|weather/)]);
  });

  it("gets the tools that share words with the request, and the same ones at each step of a run", async () => {
    const tools = named({ weather: "the forecast", rates: "money exchange", post: "sends a letter" });
    const { agent } = agentWith({ tools, k: 1 }, "post");
    await agent.generate("send a letter to Lyon", on());
    expect(agent.offered).toEqual([
      ["own", "post"],
      ["own", "post"],
    ]);
  });

  it("has the tool that the caller chose, whatever its rank", async () => {
    const tools = named({ weather: "the forecast", rates: "money exchange", post: "sends a letter" });
    const { agent } = agentWith({ tools, k: 1 }, "", { script: [{ text: "ok" }] });
    await agent.generate("send a letter", { ...on(), toolChoice: { type: "tool", toolName: "rates" } });
    expect(agent.offered).toEqual([["own", "rates", "post"]]);
  });

  it("keeps its tools apart in runs at the same time", async () => {
    const tools = named({ weather: "the forecast", post: "sends a letter" });
    const { agent } = agentWith({ tools, k: 1 }, "", { script: [{ text: "ok" }] });
    await Promise.all([agent.generate("send a letter", on()), agent.generate("the forecast please", on())]);
    expect(agent.offered.map((each) => each[1]).sort()).toEqual(["post", "weather"]);
  });

  it("has a tool that waits for approval also after it was approved", async () => {
    const tools = { ...FORTY, needsApproval: stock.needsApproval };
    const { agent, storage } = agentWith({ tools, k: 1 }, "", {
      script: (prompt) => (prompt.at(-1)?.role === "tool" ? { text: "done" } : { tool: "needsApproval" }),
    });
    new Mastra({ agents: { agent }, storage, logger: false });
    const { runId } = await agent.generate("needs an approval", on());
    const resumed = await agent.approveToolCallGenerate({ runId: runId as string });
    expect(resumed.text).toBe("done");
    expect(agent.offered).toEqual([
      ["own", "needsApproval"],
      ["own", "needsApproval"],
    ]);
  });

  it.each([
    ["waits for approval", "needsApproval", (agent: Agent, runId: string) => agent.approveToolCallGenerate({ runId })],
    ["suspends itself", "asks", (agent: Agent, runId: string) => agent.resumeGenerate({ ok: true }, { runId })],
    ["fails when it is approved", "breaks", (agent: Agent, runId: string) => agent.approveToolCallGenerate({ runId })],
  ] as const)("has used a tool that %s", async (_, tool, resume) => {
    const breaks = createTool({
      id: "breaks",
      description: "Fails when a person approves.",
      inputSchema: NO_INPUT,
      requireApproval: true,
      execute: async () => {
        throw new Error("broken");
      },
    });
    const tools = { needsApproval: stock.needsApproval, asks: stock.asks, breaks };
    const { agent, storage, memory } = agentWith({ tools, k: 3 }, "", {
      script: (prompt) => (prompt.at(-1)?.role === "tool" ? { text: "done" } : { tool }),
    });
    new Mastra({ agents: { agent }, storage, logger: false });
    const { runId } = await agent.generate("runs when a person answers", on());
    await resume(agent, runId as string);
    const { memories } = await memory.memories({ collection: "tools" });
    expect(memories.filter(({ used }) => used > 0).map(({ id }) => id)).toEqual([tool]);
  });

  it("has used a tool that was approved when its ranking had changed", async () => {
    const tools = { needsApproval: stock.needsApproval, b: toolNamed("b"), c: toolNamed("c") };
    const search = () => Object.keys(tools).map((id) => ({ id, text: `${id}: does it`, similarity: 0 }));
    const fields = { tools, k: 1, base: { name: "tools", search } };
    let fails = false;
    const { agent, storage, memory } = agentWith(fields, "", {
      script: (prompt) => {
        if (fails) return { error: new Error("no tool fits") };
        return prompt.at(-1)?.role === "tool" ? { text: "done" } : { tool: "needsApproval" };
      },
    });
    new Mastra({ agents: { agent }, storage, logger: false });
    const { runId } = await agent.generate("please help", on());
    fails = true;
    for (let run = 0; run < 4; run++) await agent.generate("please help", on()).catch(() => undefined);
    fails = false;
    await agent.approveToolCallGenerate({ runId: runId as string });
    expect(offeredBy(agent)).not.toContain("needsApproval");
    const { memories } = await memory.memories({ collection: "tools" });
    expect(memories.filter(({ used }) => used > 0).map(({ id }) => id)).toEqual(["needsApproval"]);
  });

  it("has all tools where they cannot be ranked, which is logged", async () => {
    const { codes, logger } = listener();
    const base: MemoryCollection = { name: "other", search: () => [{ id: "unknown", text: "x", similarity: 1 }] };
    const { agent } = agentWith({ tools: FORTY, k: 3, base }, "t33", { qavr: { logger } });
    await agent.generate("please help", on());
    expect(agent.offered[0]).toHaveLength(41);
    expect(codes).toContain("RANKING_FAILED");
  });

  it("has all tools while a learner fails", async () => {
    const learner: Learner = {
      ...(similarity() as Learner),
      id: "broken@1",
      score() {
        throw new Error("no");
      },
    };
    const { codes, logger } = listener();
    const { agent } = agentWith({ tools: FORTY, k: 3 }, "", { qavr: { learner, logger }, script: [{ text: "ok" }] });
    await agent.generate("please help", on());
    expect(agent.offered[0]).toHaveLength(41);
    expect(codes).toContain("RANKING_FAILED");
  });

  it("has all tools in a run without a thread, which is logged once", async () => {
    const { codes, logger } = listener();
    const { agent } = agentWith({ tools: FORTY, k: 3 }, "", { qavr: { logger }, script: [{ text: "ok" }] });
    for (let run = 0; run < 2; run++) await agent.generate("please help");
    expect(agent.offered.map(({ length }) => length)).toEqual([41, 41]);
    expect(codes.filter((code) => code === "LISTED_OUTSIDE_RUN")).toHaveLength(1);
  });

  it("has all tools while learning is off", async () => {
    const { agent } = agentWith({ tools: FORTY, k: 3 }, "", { qavr: { enabled: false }, script: [{ text: "ok" }] });
    await agent.generate("please help", on());
    expect(agent.offered[0]).toHaveLength(41);
  });

  it.each([
    ["no tools", { tools: {} }],
    ["a list of tools", { tools: Object.values(FORTY) as never }],
    ["a tool that is none", { tools: { ...FORTY, none: null as never } }],
    ["a number of tools below 1", { tools: FORTY, k: 0 }],
    ["a misspelt option", { tools: FORTY, K: 2 }],
    ["a base without a search", { tools: FORTY, base: { name: "tools" } as never }],
    ["a base without a name", { tools: FORTY, base: { search: () => [] } as never }],
  ])("is refused %s", async (_, fields) => {
    const { memory } = bench();
    expect(() => rankedToolsProcessor({ memory, ...fields })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });

  it("says that an object of tools is empty", () => {
    const { memory } = bench();
    expect(() => rankedToolsProcessor({ memory, tools: {} })).toThrow("an object of at least one tool");
  });
});
