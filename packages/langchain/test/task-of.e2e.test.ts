import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { QavrOptions } from "../src/index.js";
import { taskOf } from "../src/langgraph/index.js";
import { bench, QUESTION } from "./support/bench.js";

const State = Annotation.Root({ task: Annotation<"grow" | "mend"> });

/** Share of the last of many runs of a router's graph that were shown what their node needs. The words are always the same. */
async function routed(options: QavrOptions): Promise<number> {
  const { memory, vectors } = await bench(options);
  const retriever = memory.retriever(vectors, { k: 1 });
  const needing = (id: string) => async () => {
    const [shown] = await retriever.invoke(QUESTION);
    if (shown?.id !== id) throw new Error("of no help");
    return {};
  };
  const graph = memory.track(
    new StateGraph(State)
      .addNode("grow", needing("scale"))
      .addNode("mend", needing("restart"))
      .addConditionalEdges(START, ({ task }) => task)
      .compile(),
  );
  const outcomes: number[] = [];
  for (let run = 0; run < 100; run++) {
    const invoked = graph.invoke({ task: run % 2 === 0 ? "grow" : "mend" });
    outcomes.push(await invoked.then(() => 1).catch(() => 0));
  }
  return outcomes.slice(-40).reduce((sum, one) => sum + one, 0) / 40;
}

describe("taskOf", () => {
  it("tells apart the nodes of a router whose requests have the same words", async () => {
    expect(await routed({ context: taskOf })).toBeGreaterThan(0.9);
    expect(await routed({})).toBeLessThan(0.7);
  });

  it("names the tools and nodes around a retrieval, unless the run names a task", async () => {
    const { memory, retriever } = await bench({ context: taskOf });
    const ask = tool((_, config: RunnableConfig) => retriever.invoke(QUESTION, config).then(() => "done"), {
      name: "ask_refunds",
      schema: z.object({}),
    });
    const asking = RunnableLambda.from((_: string, config: RunnableConfig) => ask.invoke({}, config));
    const node = async (_: unknown, config: RunnableConfig): Promise<object> => {
      await asking.invoke("", config);
      return {};
    };
    const graph = new StateGraph(State).addNode("billing", node).addEdge(START, "billing").compile();
    const contextOf = async (run: (config: RunnableConfig) => Promise<unknown>): Promise<string | undefined> => {
      const runId = crypto.randomUUID();
      await run({ runId });
      return (await memory.explain(runId))?.exposures[0]?.context;
    };
    expect(await contextOf((config) => memory.track(graph).invoke({ task: "grow" }, config))).toBe(
      "billing/ask_refunds",
    );
    expect(await contextOf((config) => memory.track(asking).invoke("", config))).toBe("ask_refunds");
    expect(await contextOf((config) => memory.track(retriever.pipe(String)).invoke("", config))).toBe("default");
    const named = { metadata: { qavr_context: "refunds" } };
    expect(await contextOf((config) => memory.track(asking).invoke("", { ...config, ...named }))).toBe("refunds");
  });
});
