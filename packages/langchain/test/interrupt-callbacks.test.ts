import { describe, expect, it } from "vitest";
import type { QavrOptions } from "../src/index.js";
import { type Bench, bench, credit, NEXT_RUN_ID, QUESTION, RUN_ID } from "./support/bench.js";
import { childOf } from "./support/child-of.js";

const NODE_ID = "22222222-2222-4222-8222-222222222223";
/** The thread as a run's metadata names it. */
const ON_THREAD = { thread_id: "T1" };

/** Errors that stop a graph without announced interrupts and resumes. */
const seenInterrupt = (name = "GraphInterrupt"): Error =>
  Object.assign(new Error("interrupted"), { name, is_bubble_up: true });

/** A run on a thread that was shown two memories, for a test to go on with. */
async function shownOn(metadata: Record<string, unknown>, options: QavrOptions = {}): Promise<Bench> {
  const setup = await bench(options);
  setup.memory.handler.handleChainStart({}, {}, RUN_ID, undefined, [], metadata);
  await setup.retriever.invoke(QUESTION, { callbacks: childOf(setup.memory, RUN_ID) });
  return setup;
}

/** LangGraph's callbacks in an order that a graph of one version does not give: as an older one, or parts of a run, do. */
describe("an interrupt, as the handler hears of it,", () => {
  it.each(["GraphInterrupt", "NodeInterrupt"])(
    "is continued by whatever comes next on its thread, where the graph announces neither interrupts nor resumes: %s",
    async (name) => {
      const { memory } = await shownOn(ON_THREAD);
      const { handler } = memory;
      handler.handleChainStart({}, {}, NODE_ID, RUN_ID);
      await handler.handleChainError(seenInterrupt(name), NODE_ID);
      await handler.handleChainEnd({}, RUN_ID);
      expect(await memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
      handler.handleChainStart({}, {}, NEXT_RUN_ID, undefined, [], ON_THREAD);
      await handler.handleChainEnd({}, NEXT_RUN_ID);
      expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
    },
  );

  it.each([
    [7, "suspended"],
    ["", "ended"],
  ])("waits where its thread has an id: after one on thread %j it is %s", async (thread_id, state) => {
    const { memory } = await shownOn({ thread_id });
    memory.handler.handleChainStart({}, {}, NODE_ID, RUN_ID);
    await memory.handler.handleChainError(seenInterrupt(), NODE_ID);
    await memory.handler.handleChainEnd({}, RUN_ID);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state });
  });

  it("is not continued by a run on its thread that had retrieved before it", async () => {
    const { memory, retriever } = await shownOn(ON_THREAD);
    const { handler } = memory;
    handler.handleChainStart({}, {}, NEXT_RUN_ID, undefined, [], ON_THREAD);
    await retriever.invoke(QUESTION, { callbacks: childOf(memory, NEXT_RUN_ID) });
    handler.handleChainStart({}, {}, NODE_ID, NEXT_RUN_ID);
    await handler.handleChainError(seenInterrupt(), NODE_ID);
    await handler.handleChainEnd({}, NEXT_RUN_ID);
    await handler.handleChainEnd({}, RUN_ID);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended" });
    expect(await memory.explain(NEXT_RUN_ID)).toMatchObject({ state: "suspended" });
  });

  it("that was announced waits for a resume, also when its error is seen after that", async () => {
    const { memory } = await shownOn(ON_THREAD);
    const { handler } = memory;
    handler.handleChainStart({}, {}, NODE_ID, RUN_ID);
    await handler.handleInterrupt({ runId: NODE_ID });
    await handler.handleChainError(seenInterrupt(), NODE_ID);
    await handler.handleChainEnd({}, RUN_ID);
    handler.handleChainStart({}, {}, NEXT_RUN_ID, undefined, [], ON_THREAD);
    await handler.handleChainEnd({}, NEXT_RUN_ID);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
  });

  it("is not resumed by a part that resumes a thread of its own", async () => {
    const { memory } = await shownOn(ON_THREAD);
    const { handler } = memory;
    await handler.handleInterrupt({ runId: RUN_ID });
    await handler.handleChainEnd({}, RUN_ID);
    handler.handleChainStart({}, {}, NEXT_RUN_ID, undefined, [], ON_THREAD);
    handler.handleChainStart({}, {}, NODE_ID, NEXT_RUN_ID, [], { thread_id: "its own" });
    handler.handleResume({ runId: NODE_ID });
    await handler.handleChainEnd({}, NODE_ID);
    await handler.handleChainEnd({}, NEXT_RUN_ID);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    expect(await credit(memory)).toEqual({});
  });

  it("has one outcome with the run that resumes it and retrieves again, also where the judge cannot tell", async () => {
    const { memory, retriever, codes } = await shownOn(ON_THREAD, { evaluate: () => null });
    const { handler } = memory;
    await handler.handleInterrupt({ runId: RUN_ID });
    await handler.handleChainEnd({}, RUN_ID);
    handler.handleChainStart({}, {}, NEXT_RUN_ID, undefined, [], ON_THREAD);
    handler.handleResume({ runId: NEXT_RUN_ID });
    await retriever.invoke(QUESTION, { callbacks: childOf(memory, NEXT_RUN_ID) });
    await handler.handleChainEnd({}, NEXT_RUN_ID);
    const episode = await memory.explain(RUN_ID);
    expect(episode).toMatchObject({ state: "ended" });
    expect(episode?.exposures).toHaveLength(2);
    expect(codes()).toEqual([]);
  });

  it("earns nothing, when it is resumed and succeeds, for what a part had retrieved that failed before it", async () => {
    const { memory, showing } = await bench();
    const { handler } = memory;
    handler.handleChainStart({}, {}, RUN_ID, undefined, [], ON_THREAD);
    handler.handleChainStart({}, {}, NODE_ID, RUN_ID);
    await showing("coffee").invoke(QUESTION, { callbacks: childOf(memory, NODE_ID) });
    await handler.handleChainError(new Error("boom"), NODE_ID);
    await showing("restart").invoke(QUESTION, { callbacks: childOf(memory, RUN_ID) });
    await handler.handleInterrupt({ runId: RUN_ID });
    await handler.handleChainEnd({}, RUN_ID);
    handler.handleChainStart({}, {}, NEXT_RUN_ID, undefined, [], ON_THREAD);
    handler.handleResume({ runId: NEXT_RUN_ID });
    await handler.handleChainEnd({}, NEXT_RUN_ID);
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("is a part's own matter where that runs on another thread than the run as a whole", async () => {
    const { memory } = await shownOn(ON_THREAD);
    memory.handler.handleChainStart({}, {}, NODE_ID, RUN_ID, [], { thread_id: "its own" });
    await memory.handler.handleChainError(seenInterrupt(), NODE_ID);
    await memory.handler.handleChainEnd({}, RUN_ID);
    expect(await memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { tier: "completed" } });
  });
});
