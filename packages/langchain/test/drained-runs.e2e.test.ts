import { MemorySaver, RunControl, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { bench, credit, nothingOpen, QUESTION, RUN_ID } from "./support/bench.js";
import { failing, State, THREAD } from "./support/graph.js";

/** A graph that is drained once it has retrieved; asked about coffee it fails after that. */
async function draining() {
  const tools = await bench();
  const control = new RunControl();
  const compiled = new StateGraph(State)
    .addNode("retrieve", async ({ question }) => {
      await tools.retriever.invoke(question);
      control.requestDrain("shutdown");
      return {};
    })
    .addNode("respond", ({ question }) => (question === "office coffee" ? failing() : { answer: question }))
    .addEdge(START, "retrieve")
    .addEdge("retrieve", "respond")
    .compile({ checkpointer: new MemorySaver() });
  const run = tools.memory.track(compiled);
  await expect(run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID, control })).rejects.toThrow("drained");
  expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
  expect(await nothingOpen(tools.memory)).toBe(true);
  return { ...tools, run };
}

describe("a run that was drained", () => {
  it("waits for the run that goes on from there, and is settled by it", async () => {
    const { memory, run } = await draining();
    expect(await run.invoke(null, THREAD)).toMatchObject({ answer: QUESTION });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    expect((await memory.status()).episodes).toMatchObject({ suspended: 0, recorded: 1 });
  });

  it("is left alone by a new input on its thread, which answers for its own memories only", async () => {
    const { memory, run } = await draining();
    await expect(run.invoke({ question: "office coffee" }, THREAD)).rejects.toThrow("boom");
    expect(await credit(memory)).toEqual({ coffee: -1, restart: -1 });
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
  });
});
