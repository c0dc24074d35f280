import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { SemanticSimilarityExampleSelector } from "@langchain/core/example_selectors";
import { memoryStore, type Store } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bench, credit, nothingOpen } from "./support/bench.js";
import { TrigramEmbeddings } from "./support/corpus.js";
import { examplesIn, FreshExamples, fewShot, model, runId } from "./support/few-shot.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const EXAMPLES = [
  { input: "happy", output: "sad" },
  { input: "tall", output: "short" },
  { input: "sunny", output: "gloomy" },
];

const OPTIONS = [
  {},
  { k: 2 },
  { k: 2, inputKeys: ["input"] },
  { k: 1, exampleKeys: ["output"] },
  { k: 2, filter: ({ metadata }: { metadata: Record<string, unknown> }) => metadata.input !== "tall" },
];

describe("examples", () => {
  it.each([
    ...OPTIONS.map((options) => ["while nothing is known", options, true] as const),
    ...OPTIONS.map((options) => ["where learning is switched off", options, false] as const),
  ])("are those of LangChain's selector by similarity %s: %j", async (_when, options, enabled) => {
    const { memory, codes } = await bench({ enabled });
    const [own, langchain] = [
      new MemoryVectorStore(new TrigramEmbeddings()),
      new MemoryVectorStore(new TrigramEmbeddings()),
    ];
    const selector = memory.exampleSelector(own, options);
    const theirs = new SemanticSimilarityExampleSelector({ vectorStore: langchain, ...options });
    for (const example of EXAMPLES) {
      await selector.addExample(example);
      await theirs.addExample(example);
    }
    const values = { input: "tallest" };
    const expected = await theirs.selectExamples(values);
    expect(await selector.selectExamples(values)).toEqual(expected);
    const chain = memory.track(fewShot(selector, "{output}").pipe(model()));
    const text = String(await fewShot(theirs, "{output}").invoke({ ...values, question: "q" }));
    expect(await chain.invoke({ ...values, question: "q" }, { metadata: { run: 1 } })).toBe(text);
    if (!enabled) expect(codes()).toEqual([]);
  });

  it("keep their evidence when they are added again, and share it with no other example of their input", async () => {
    const store = memoryStore();
    const shown = async (examples: readonly Record<string, string>[]): Promise<string[]> => {
      const { memory } = await bench({ store: { ...store, close: async () => undefined } as Store });
      const selector = memory.exampleSelector(new MemoryVectorStore(new TrigramEmbeddings()), { inputKeys: ["input"] });
      for (const example of examples) await selector.addExample(example);
      const chain = memory.track(fewShot(selector).pipe(model()));
      await chain.invoke({ question: "q", input: "happy" }, { runId: crypto.randomUUID(), metadata: { run: 1 } });
      const { memories } = await memory.memories();
      return memories.map(({ id }) => id);
    };
    const first = await shown([
      { input: "happy", output: "sad" },
      { input: "happy", output: "unhappy" },
    ]);
    expect(new Set(first).size).toBe(2);
    for (const id of first) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    const again = await shown([
      { output: "unhappy", input: "happy" },
      { output: "sad", input: "happy" },
    ]);
    expect(again.toSorted()).toEqual(first.toSorted());
  });

  it("are refused where a retriever takes none", async () => {
    const { memory } = await bench();
    const selector = memory.exampleSelector(new FreshExamples());
    await expect(selector.addExample({ input: "a" })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  it("that helped come first, for questions like those", async () => {
    const { memory } = await bench();
    const selector = memory.exampleSelector(new MemoryVectorStore(new TrigramEmbeddings()), { k: 1 });
    for (const example of EXAMPLES) await selector.addExample(example);
    const chain = memory.track(
      fewShot(selector, "{input} {output}").pipe((value) => {
        const text = value.toString();
        if (!text.includes("gloomy")) throw new Error("the wrong example");
        return text;
      }),
    );
    const rewards: string[] = [];
    for (let run = 0; run < 6; run++) {
      const result = await chain.invoke({ question: "tall tall tall" }).catch(() => "failed");
      rewards.push(result === "failed" ? "failed" : "helped");
    }
    expect(rewards[0]).toBe("failed");
    expect(rewards.slice(3)).toEqual(["helped", "helped", "helped"]);
  });

  it("are the store's own first ones while the ledger fails", async () => {
    const failing = async (): Promise<never> => {
      throw new Error("disk on fire");
    };
    const store = { ...memoryStore(), commit: failing, readStates: failing, readShared: failing } as Store;
    const { memory, codes } = await bench({ store });
    const selector = memory.exampleSelector(new MemoryVectorStore(new TrigramEmbeddings()), { k: 1 });
    for (const example of EXAMPLES) await selector.addExample(example);
    const chain = memory.track(fewShot(selector).pipe(model()));
    expect(await chain.invoke({ question: "tall" }, { metadata: { run: 1 } })).toContain("tall");
    await memory.flush();
    expect(codes().length).toBeGreaterThan(0);
  });
});

describe("where prompts cannot be followed", () => {
  const { handleChainStart } = CallbackManager.prototype;
  /** LangChain starts runs in an asynchronous context of their own. */
  const startElsewhere = (): void => {
    vi.spyOn(CallbackManager.prototype, "handleChainStart").mockImplementation(async function (
      this: CallbackManager,
      ...run
    ) {
      await undefined;
      return handleChainStart.apply(this, run);
    });
  };

  it("a selector is refused by a LangChain that starts runs in another context, and the memory goes on", async () => {
    startElsewhere();
    const { memory, retriever } = await bench();
    const refusal = expect.objectContaining({
      code: "UNSUPPORTED",
      message: expect.stringContaining("@langchain/core"),
    });
    for (const attempt of [1, 2]) {
      expect(() => memory.exampleSelector(new FreshExamples()), `${attempt}`).toThrow(refusal);
    }
    expect(await memory.track(retriever.pipe(({ length }) => length)).invoke("payment")).toBe(2);
    expect(await nothingOpen(memory)).toBe(true);
  });

  it.each([
    ["has no asynchronous context", () => undefined],
    [
      "cannot enter one",
      () => ({
        AsyncLocalStorage: class {
          enterWith(): void {
            throw new Error("asyncLocalStorage.enterWith() is not implemented");
          }
        },
      }),
    ],
  ])("a selector is refused by a runtime that %s, and the memory goes on", async (_what, module) => {
    vi.spyOn(process, "getBuiltinModule").mockImplementation(module as never);
    const { memory, retriever } = await bench();
    const refusal = expect.objectContaining({ code: "UNSUPPORTED", message: expect.stringContaining("enterWith") });
    expect(() => memory.exampleSelector(new FreshExamples())).toThrow(refusal);
    expect(await memory.track(retriever.pipe(({ length }) => length)).invoke("payment")).toBe(2);
    // LangChain's own selector needs no context.
    const off = (await bench({ enabled: false })).memory;
    expect(await fewShot(off.exampleSelector(new FreshExamples())).format({ question: "q" })).toContain("<e0>");
  });

  it("no run is credited with another run's examples: all are recorded without an outcome", async () => {
    const { memory, codes } = await bench();
    const chain = memory.track(fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 })).pipe(model()));
    startElsewhere();
    const configs = [1, 2, 4, 5, 7, 8].map((run) => ({ runId: runId(run), metadata: { run } }));
    const results = await Promise.all(configs.map((config) => chain.invoke({ question: "the same" }, config)));
    for (const result of results) expect(examplesIn(result)).toHaveLength(1);
    await memory.flush();
    for (const config of configs) expect(await memory.explain(config.runId)).toBeUndefined();
    expect(codes()).toEqual(["NO_OUTCOME_TRACKING"]);
    expect(await credit(memory)).toEqual({});
  });
});
