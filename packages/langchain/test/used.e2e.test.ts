import type { Document } from "@langchain/core/documents";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnablePassthrough } from "@langchain/core/runnables";
import { fakeModel } from "@langchain/core/testing";
import { qValue } from "@qavr/core";
import { exportState } from "@qavr/core/maintenance";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { qavrMiddleware } from "../src/agents/index.js";
import { recording } from "./support/agent.js";
import { type Bench, bench, QUESTION, RUN_ID } from "./support/bench.js";
import { corpus, memoryVectorStore } from "./support/corpus.js";
import { TextModel } from "./support/scripted-models.js";

const asked = { messages: [new HumanMessage(QUESTION)] };

/** The used memories of the run. */
async function usedIn({ memory }: Bench) {
  await memory.flush();
  return (await memory.explain(RUN_ID))?.used;
}

/** A tracked chain that shows two memories, restart and scale, and answers this. */
const rag = ({ memory, retriever }: Bench, answer: string) =>
  memory.track(
    RunnableLambda.from((question: string, config) => retriever.invoke(question, config))
      .pipe(RunnableLambda.from((documents: Document[]) => `Answer from:\n${memory.format(documents)}`))
      .pipe(new TextModel([answer]))
      .pipe(RunnableLambda.from((message: AIMessage) => message.text)),
  );

describe("the used memories of a chain's run", () => {
  it("Q8: are those that the answer cites, and the seed's formula gives the others its reward for unused ones", async () => {
    const setup = await bench({ learner: qValue(), evaluate: () => true });
    await rag(setup, "Restart the service [m1].").invoke(QUESTION, { runId: RUN_ID });
    expect(await usedIn(setup)).toEqual([{ id: "restart", by: "citation" }]);
    const { memories } = await exportState(setup.memory.engine);
    const q = Object.fromEntries(memories.map(({ id, state }) => [id, (state as { readonly q: number }).q]));
    expect(q.restart).toBeCloseTo(0.5 + 0.1 * (1 - 0.5), 6);
    expect(q.scale).toBeCloseTo(0.5 + 0.1 * (0.1 - 0.5), 6);
  });

  it("are unknown where the answer shows none", async () => {
    const setup = await bench();
    await rag(setup, "Turn it off and on again.").invoke(QUESTION, { runId: RUN_ID });
    expect(await usedIn(setup)).toBeUndefined();
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });

  it("are found in the answer of an output that carries its context along", async () => {
    const setup = await bench();
    const { memory, vectors } = setup;
    const context = memory.retriever(vectors, { k: 2 }).pipe((documents) => memory.format(documents));
    const chain = RunnablePassthrough.assign({ answer: () => "Wait for ten minutes [m2]." });
    await memory
      .track(
        RunnableLambda.from(async (question: string) => ({ question, context: await context.invoke(question) })).pipe(
          chain,
        ),
      )
      .invoke(QUESTION, { runId: RUN_ID });
    expect(await usedIn(setup)).toEqual([{ id: "scale", by: "citation" }]);
  });

  it("are those that evaluate names, where it names some", async () => {
    const setup = await bench({ evaluate: () => ({ success: true, used: ["scale"] }) });
    await rag(setup, "Restart the service [m1].").invoke(QUESTION, { runId: RUN_ID });
    expect(await usedIn(setup)).toEqual([{ id: "scale", by: "application" }]);
  });
});

describe("the used memories of an agent's run", () => {
  const restart = () =>
    tool(({ host }) => `${host} was restarted`, {
      name: "restart",
      description: "d",
      schema: z.object({ host: z.string() }),
    });
  const HOST = "pay-3.internal.example";

  /** The corpus, in which one memory names a host. */
  const hosts = () =>
    memoryVectorStore(
      corpus().map((document) =>
        document.id === "restart"
          ? Object.assign(document, { pageContent: `${document.pageContent}: on ${HOST}` })
          : document,
      ),
    );

  it("are those of which a tool call holds a value that the request does not", async () => {
    const setup = await bench();
    const run = async (request: string) => {
      const model = recording([{ name: "restart", args: { host: HOST }, id: "c1" }]);
      const middleware = [qavrMiddleware({ memory: setup.memory, base: await hosts(), k: 2 })];
      const agent = setup.memory.track(createAgent({ model, tools: [restart()], middleware }));
      await agent.invoke({ messages: [new HumanMessage(request)] }, { runId: RUN_ID });
      return usedIn(setup);
    };
    expect(await run(`payment queue stuck on ${HOST}`)).toBeUndefined();
    expect(await run(QUESTION)).toEqual([{ id: "restart", by: "argument" }]);
  });

  it("are found in its last answer, not in the answers of the memory's own tools", async () => {
    const setup = await bench();
    const tools = setup.memory.tools(await hosts(), { k: 2 });
    const tool_calls = [{ name: "recall_memories", args: { query: QUESTION }, id: "c1" }];
    const run = async (answer: string) => {
      const model = fakeModel()
        .respond(new AIMessage({ content: "", tool_calls }))
        .respond(new AIMessage(answer));
      await setup.memory.track(createAgent({ model, tools })).invoke(asked, { runId: RUN_ID });
      return usedIn(setup);
    };
    expect(await run("I do not know.")).toBeUndefined();
    const quote = "Please RESTART the payment service when the payment queue is *stuck*, on pay-3 that is.";
    expect(await run(quote)).toEqual([{ id: "restart", by: "quote" }]);
  });
});
