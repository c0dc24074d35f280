import { Annotation, Command, interrupt, isGraphInterrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Bench, bench, credit, nothingOpen, QUESTION, RUN_ID } from "./support/bench.js";
import { failing, graph, THREAD } from "./support/graph.js";

/** `responseSchema` of `interrupt` makes LangGraph refuse what does not fit. */
describe("an answer that LangGraph refuses", () => {
  it.each([
    ["before the question", () => undefined],
    ["again with the answer", ({ retriever }: Bench) => retriever.invoke(QUESTION)],
    [
      "again with the answer, in a node that wraps the error",
      ({ retriever }: Bench) => retriever.invoke(QUESTION),
      (cause: unknown) => new Error("not an answer", { cause }),
    ],
  ])("leaves its run waiting for one that fits: with what was retrieved %s", async (_when, retrieve, wrap?) => {
    const tools = await bench({ evaluate: ({ error }) => error === undefined });
    const ask = async () => {
      await retrieve(tools);
      try {
        return { answer: String(interrupt("how many?", { responseSchema: z.number() })) };
      } catch (error) {
        throw wrap && !isGraphInterrupt(error) ? wrap(error) : error;
      }
    };
    const run = tools.memory.track(graph(tools, ask).compile({ checkpointer: new MemorySaver() }));
    await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    await expect(run.invoke(new Command({ resume: "many" }), THREAD)).rejects.toThrow();
    expect(await credit(tools.memory)).toEqual({});
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "suspended" });
    expect(await nothingOpen(tools.memory)).toBe(true);

    expect(await run.invoke(new Command({ resume: 3 }), THREAD)).toMatchObject({ answer: "3" });
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    expect((await tools.memory.status()).episodes).toMatchObject({ suspended: 0, recorded: 1 });
  });

  it.each([
    ["leaves its run waiting where the answers to two questions do not fit", "z", "suspended", {}],
    [
      "has failed where one answer does not fit and what follows the other throws",
      "boom",
      "ended",
      { restart: -1, scale: -1 },
    ],
  ])("%s", async (_what, second, state, credited) => {
    const tools = await bench();
    const Answers = Annotation.Root({
      question: Annotation<string>,
      answers: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
    });
    const strict = () => ({ answers: [String(interrupt("how many?", { responseSchema: z.number() }))] });
    const lax = () => (second === "boom" && interrupt("and here?") === "boom" ? failing() : strict());
    const compiled = new StateGraph(Answers)
      .addNode("retrieve", async ({ question }) => {
        await tools.retriever.invoke(question);
        return {};
      })
      .addNode("here", strict)
      .addNode("there", lax)
      .addEdge(START, "retrieve")
      .addEdge("retrieve", "here")
      .addEdge("retrieve", "there")
      .compile({ checkpointer: new MemorySaver() });
    const run = tools.memory.track(compiled);
    const asked: unknown = await run.invoke({ question: QUESTION }, { ...THREAD, runId: RUN_ID });
    const ids = (asked as { __interrupt__: { id: string }[] }).__interrupt__.map(({ id }) => id);
    const answering = (...answers: unknown[]) =>
      new Command<Record<string, unknown>, typeof Answers.Update, "here">({
        resume: Object.fromEntries(ids.map((id, i) => [id, answers[i]])),
      });
    await expect(run.invoke(answering("many", second), THREAD)).rejects.toThrow("Multiple errors");
    expect(await tools.memory.explain(RUN_ID)).toMatchObject({ state });
    expect(await credit(tools.memory)).toEqual(credited);
    if (state === "ended") return;

    expect(await run.invoke(answering(3, 4), THREAD)).toMatchObject({ answers: ["3", "4"] });
    expect(await credit(tools.memory)).toEqual({ restart: 1, scale: 1 });
    expect((await tools.memory.status()).episodes).toMatchObject({ suspended: 0, recorded: 1 });
  });
});
