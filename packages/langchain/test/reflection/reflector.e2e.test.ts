import { setTimeout as sleep } from "node:timers/promises";
import { Document } from "@langchain/core/documents";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MemorySaver } from "@langchain/langgraph";
import { replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { type ReflectionInput, Reflector, type ReflectorOptions } from "../../src/reflection/index.js";
import { type Bench, bench, credit, QUESTION, RUN_ID } from "../support/bench.js";
import { ids } from "../support/corpus.js";
import { failing, graph } from "../support/graph.js";
import { HybridStore } from "../support/hybrid-store.js";
import { TextModel } from "../support/scripted-models.js";
import { usearchStore } from "../support/usearch-store.js";

const CLAIM = "On node blue-7 the payment worker ignores SIGTERM - kill it with SIGKILL or the queue is written back";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

const answer = (fields: object = {}): string =>
  JSON.stringify({ newClaims: [], helpfulMemories: [], harmfulMemories: [], ...fields });
const scripted = (...answers: (string | Error)[]): TextModel => new TextModel(answers);

/** A tracked run that is shown two memories; `end` says how it goes on. */
function tracked({ memory, retriever }: Bench, end: () => unknown = () => "done") {
  return memory.track(
    RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      return end();
    }),
  );
}

/** The input of a reflector for such a run, after its end. */
async function endedRun(setup: Bench): Promise<ReflectionInput> {
  const documents: Document[] = [];
  const chain = setup.memory.track(
    RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      documents.push(...((await setup.retriever.invoke(question, config)) as Document[]));
    }),
  );
  await chain.invoke(QUESTION, { runId: RUN_ID });
  return { runId: RUN_ID, input: QUESTION, output: "done", memories: documents };
}

const seqOf = async ({ memory }: Bench): Promise<number> => (await memory.status()).seq;

describe("a reflector as a runnable", () => {
  it("turns votes into outcomes of the agent's own word, for memories that were shown, and leaves the irrelevant alone", async () => {
    const setup = await bench();
    const { memory, vectors } = setup;
    const run = await endedRun({ ...setup, retriever: memory.retriever(vectors, { k: 3 }) });
    const model = scripted(answer({ helpfulMemories: ["m1", "m7"], harmfulMemories: ["m3", "holiday"] }));
    const report = await new Reflector({ memory, model }).invoke(run);
    expect(report).toMatchObject({ votes: 2, saved: [], ignored: ["m7", "holiday"] });
    expect((await memory.status()).outcomes).toMatchObject({ completed: 1, "self-reported": 1 });
    const [exposure] = (await memory.explain(RUN_ID))?.exposures ?? [];
    const [first, second, third] = ids(exposure?.items ?? []) as [string, string, string];
    const utilities = Object.fromEntries(
      (await memory.status()).collections
        .flatMap(({ best, worst }) => [...best, ...worst])
        .map(({ id, utility }) => [id, utility]),
    );
    expect([first, second, third].map((id) => Math.sign(utilities[id] ?? 0))).toEqual([1, 0, -1]);
    expect(await credit(memory)).toMatchObject({ [first]: 1, [third]: -1 });
  });

  it("R7: makes each claim a memory of its own with the query that led to it", async () => {
    const setup = await bench();
    const run = await endedRun(setup);
    const other = "The queue of the payment service holds 500 entries - further ones are dropped without a log line";
    const reflector = new Reflector({
      memory: setup.memory,
      model: scripted(answer({ newClaims: [CLAIM, other, "The task was successful"] })),
      saveTo: setup.vectors,
    });
    const { saved, findings } = await reflector.invoke(run);
    expect(saved.map(({ pageContent }) => pageContent)).toEqual([CLAIM, other]);
    expect(findings.map(({ rule }) => rule)).toContain("outcome-only");
    const found = await setup.vectors.similaritySearch(CLAIM, 1);
    expect(found[0]).toMatchObject({
      id: expect.stringMatching(UUID),
      pageContent: CLAIM,
      metadata: { query: QUESTION, source: "reflection", run_id: RUN_ID, qavr_namespace: "default" },
    });
    expect(new Set(ids(saved)).size).toBe(2);
  });

  it("gives the same claim the same id again, and another one in another namespace", async () => {
    const { memory, vectors } = await bench();
    const reflector = new Reflector({ memory, model: scripted(answer({ newClaims: [CLAIM] })), saveTo: vectors });
    const idIn = async (namespace: string) => (await reflector.invoke({ input: "x", namespace })).saved[0]?.id;
    const first = await idIn("acme");
    expect(await idIn("acme")).toBe(first);
    expect(await idIn("globex")).not.toBe(first);
  });

  it.each(["both", "claim", "query"] as const)("R7: indexes a claim by %s", async (indexBy) => {
    const { memory } = await bench();
    const vectors = await usearchStore();
    const task = "zebra crossing inspection in Utrecht";
    const model = scripted(answer({ newClaims: [CLAIM] }));
    await new Reflector({ memory, model, saveTo: vectors, indexBy }).invoke({ input: task });
    const nearest = async (text: string): Promise<string | undefined> =>
      (await vectors.similaritySearch(text, 1))[0]?.pageContent;
    expect((await nearest(task)) === CLAIM).toBe(indexBy !== "claim");
    expect((await nearest("node blue-7 SIGTERM SIGKILL worker ignores")) === CLAIM).toBe(indexBy !== "query");
  });

  it("hands claims to a store that embeds by itself as texts, to a wrapped one as to the one inside, or to a function", async () => {
    const { memory, vectors } = await bench();
    const hybrid = await HybridStore.create();
    const added: unknown[] = [];
    hybrid.addDocuments = async (...args) => void added.push(args);
    const save = async (saveTo: ReflectorOptions["saveTo"]): Promise<void> => {
      await new Reflector({ memory, model: scripted(answer({ newClaims: [CLAIM] })), saveTo: saveTo! }).invoke({
        input: "x",
      });
    };
    await save(hybrid);
    expect(added).toMatchObject([[[{ pageContent: CLAIM }], { ids: [expect.stringMatching(UUID)] }]]);
    const before = vectors.memoryVectors.length;
    await save(memory.vectorStore(vectors));
    expect(vectors.memoryVectors).toHaveLength(before + 1);
    const taken: Document[] = [];
    await save((documents) => taken.push(...documents));
    expect(taken.map(({ pageContent }) => pageContent)).toEqual([CLAIM]);
  });

  it.each([
    ["malformed", '{"newClaims": ["a"]}'],
    ["prose", "All good!"],
    ["an error", new Error("out of credit")],
  ])("R4: changes nothing when the answer is %s", async (_what, said) => {
    const setup = await bench();
    const run = await endedRun(setup);
    const [seq, size] = [await seqOf(setup), setup.vectors.memoryVectors.length];
    const reflector = new Reflector({ memory: setup.memory, model: scripted(said), saveTo: setup.vectors });
    await expect(reflector.invoke(run)).rejects.toThrow();
    expect(await seqOf(setup)).toBe(seq);
    expect(setup.vectors.memoryVectors).toHaveLength(size);
  });

  it("that is run again replaces its votes and does not add to them", async () => {
    const setup = await bench();
    const run = await endedRun(setup);
    const model = scripted(answer({ helpfulMemories: ["m1"] }), answer({ harmfulMemories: ["m1"] }));
    const reflector = new Reflector({ memory: setup.memory, model });
    await reflector.invoke(run);
    expect(await credit(setup.memory)).toMatchObject({ restart: 1 });
    await reflector.invoke(run);
    expect(await credit(setup.memory)).toMatchObject({ restart: -1 });
    expect((await replay(setup.memory.engine)).identical).toBe(true);
  });

  it("finds the run's namespace, and takes one that is named", async () => {
    const setup = await bench({ namespace: "acme" });
    const run = await endedRun(setup);
    const model = scripted(answer({ harmfulMemories: ["m1"], newClaims: [CLAIM] }));
    const { saved } = await new Reflector({ memory: setup.memory, model, saveTo: setup.vectors }).invoke(run);
    expect(await credit(setup.memory, "acme")).toMatchObject({ restart: -1 });
    expect(saved[0]?.metadata).toMatchObject({ qavr_namespace: "acme" });
    const elsewhere = await new Reflector({ memory: setup.memory, model }).invoke({ ...run, namespace: "globex" });
    expect(elsewhere.votes).toBe(0);
  });

  it("says the query in the application's words", async () => {
    const { memory, vectors } = await bench();
    const model = scripted(answer({ newClaims: [CLAIM] }));
    const reflector = new Reflector({ memory, model, saveTo: vectors, queryOf: () => "stuck queues" });
    expect((await reflector.invoke({ input: "x" })).saved[0]?.metadata.query).toBe("stuck queues");
  });

  it("weighs votes as it is told", async () => {
    const utilities = [];
    for (const weight of [1, 0.25]) {
      const setup = await bench({ evaluate: () => null });
      const run = await endedRun(setup);
      const model = scripted(answer({ helpfulMemories: ["m1"] }));
      await new Reflector({ memory: setup.memory, model, weight }).invoke(run);
      utilities.push((await setup.memory.status()).collections[0]?.best[0]?.utility as number);
    }
    expect(utilities[1]).toBeGreaterThan(0);
    expect(utilities[1]).toBeLessThan(utilities[0] as number);
  });

  it("keeps claims and leaves votes while learning is off", async () => {
    const { memory, vectors } = await bench({ enabled: false });
    const model = scripted(answer({ helpfulMemories: ["m1"], newClaims: [CLAIM] }));
    const memories = [{ id: "restart", handle: "m1", document: new Document({ pageContent: "x" }) }];
    const report = await new Reflector({ memory, model, saveTo: vectors }).invoke({
      runId: RUN_ID,
      input: "x",
      memories,
    });
    expect(report).toMatchObject({ votes: 0, saved: [{ pageContent: CLAIM }] });
  });

  it.each([
    [{ memory: {} }],
    [{ model: {} }],
    [{ saveTo: {} }],
    [{ reflectOn: "success" }],
    [{ indexBy: "text" }],
    [{ queryOf: "question" }],
    [{ weight: 0 }],
    [{ weight: 1.5 }],
    [{ saveto: () => [] }],
    [{ wait: "no" }],
    [{ structured: "false" }],
  ])("refuses wrong options: %j", async (wrong) => {
    const { memory } = await bench();
    const options = { memory, model: scripted(answer()), ...wrong } as never;
    expect(() => new Reflector(options)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("refuses a document that was never shown, and what is no run", async () => {
    const { memory } = await bench();
    const reflector = new Reflector({ memory, model: scripted(answer()) });
    const stranger = { input: "x", memories: [new Document({ pageContent: "x" })] };
    await expect(reflector.invoke(stranger)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(reflector.invoke("run" as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    for (const memories of [{}, ["a text"], [null], [{ document: undefined }]] as never[]) {
      await expect(reflector.invoke({ input: "x", memories })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const later = new Reflector({ memory, model: scripted(answer()), queryOf: (async () => "a task") as never });
    await expect(later.invoke({ input: "x" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("fits into chains, whose callbacks see its model", async () => {
    const setup = await bench();
    const run = await endedRun(setup);
    const seen: string[] = [];
    const model = new FakeListChatModel({ responses: [answer({ helpfulMemories: ["m1"] })] });
    const chain = RunnableLambda.from(() => run).pipe(
      new Reflector({ memory: setup.memory, model, structured: false }),
    );
    const report = await chain.invoke("", { callbacks: [{ handleChatModelStart: () => void seen.push("model") }] });
    expect(report.helpfulMemories).toEqual(["restart"]);
    expect(seen).toEqual(["model"]);
  });
});

describe("a reflector that follows runs", () => {
  const followed = async (reflectOn: ReflectorOptions["reflectOn"], options: Partial<ReflectorOptions> = {}) => {
    const setup = await bench();
    const model = scripted(answer({ harmfulMemories: ["m1"], newClaims: [CLAIM] }));
    new Reflector({ memory: setup.memory, model, saveTo: setup.vectors, reflectOn: reflectOn!, ...options });
    return { setup, model };
  };
  const boom = (): never => {
    throw new Error("queue is still stuck");
  };

  it("on failure takes those that failed, with what they threw", async () => {
    const { setup, model } = await followed("failure");
    await tracked(setup).invoke(QUESTION);
    await setup.memory.flush();
    expect(model.asked).toHaveLength(0);
    await expect(tracked(setup, boom).invoke(QUESTION, { runId: RUN_ID })).rejects.toThrow("still stuck");
    await setup.memory.flush();
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]).toContain("<error>Error: queue is still stuck</error>");
    expect(model.asked[0]).toContain("[m1] restart the payment service");
    expect((await setup.memory.status()).outcomes).toMatchObject({ observed: 1, "self-reported": 1 });
    expect(await setup.vectors.similaritySearch(CLAIM, 1)).toMatchObject([{ pageContent: CLAIM }]);
  });

  it("on failure also takes those that evaluate judged as failed, unless its word was refused", async () => {
    const setup = await bench({
      evaluate: ({ output }) => ({ success: output === "good", harmful: output === "odd" ? ["made up"] : [] }),
    });
    const model = scripted(answer());
    new Reflector({ memory: setup.memory, model, reflectOn: "failure" });
    for (const output of ["good", "odd", "bad"]) await tracked(setup, () => output).invoke(QUESTION);
    await setup.memory.flush();
    expect(model.asked.map((asked) => asked.includes("<verdict>failure</verdict>"))).toEqual([true]);
  });

  it("always takes all, and a function those that it picks; a run that merely ended has no verdict", async () => {
    const { setup, model } = await followed("always");
    await tracked(setup).invoke(QUESTION);
    await setup.memory.flush();
    expect(model.asked[0]).toContain("<verdict>unknown</verdict>");
    const picked = await followed(({ metadata }) => metadata.keep === true);
    await tracked(picked.setup).invoke(QUESTION);
    await tracked(picked.setup).invoke(QUESTION, { metadata: { keep: true } });
    await picked.setup.memory.flush();
    expect(picked.model.asked).toHaveLength(1);
  });

  it("takes a run that recalled nothing: that is how the first memory comes about", async () => {
    const { setup, model } = await followed("failure");
    await expect(setup.memory.track(RunnableLambda.from(boom)).invoke("free the queue")).rejects.toThrow();
    await setup.memory.flush();
    expect(model.asked[0]).toContain("none were shown");
    const [found] = await setup.vectors.similaritySearch("free the queue", 1);
    expect(found?.metadata).toMatchObject({ query: "free the queue" });
  });

  it("takes none that was aborted or waits for an answer", async () => {
    const { setup, model } = await followed("always");
    const slow = tracked(setup, () => sleep(200));
    await expect(slow.invoke(QUESTION, { signal: AbortSignal.timeout(30) })).rejects.toThrow();
    const paused = setup.memory.track(
      graph(setup, () => ({})).compile({ checkpointer: new MemorySaver(), interruptBefore: ["respond"] }),
    );
    const config = { configurable: { thread_id: "T" } };
    await paused.invoke({ question: QUESTION }, config);
    await setup.memory.flush();
    expect(model.asked).toHaveLength(0);
    await paused.invoke(null, config);
    await setup.memory.flush();
    expect(model.asked).toHaveLength(1);
  });

  it("takes a graph that failed", async () => {
    const { setup, model } = await followed("failure");
    await expect(setup.memory.track(graph(setup, failing).compile()).invoke({ question: QUESTION })).rejects.toThrow();
    await setup.memory.flush();
    expect(model.asked[0]).toContain(`<task>${QUESTION}</task>`);
  });

  it("never fails or delays the run, and says with a code what went wrong", async () => {
    const setup = await bench();
    const stuck = Promise.withResolvers<void>();
    const model = scripted("no JSON at all");
    const ask = model._call.bind(model);
    model._call = async (messages) => {
      await stuck.promise;
      return ask(messages);
    };
    new Reflector({ memory: setup.memory, model, reflectOn: "always" });
    expect(await tracked(setup).invoke(QUESTION)).toBe("done");
    expect(setup.codes()).toEqual([]);
    stuck.resolve();
    await setup.memory.flush();
    expect(setup.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { code: "REFLECTION_FAILED", reason: "INVALID_MODEL_OUTPUT" },
    ]);
  });

  it("lets the run wait where that is wished for", async () => {
    const { setup, model } = await followed("always", { wait: true });
    await tracked(setup).invoke(QUESTION);
    expect(model.asked).toHaveLength(1);
    expect((await setup.memory.status()).outcomes["self-reported"]).toBe(1);
  });

  it("closes after what is under way", async () => {
    const { setup } = await followed("always");
    await tracked(setup).invoke(QUESTION);
    await setup.memory.close();
    expect(setup.codes()).toEqual([]);
    expect(await setup.vectors.similaritySearch(CLAIM, 1)).toMatchObject([{ pageContent: CLAIM }]);
  });

  it("does not reflect on reflections, also where those are tracked themselves", async () => {
    const { setup, model } = await followed("always");
    const run = await endedRun(setup);
    await setup.memory.flush();
    const again = setup.memory.track(new Reflector({ memory: setup.memory, model }));
    await again.invoke(run);
    await setup.memory.flush();
    expect(model.asked).toHaveLength(2);
  });

  it("survives a function that throws, and skips runs beyond the number that may be under way", async () => {
    const broken = await followed(boom);
    expect(await tracked(broken.setup).invoke(QUESTION)).toBe("done");
    await broken.setup.memory.flush();
    expect(broken.setup.codes()).toContain("REFLECTION_FAILED");
    const setup = await bench();
    const model = scripted(answer());
    const stuck = Promise.withResolvers<void>();
    model._call = async () => {
      await stuck.promise;
      return answer();
    };
    new Reflector({ memory: setup.memory, model, reflectOn: "always" });
    for (let run = 0; run < 40; run++) await tracked(setup).invoke(QUESTION);
    await setup.memory.status();
    expect(setup.codes().filter((code) => code === "REFLECTION_SKIPPED")).toHaveLength(8);
    stuck.resolve();
    await setup.memory.flush();
    await tracked(setup).invoke(QUESTION);
    expect(setup.codes().filter((code) => code === "REFLECTION_SKIPPED")).toHaveLength(8);
  });

  it("does nothing while learning is off", async () => {
    const setup = await bench({ enabled: false });
    const model = scripted(answer());
    new Reflector({ memory: setup.memory, model, reflectOn: "always" });
    await tracked(setup).invoke(QUESTION);
    await setup.memory.flush();
    expect(model.asked).toHaveLength(0);
  });
});
