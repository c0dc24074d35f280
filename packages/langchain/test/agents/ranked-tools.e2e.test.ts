import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Document } from "@langchain/core/documents";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { SyntheticEmbeddings } from "@langchain/core/utils/testing";
import { Command, MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createAgent, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type RankedToolsFields, rankedTools } from "../../src/agents/index.js";
import type { Qavr } from "../../src/index.js";
import { approval, ask, recording } from "../support/agent.js";
import { bench, nothingOpen } from "../support/bench.js";
import { itWithAnnouncements } from "../support/framework-features.js";

const toolNamed = (name: string, description = `does ${name}`) =>
  tool(async () => `${name} done`, { name, description, schema: z.object({}) });

const FORTY = Array.from({ length: 40 }, (_, i) => toolNamed(`t${i}`));
/** Lists all of them for any request. */
const equal = {
  name: "tools",
  search: async () =>
    FORTY.map(({ name, description }) => ({ id: name, text: `${name}: ${description}`, similarity: 0 })),
};

/** Stands in for a model: it calls the tool that fits the task if it has it, and records the tools of each call. */
function callsIf(right: string): { readonly middleware: AgentMiddleware; readonly seen: string[][] } {
  const seen: string[][] = [];
  const middleware = createMiddleware({
    name: "model",
    wrapModelCall: async ({ tools, messages }) => {
      const names = tools.map(({ name }) => String(name));
      seen.push(names);
      if (messages.at(-1)?.type === "tool") return new AIMessage("done");
      if (!names.includes(right)) throw new Error("no tool fits");
      return new AIMessage({ content: "", tool_calls: [{ name: right, args: {}, id: crypto.randomUUID() }] });
    },
  });
  return { middleware, seen };
}

function agentWith(memory: Qavr, fields: Omit<RankedToolsFields, "memory">, right: string) {
  const { middleware, seen } = callsIf(right);
  const agent = createAgent({
    model: recording(),
    tools: [toolNamed("own")],
    middleware: [rankedTools({ memory, ...fields }), middleware],
  });
  return { agent: memory.track(agent), seen };
}

describe("an agent with ranked tools", () => {
  it("finds the right tool of forty with equal similarities within twenty failures", async () => {
    const { memory } = await bench();
    const { agent, seen } = agentWith(memory, { tools: FORTY, k: 3, base: equal }, "t33");
    let failures = 0;
    for (let run = 0; run < 40; run++) await agent.invoke(ask("please help")).catch(() => failures++);
    expect(seen[0]).toEqual(["own", "t0", "t1", "t2"]);
    expect(failures).toBeLessThanOrEqual(20);
    expect(seen.at(-1)).toContain("t33");
    const { memories } = await memory.memories({ collection: "tools" });
    expect(memories.find(({ id }) => id === "t33")).toMatchObject({ used: 40 - failures, successes: 40 - failures });
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("gives a tool that fails no credit for a run that succeeds with another", async () => {
    const { memory } = await bench({ evaluate: () => true });
    const broken = tool(
      async () => {
        throw new Error("out of order");
      },
      { name: "broken", description: "does it", schema: z.object({}) },
    );
    const works = toolNamed("works");
    const middleware = createMiddleware({
      name: "model",
      wrapModelCall: async ({ messages }) => {
        const answered = messages.filter(({ type }) => type === "tool").length;
        const name = ["broken", "works"][answered];
        if (name === undefined) return new AIMessage("done");
        return new AIMessage({ content: "", tool_calls: [{ name, args: {}, id: crypto.randomUUID() }] });
      },
      wrapToolCall: async (call, handler) => {
        try {
          return await handler(call);
        } catch (error) {
          return new ToolMessage({ content: String(error), status: "error", tool_call_id: call.toolCall.id as string });
        }
      },
    });
    const agent = createAgent({
      model: recording(),
      middleware: [rankedTools({ memory, tools: [broken, works], k: 2 }), middleware],
    });
    await memory.track(agent).invoke(ask("does it"));
    const { memories } = await memory.memories({ collection: "tools" });
    expect(memories.map(({ id, used }) => [id, used]).sort()).toEqual([
      ["broken", 0],
      ["works", 1],
    ]);
  });

  it("gets the tools that share words with the request, and the same ones at each model call of a run", async () => {
    const { memory } = await bench();
    const tools = [
      toolNamed("weather", "the forecast"),
      toolNamed("rates", "money exchange"),
      toolNamed("post", "sends a letter"),
    ];
    const { agent, seen } = agentWith(memory, { tools, k: 1 }, "post");
    await agent.invoke(ask("send a letter to Lyon"));
    expect(seen).toEqual([
      ["own", "post"],
      ["own", "post"],
    ]);
  });

  it("has the tool that another middleware chose, whatever its rank", async () => {
    const { memory } = await bench();
    const tools = [toolNamed("rates", "money exchange"), toolNamed("post", "sends a letter")];
    const { middleware, seen } = callsIf("rates");
    const toolChoice = { type: "function" as const, function: { name: "rates" } };
    const choosing = createMiddleware({
      name: "choosing",
      wrapModelCall: (call, handler) => handler({ ...call, toolChoice }),
    });
    const agent = createAgent({
      model: recording(),
      middleware: [choosing, rankedTools({ memory, tools, k: 1 }), middleware],
    });
    await memory.track(agent).invoke(ask("send a letter"));
    expect(seen[0]).toEqual(["rates", "post"]);
  });

  it("is ordered by the similarities of a store of its own", async () => {
    const { memory } = await bench();
    const base = await MemoryVectorStore.fromDocuments(
      ["alpha", "beta"].map((id) => new Document({ id, pageContent: id === "beta" ? "please help" : "other words" })),
      new SyntheticEmbeddings({ vectorSize: 16 }),
    );
    const { agent, seen } = agentWith(memory, { tools: [toolNamed("alpha"), toolNamed("beta")], k: 1, base }, "beta");
    await agent.invoke(ask("please help"));
    expect(seen[0]).toEqual(["own", "beta"]);
  });

  it("has all tools where they cannot be ranked, which is logged", async () => {
    const { memory, codes } = await bench();
    const base = { name: "other", search: async () => [{ id: "unknown", text: "x", similarity: 1 }] };
    const { agent, seen } = agentWith(memory, { tools: FORTY, k: 3, base }, "t33");
    await agent.invoke(ask("please help"));
    expect(seen[0]).toHaveLength(41);
    expect(codes()).toContain("MEMORIES_UNAVAILABLE");
  });

  it("has all tools where there is no request, also after a turn that had one", async () => {
    const { memory } = await bench();
    const { middleware, seen } = callsIf("t39");
    const middlewares = [
      rankedTools({ memory, tools: FORTY, base: equal, k: 39, query: ({ messages }) => messages.at(-1)?.text }),
      middleware,
    ];
    const agent = memory.track(
      createAgent({ model: recording(), middleware: middlewares, checkpointer: new MemorySaver() }),
    );
    const thread = { configurable: { thread_id: "t" } };
    await expect(agent.invoke(ask("please help"), thread)).rejects.toThrow("no tool fits");
    await agent.invoke({ messages: [new HumanMessage(" ")] }, thread);
    expect(seen.map(({ length }) => length)).toEqual([39, 40, 40]);
  });

  it("keeps its tools over an approval", async () => {
    const { memory } = await bench();
    const { middleware, seen } = callsIf("act");
    const tools = [toolNamed("act", "acts at once"), ...FORTY];
    const agent = memory.track(
      createAgent({
        model: recording(),
        middleware: [rankedTools({ memory, tools, k: 2 }), approval(), middleware],
        checkpointer: new MemorySaver(),
      }),
    );
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(ask("act at once"), thread);
    await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread);
    expect(seen[0]).toContain("act");
    expect(seen[1]).toEqual(seen[0]);
    const { memories } = await memory.memories({ collection: "tools" });
    expect(memories.filter(({ used }) => used > 0).map(({ id }) => id)).toEqual(["act"]);
  });

  itWithAnnouncements("has used the tools that it called before and after approvals", async () => {
    const { memory } = await bench();
    const tools = ["find", "act", "send", "other"].map((name) => toolNamed(name));
    const call = (name: string) => [{ name, args: {}, id: crypto.randomUUID() }];
    const agent = memory.track(
      createAgent({
        model: recording(call("find"), call("act"), call("send"), call("act")).respond(new AIMessage("done again")),
        middleware: [rankedTools({ memory, tools, k: 4 }), approval()],
        checkpointer: new MemorySaver(),
      }),
    );
    const thread = { configurable: { thread_id: "t" } };
    const approve = () => new Command({ resume: { decisions: [{ type: "approve" }] } });
    await agent.invoke(ask("please help"), thread);
    await agent.invoke(approve(), thread);
    await agent.invoke(approve(), thread);
    await memory.flush();
    const { memories } = await memory.memories({ collection: "tools" });
    expect(
      memories
        .filter(({ used }) => used > 0)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(["act", "find", "send"]);
    await agent.invoke(ask("please help"), thread);
    await memory.flush();
    const later = await memory.memories({ collection: "tools" });
    expect(later.memories.map(({ used }) => used).sort()).toEqual([0, 1, 1, 1]);
  });

  it("are a collection of their own where that option is undefined", async () => {
    const { memory } = await bench();
    const base = new MemoryVectorStore(new SyntheticEmbeddings({ vectorSize: 8 }));
    await base.addDocuments(FORTY.map(({ name }) => new Document({ id: name, pageContent: name })));
    const { agent } = agentWith(memory, { tools: FORTY, k: 40, base, collection: undefined }, "t3");
    await agent.invoke(ask("t3"));
    await memory.flush();
    expect((await memory.memories({ collection: "tools" })).memories).toHaveLength(40);
  });

  it.each([
    ["no tools", { tools: [] }],
    ["two tools of one name", { tools: [toolNamed("a"), toolNamed("a")] }],
    ["a provider's tool, which has no name", { tools: [toolNamed("a"), { type: "web_search" } as never] }],
    ["what is no tool", { tools: [null as never] }],
    ["a number of tools below 1", { tools: FORTY, k: 0 }],
    ["more tools than a search finds", { tools: FORTY, k: 1001 }],
    ["a misspelt option", { tools: FORTY, K: 2 }],
    ["a name that is no state key", { tools: FORTY, name: "my tools" }],
  ])("is refused %s", async (_, fields) => {
    const { memory } = await bench();
    const message = expect.not.stringContaining("fetchK");
    expect(() => rankedTools({ memory, ...fields })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message }),
    );
  });

  it("says that a list of tools is empty", async () => {
    const { memory } = await bench();
    expect(() => rankedTools({ memory, tools: [] })).toThrow("a list of at least one tool");
  });
});
