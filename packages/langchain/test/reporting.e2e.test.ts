import { Document } from "@langchain/core/documents";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { QavrError } from "@qavr/core";
import { replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { type Bench, bench, credit, nothingOpen, QUESTION, RUN_ID } from "./support/bench.js";
import { ids } from "./support/corpus.js";
import { failing } from "./support/graph.js";

/** A tracked run that shows two memories and then ends. */
async function run({ memory, retriever }: Bench, config: RunnableConfig = {}): Promise<Document[]> {
  const chain = memory.track(
    RunnableLambda.from((question: string, inner: RunnableConfig) => retriever.invoke(question, inner)),
  );
  return (await chain.invoke(QUESTION, { runId: RUN_ID, ...config })) as Document[];
}

const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "resolved",
    (error: unknown) => (QavrError.isInstance(error) ? error.code : error),
  );

describe("report", () => {
  it("overrules what the end of the run said, once, whatever comes after", async () => {
    const setup = await bench();
    await run(setup);
    const { memory } = setup;
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    await memory.report(RUN_ID, { success: false, note: "wrong queue" });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "user", note: "wrong queue" });
    await memory.report(RUN_ID, { success: true, tier: "verified", source: "nightly check" });
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
    await memory.report(RUN_ID, { success: false });
    expect((await memory.explain(RUN_ID))?.outcome).toEqual({ reward: 1, tier: "verified", source: "nightly check" });
    expect((await replay(memory.engine)).identical).toBe(true);
  });

  it("knows the run of a tracked chain with fallbacks by its caller's id, as a whole", async () => {
    const { memory, showing } = await bench();
    const branch = (id: string, answer: () => string) => showing(id).pipe(answer);
    const chain = memory.track(branch("coffee", failing)).withFallbacks([branch("restart", () => "answer")]);
    await chain.invoke(QUESTION, { runId: RUN_ID });
    expect(await credit(memory)).toEqual({ restart: 1 });
    await memory.report(RUN_ID, { success: false });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    expect((await memory.status()).episodes.recorded).toBe(1);
  });

  it("keeps two thumbs on two memories, the last one on each, and takes one back", async () => {
    const setup = await bench();
    await run(setup);
    const { memory } = setup;
    await memory.report(RUN_ID, { helpful: ["m1"] });
    await memory.report(RUN_ID, { harmful: ["m2"] });
    expect(await credit(memory)).toEqual({ restart: 1, scale: -1 });
    await memory.report(RUN_ID, { harmful: ["m1"] });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
    // Without a vote the end of the run counts, which was a success.
    await memory.report(RUN_ID, { neutral: ["m2"] });
    expect(await credit(memory)).toEqual({ restart: -1, scale: 1 });
    const [restart] = (await memory.memories({ ids: ["restart"] })).memories;
    expect(restart).toMatchObject({ id: "restart", shown: 1, successes: 1, helpful: 0, harmful: 1 });
    const { events } = await memory.history({ after: 2, limit: 2 });
    expect(events).toMatchObject([{ helpful: ["restart"] }, { harmful: ["scale"] }]);
    await expect(memory.memories("acme" as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("takes a document that the run returned in place of the run's id", async () => {
    const setup = await bench();
    const [first] = await run(setup);
    await setup.memory.report(first!, { success: false });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "user" });
  });

  it("names memories by the application's label, in one line of 80 characters", async () => {
    const setup = await bench({
      label: ({ id, pageContent }) => (id === "restart" ? `  Restart\nit, ${pageContent.repeat(9)}` : undefined),
    });
    await run(setup);
    const items = (await setup.memory.explain(RUN_ID))?.exposures[0]?.items;
    expect(items?.map(({ id, label }) => [id, label?.slice(0, 11), label?.length])).toEqual([
      ["restart", "Restart it,", 80],
      ["scale", undefined, undefined],
    ]);
    await setup.memory.report(RUN_ID, { success: true });
    const { best } = (await setup.memory.status()).collections[0]!;
    expect(best.find(({ id }) => id === "restart")?.label).toBe(items?.[0]?.label);
  });

  it("ranks as the host does, and says so, when a label is a promise", async () => {
    const setup = await bench({ label: (async () => "A note") as never });
    expect(ids(await run(setup))).toEqual(["restart", "scale"]);
    expect(setup.codes()).toContain("RANKING_FAILED");
  });

  it("reaches a run that is still going on", async () => {
    const { memory, retriever } = await bench();
    const chain = memory.track(
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        await retriever.invoke(question, config);
        await memory.report(RUN_ID, { success: false });
      }),
    );
    await chain.invoke(QUESTION, { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
  });

  it("counts a repeated report with the same key once, and refuses another one under it", async () => {
    const setup = await bench();
    await run(setup);
    const { memory } = setup;
    const outcome = { success: false, idempotencyKey: "ticket-7" };
    expect((await memory.report(RUN_ID, outcome)).status).toBe("committed");
    expect((await memory.report(RUN_ID, outcome)).status).toBe("duplicate");
    expect(await code(memory.report(RUN_ID, { ...outcome, success: true }))).toBe("IDEMPOTENCY_CONFLICT");
  });

  it("answers that there is nothing to learn from a run that was shown no memory, unless it names some", async () => {
    const { memory } = await bench();
    let during: unknown;
    const small = RunnableLambda.from(async () => {
      during = await memory.report(RUN_ID, { success: true }).catch((error: QavrError) => error.code);
      return "hello";
    });
    await memory.track(small).invoke("hi", { runId: RUN_ID });
    // It might still have retrieved.
    expect(during).toBe("UNKNOWN_EPISODE");
    expect(await memory.report(RUN_ID, { success: true })).toEqual({ status: "ignored", episode: RUN_ID, seq: 0 });
    for (const named of [{ helpful: ["m1"] }, { harmful: ["m1"] }, { used: ["m1"] }]) {
      expect(await code(memory.report(RUN_ID, { success: true, ...named }))).toBe("UNKNOWN_EPISODE");
    }
  });

  it("refuses what is wrong with the code that says so", async () => {
    const setup = await bench();
    await run(setup);
    const { memory } = setup;
    expect(await code(memory.report("no-such-run", { success: true }))).toBe("UNKNOWN_EPISODE");
    expect(await code(memory.report(new Document({ pageContent: "x" }), { success: true }))).toBe("UNKNOWN_EPISODE");
    expect(await code(memory.report(RUN_ID, { reward: 2 }))).toBe("INVALID_REWARD");
    expect(await code(memory.report(RUN_ID, { helpful: ["m9"] }))).toBe("NOT_SHOWN");
    expect(await code(memory.report(RUN_ID, { success: true, reward: 1 } as never))).toBe("INVALID_ARGUMENT");
    expect(await code(memory.report(RUN_ID, { success: "yes" as never }))).toBe("INVALID_ARGUMENT");
    expect(await code(memory.report(RUN_ID, { helpful: "m1" as never }))).toBe("INVALID_ARGUMENT");
    expect(await code(memory.report(RUN_ID, { helpful: ["m1"], harmful: ["restart"] }))).toBe("INVALID_ARGUMENT");
    expect(await code(memory.report(RUN_ID, null as never))).toBe("INVALID_ARGUMENT");
    expect(await code(memory.report(RUN_ID, [] as never))).toBe("INVALID_ARGUMENT");
    expect(await code(memory.report(RUN_ID, { success: true, tier: "god" as never }))).toBe("INVALID_ARGUMENT");
  });
});

describe("recall", () => {
  it("returns documents and an episode that takes the outcome", async () => {
    const { memory, vectors, codes } = await bench();
    const { documents, episode } = await memory.recall(vectors, QUESTION, { k: 2 });
    expect(memory.format(documents)).toBe(
      "[m1] restart the payment service when the payment queue is stuck\n[m2] scale the payment workers when the payment queue grows",
    );
    const receipt = await episode.report({ success: true, helpful: ["m1"], harmful: ["m2"] });
    expect(receipt).toMatchObject({ status: "committed", episode: episode.id });
    expect(await credit(memory)).toEqual({ restart: 1, scale: -1 });
    expect(await nothingOpen(memory)).toBe(true);

    await episode.report({ success: false, tier: "verified" });
    expect((await memory.explain(episode.id))?.outcome).toMatchObject({ reward: 0, tier: "verified" });
    expect(codes()).toEqual([]);
  });

  it("can be reported on by the episode's id, also after it was ended without a verdict", async () => {
    const { memory, vectors } = await bench();
    const { episode } = await memory.recall(vectors, QUESTION);
    await episode.end();
    await episode.end();
    expect(await memory.explain(episode.id)).toMatchObject({ state: "ended" });
    await memory.report(episode.id, { success: true });
    expect(Object.keys(await credit(memory))).toHaveLength(4);
  });

  it("may try again after a refused report", async () => {
    const { memory, vectors } = await bench();
    const { episode } = await memory.recall(vectors, QUESTION, { k: 1 });
    expect(await code(episode.report({ helpful: ["m7"] }))).toBe("NOT_SHOWN");
    expect(await nothingOpen(memory)).toBe(false);
    expect(await code(episode.report({ helpful: ["m1"] }))).toBe("resolved");
    expect(await nothingOpen(memory)).toBe(true);
    expect(await credit(memory)).toEqual({ restart: 1 });
  });

  it("rejects what is no outcome and never throws, also once it is closed", async () => {
    const { memory, vectors } = await bench();
    const { episode } = await memory.recall(vectors, QUESTION, { k: 1 });
    for (const nonsense of [{ succes: true }, true]) {
      expect(await code(episode.report(nonsense as never))).toBe("INVALID_ARGUMENT");
    }
    await episode.report({ success: true });
    expect(await code(episode.report({ succes: true } as never))).toBe("INVALID_ARGUMENT");
  });

  it("does not end the episode of the run around it, which the next recall goes on with", async () => {
    const { memory, vectors } = await bench();
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      const first = await memory.recall(vectors, question, { k: 1, config });
      await first.episode.end();
      const second = await memory.recall(vectors, "office coffee", { k: 1, config });
      return [first.episode.id, second.episode.id];
    });
    const [first, second] = await memory.track(chain).invoke(QUESTION, { runId: RUN_ID });
    expect(second).toBe(first);
    expect((await memory.explain(RUN_ID))?.exposures).toHaveLength(2);
  });

  it("finds the run around it by itself inside a graph's node", async () => {
    const { memory, vectors } = await bench();
    const State = Annotation.Root({ question: Annotation<string> });
    const graph = new StateGraph(State)
      .addNode("recall", async ({ question }) => {
        await memory.recall(vectors, question, { k: 2 });
        await memory.vectorStore(vectors).similaritySearch(question, 1);
        return {};
      })
      .addEdge(START, "recall")
      .compile();
    await memory.track(graph).invoke({ question: QUESTION }, { runId: RUN_ID });
    expect((await memory.explain(RUN_ID))?.exposures).toHaveLength(2);
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("records nothing where learning is off or nothing was found", async () => {
    const off = await bench({ enabled: false });
    const silent = await off.memory.recall(off.vectors, QUESTION, { k: 1 });
    expect(ids(silent.documents)).toEqual(["restart"]);
    expect(silent.episode.id).toBe("");
    expect(await silent.episode.report({ success: true })).toBeUndefined();
    const { memory, vectors } = await bench();
    const nothing = await memory.recall(vectors, QUESTION, { filter: () => false });
    expect(nothing).toMatchObject({ documents: [], episode: { id: "" } });
  });
});
