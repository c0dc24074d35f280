import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TRACE_KEY } from "../../src/ranking/trace-ranking.js";
import { type Bench, bench, QUESTION } from "../support/bench.js";
import { ids } from "../support/corpus.js";
import { type LangSmithServer, langsmithServer } from "../support/langsmith-server.js";

let server: LangSmithServer;
beforeEach(async () => {
  server = await langsmithServer();
});
afterEach(() => server.close());

const tracer = (): LangChainTracer => new LangChainTracer({ client: server.client, projectName: "test" });

/** Retriever runs as LangSmith got them, with what stands in their metadata. */
async function retrieverRuns(): Promise<{ name: unknown; ranking: unknown; metadata: Record<string, unknown> }[]> {
  await awaitAllCallbacks();
  return [...server.runs.values()]
    .filter(({ run_type }) => run_type === "retriever")
    .map(({ name, extra }) => {
      const metadata = (extra as { metadata?: Record<string, unknown> }).metadata ?? {};
      return { name, metadata, ranking: metadata[TRACE_KEY] };
    });
}

const parts: [string, (setup: Bench) => { invoke(query: string, config: RunnableConfig): Promise<unknown> }][] = [
  ["a wrapped retriever", ({ retriever }) => retriever],
  ["the retriever of a wrapped store", ({ memory, vectors }) => memory.vectorStore(vectors).asRetriever(2)],
  [
    "a compressor",
    ({ memory, vectors }) =>
      new ContextualCompressionRetriever({
        baseRetriever: vectors.asRetriever(6),
        baseCompressor: memory.compressor({ topN: 2 }),
      }),
  ],
];

describe("a traced run of", () => {
  it.each(parts)("%s says why each document stands where it does", async (_part, make) => {
    const setup = await bench();
    const retriever = make(setup);
    const chain = setup.memory.track(
      RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
    );
    const documents = (await chain.invoke(QUESTION, {
      callbacks: [tracer()],
      metadata: { user_id: "u1" },
    })) as { id?: string; metadata: object }[];
    expect(documents[0]?.metadata).toEqual({ kind: "long" });
    const ranked = (await retrieverRuns()).filter(({ ranking }) => ranking !== undefined);
    expect(ranked).toHaveLength(1);
    expect(ranked[0]?.metadata).toMatchObject({ user_id: "u1" });
    expect(ranked[0]?.ranking).toMatchObject({
      namespace: "default",
      episode: expect.stringMatching(/./),
      learner: "oar@2",
      order: "host",
      items: [
        { rank: 1, hostRank: 1, handle: "m1", id: documents[0]?.id, learned: 0 },
        { rank: 2, hostRank: 2, handle: "m2", id: documents[1]?.id, learned: 0 },
      ],
    });
  });

  it("a retriever shows what learning moved", async () => {
    const { memory, vectors } = await bench();
    const { episode } = await memory.recall(vectors, QUESTION, { k: 2 });
    await episode.report({ success: true, harmful: ["m1"], helpful: ["m2"] });
    const found = await memory.retriever(vectors, { k: 1 }).invoke(QUESTION, { callbacks: [tracer()] });
    const [run] = await retrieverRuns();
    expect(run?.ranking).toMatchObject({ order: "learned", items: [{ rank: 1, hostRank: 2, id: ids(found)[0] }] });
  });

  it.each([
    [{ holdout: 1 }, { order: "host", heldOut: true }],
    [{ memoryOff: 1 }, { order: "host", memoryOff: true, items: [] }],
  ])("a retriever says that chance drew the run: %o", async (options, said) => {
    const { retriever } = await bench(options);
    await retriever.invoke(QUESTION, { callbacks: [tracer()] });
    const [run] = await retrieverRuns();
    expect(run?.ranking).toMatchObject(said);
  });

  it("a chain that is no retriever stays as it is, as does a retriever while learning is off", async () => {
    const { memory, vectors } = await bench();
    const recalling = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await memory.recall(vectors, question, { config });
    });
    await recalling.invoke(QUESTION, { callbacks: [tracer()] });
    const off = await bench({ enabled: false });
    await off.retriever.invoke(QUESTION, { callbacks: [tracer()] });
    await awaitAllCallbacks();
    expect(server.runs.size).toBe(2);
    expect(JSON.stringify([...server.runs.values()])).not.toContain(TRACE_KEY);
  });
});
