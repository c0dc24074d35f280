import { RunnableLambda } from "@langchain/core/runnables";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { describe, expect } from "vitest";
import { bench, credit, NEXT_RUN_ID, QUESTION, RUN_ID } from "./support/bench.js";
import { itWithAnnouncements } from "./support/framework-features.js";
import { graph, THREAD } from "./support/graph.js";

/** A thread whose run was shown two memories and waits for an answer. The graph asks once. */
async function waiting() {
  const { memory, retriever } = await bench();
  let isAsked = false;
  const ask = () => {
    if (isAsked) return {};
    return { answer: interrupt<string, string>("go on?") };
  };
  const compiled = graph({ retriever }, ask).compile({ checkpointer: new MemorySaver() });
  const run = memory.track(compiled);
  await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
  isAsked = true;
  const before = async (node: "retrieve" | "respond") => {
    for await (const { next, config } of compiled.getStateHistory(THREAD)) if (next[0] === node) return config;
    return undefined;
  };
  return { memory, compiled, run, before };
}

describe("an interrupted run, when its thread is continued from a checkpoint that the caller names,", () => {
  itWithAnnouncements("is left alone by a run that starts over from an earlier one", async () => {
    const { memory, run, before } = await waiting();
    await run.invoke(null, { ...(await before("retrieve")), runId: NEXT_RUN_ID });
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    expect(await memory.explain(NEXT_RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
    expect((await memory.explain(NEXT_RUN_ID))?.exposures).toHaveLength(1);
  });

  itWithAnnouncements("is left alone also where the graph is part of a chain", async () => {
    const { memory, compiled, before } = await waiting();
    const whole = RunnableLambda.from((input: unknown) => input).pipe(
      compiled as unknown as RunnableLambda<unknown, unknown>,
    );
    await memory.track(whole).invoke(null, { ...(await before("retrieve")), runId: NEXT_RUN_ID });
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
  });

  itWithAnnouncements("is resumed at its own", async () => {
    const { memory, run, before } = await waiting();
    await run.invoke(new Command({ resume: "yes" }), { ...(await before("respond")), runId: NEXT_RUN_ID });
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  itWithAnnouncements("is resumed at the one that an edit of its state has made", async () => {
    const { memory, compiled, run } = await waiting();
    const edited = await compiled.updateState(THREAD, { question: "payment queue" });
    await run.invoke(null, { ...edited, runId: NEXT_RUN_ID });
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
  });
});
