import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { BaseExampleSelector } from "@langchain/core/example_selectors";
import {
  ChatPromptTemplate,
  FewShotChatMessagePromptTemplate,
  type FewShotPromptTemplate,
  PromptTemplate,
} from "@langchain/core/prompts";
import { type Runnable, type RunnableConfig, RunnableLambda, RunnableMap } from "@langchain/core/runnables";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Qavr } from "../src/index.js";
import { bench, credit, nothingOpen } from "./support/bench.js";
import { answer, examplesIn, FreshExamples, fewShot, model, runId } from "./support/few-shot.js";

const RUNS = Array.from({ length: 50 }, (_, run) => run);
/** The same for all runs: only the run itself tells them apart. */
const INPUT = { question: "the same" };
/** Key of the global asynchronous context in which LangGraph keeps its config, and which LangChain alone does not have. */
const LANGCHAIN_CONTEXT = Symbol.for("ls:tracing_async_local_storage");

/** Holds each prompt back for another time, so that prompts do not ask in the order in which they started. */
class Shuffling extends BaseCallbackHandler {
  name = "shuffling";
  calls = 0;

  constructor() {
    super({ _awaitHandler: true });
  }

  override handleChainStart(): Promise<void> {
    return sleep((this.calls++ * 5) % 13);
  }
}

const fewShotChat = (exampleSelector: BaseExampleSelector): FewShotChatMessagePromptTemplate =>
  new FewShotChatMessagePromptTemplate({
    exampleSelector,
    examplePrompt: ChatPromptTemplate.fromMessages([["human", "{input}"]]),
    inputVariables: ["question"],
  });
const chatPrompt = (...selectors: BaseExampleSelector[]): ChatPromptTemplate =>
  ChatPromptTemplate.fromMessages([
    ...selectors.map((selector) => fewShotChat(selector) as never),
    ["human", "{question}"],
  ]);
const plain = PromptTemplate.fromTemplate("{question}");

/** Expects that each run was shown the examples of its own prompt, and failed or succeeded itself. */
async function expectOwnExamples(memory: Qavr, results: readonly unknown[], each: number = 1): Promise<void> {
  await memory.flush();
  for (const [run, result] of results.entries()) {
    const own = examplesIn(String(result));
    expect(own).toHaveLength(each);
    const view = await memory.explain(runId(run));
    expect(view?.exposures.flatMap(({ items }) => items.map(({ id }) => id)).toSorted()).toEqual(own.toSorted());
    expect(view?.outcome?.reward).toBe(run % 3 === 0 ? 0 : 1);
  }
  expect((await memory.status()).episodes).toMatchObject({ recorded: results.length, open: 0, abandoned: 0 });
  expect(await nothingOpen(memory)).toBe(true);
}

type Way = (chain: Runnable, inputs: readonly unknown[], configs: readonly RunnableConfig[]) => Promise<unknown[]>;
const settled = async (runs: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(runs)).map((run) => (run.status === "fulfilled" ? run.value : run.reason));
const invoked: Way = (chain, inputs, configs) => settled(inputs.map((input, run) => chain.invoke(input, configs[run])));
const WAYS: readonly [name: string, way: Way][] = [
  ["invoked", invoked],
  [
    "a batch",
    (chain, inputs, configs) =>
      chain.batch([...inputs], [...configs], { returnExceptions: true }) as Promise<unknown[]>,
  ],
  [
    "streamed",
    (chain, inputs, configs) => {
      const read = async (run: number): Promise<string> => {
        let text = "";
        for await (const chunk of await chain.stream(inputs[run], configs[run])) text += chunk;
        return text;
      };
      return settled(inputs.map((_, run) => read(run)));
    },
  ],
];
type MakeChain = (selector: BaseExampleSelector) => Runnable;
const CHAINS: readonly [name: string, chain: MakeChain, each: number][] = [
  ["a text prompt", (selector) => fewShot(selector).pipe(model()), 1],
  ["a chat prompt", (selector) => chatPrompt(selector).pipe(model()), 1],
  [
    "a prompt in an inner chain, beside one without examples",
    (selector) =>
      RunnableMap.from({
        plain,
        shown: RunnableLambda.from((input: typeof INPUT, config: RunnableConfig) =>
          fewShot(selector).invoke(input, config),
        ),
      })
        .pipe(({ shown }) => shown as { toString(): string })
        .pipe(answer),
    1,
  ],
  [
    "two prompts in parallel",
    (selector) =>
      RunnableMap.from({ text: fewShot(selector), chat: chatPrompt(selector) })
        .pipe(({ text, chat }) => `${text} ${chat}`)
        .pipe(answer),
    2,
  ],
];

describe.each([
  ["with", true],
  ["without", false],
])("%s LangChain's global asynchronous context", (_with, isGlobal) => {
  const context: unknown = Reflect.get(globalThis, LANGCHAIN_CONTEXT);
  beforeEach(() => {
    if (!isGlobal) Reflect.deleteProperty(globalThis, LANGCHAIN_CONTEXT);
  });
  afterEach(() => {
    Reflect.set(globalThis, LANGCHAIN_CONTEXT, context);
  });

  describe.each(CHAINS)("50 concurrent runs with %s", (_chain, makeChain, each) => {
    it.each(WAYS)("are credited with their own examples: %s", async (_way, go) => {
      const { memory } = await bench();
      const chain = memory.track(makeChain(memory.exampleSelector(new FreshExamples(), { k: 1 })));
      const shuffling = new Shuffling();
      const configs = RUNS.map((run) => ({ runId: runId(run), metadata: { run }, callbacks: [shuffling] }));
      const results = await go(
        chain,
        RUNS.map(() => INPUT),
        configs,
      );
      await expectOwnExamples(memory, results, each);
    });
  });
});

it("runs are credited with their own examples where LangChain's context is left with all that was entered in it", async () => {
  const context: unknown = Reflect.get(globalThis, LANGCHAIN_CONTEXT);
  // Deno's storages are left in this way, Node's are not.
  const denos = new AsyncLocalStorage();
  const run = denos.run.bind(denos);
  denos.run = (store: unknown, work: () => unknown) => AsyncLocalStorage.snapshot()(() => run(store, work));
  Reflect.set(globalThis, LANGCHAIN_CONTEXT, denos);
  try {
    const { memory } = await bench();
    const chain = memory.track(fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 })).pipe(model()));
    const configs = RUNS.map((run) => ({ runId: runId(run), metadata: { run } }));
    const results = await invoked(
      chain,
      RUNS.map(() => INPUT),
      configs,
    );
    await expectOwnExamples(memory, results);
  } finally {
    Reflect.set(globalThis, LANGCHAIN_CONTEXT, context);
  }
});

/** Passes the text of a prompt on, after it has failed once for each run. */
function busyAtFirst(): Runnable<{ toString(): string }, string> {
  let calls = 0;
  return RunnableLambda.from((prompt: { toString(): string }) => {
    if (calls++ < RUNS.length) throw new Error("busy");
    return prompt.toString();
  });
}

/** Finds nothing at the first attempt of each run. */
class AwayAtFirst extends FreshExamples {
  attempts = 0;

  override async _getRelevantDocuments(): ReturnType<FreshExamples["_getRelevantDocuments"]> {
    if (this.attempts++ < RUNS.length) throw new Error("away");
    return super._getRelevantDocuments();
  }
}

const RETRY = { stopAfterAttempt: 2 };
const REPLACED: readonly [name: string, chain: MakeChain, examples: typeof FreshExamples, shown: number][] = [
  ["a chain is tried again", (own) => fewShot(own).pipe(busyAtFirst()).withRetry(RETRY), FreshExamples, 2],
  ["a search fails and is tried again", (own) => fewShot(own).withRetry(RETRY).pipe(String), AwayAtFirst, 1],
  [
    "a fallback replaces a chain",
    (own) => {
      const broken = chatPrompt(own).pipe((): Promise<string> => Promise.reject(new Error("no such model")));
      return broken.withFallbacks([fewShot(own).pipe(String)]);
    },
    FreshExamples,
    2,
  ],
];

it.each(REPLACED)("only the examples of the part that worked are credited, where %s", async (...row) => {
  const [, makeChain, Examples, shown] = row;
  const { memory } = await bench({ evaluate: () => true });
  const chain = memory.track(makeChain(memory.exampleSelector(new Examples(), { k: 1 })));
  const results = await Promise.all(RUNS.map((run) => chain.invoke(INPUT, { runId: runId(run) })));
  for (const run of RUNS) {
    const exposures = (await memory.explain(runId(run)))?.exposures ?? [];
    expect(exposures).toHaveLength(shown);
    const credited = exposures.filter((exposure) => exposure.credited);
    expect(credited.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(examplesIn(results[run] as string));
  }
  expect(Object.values(await credit(memory))).toEqual(RUNS.map(() => 1));
});

it("a failed search reaches the caller as it is, and the run has failed", async () => {
  const { memory, codes } = await bench();
  const chain = memory.track(fewShot(memory.exampleSelector(new AwayAtFirst())).pipe(model()));
  await expect(chain.invoke(INPUT)).rejects.toThrow("away");
  expect(codes()).toEqual([]);
  expect(await nothingOpen(memory)).toBe(true);
});

it("two selectors in one prompt are both credited to its run, each with its collection", async () => {
  const { memory } = await bench();
  const examples = new FreshExamples();
  const selector = (collection: string): BaseExampleSelector => memory.exampleSelector(examples, { k: 1, collection });
  const chain = memory.track(chatPrompt(selector("a"), selector("b")).pipe(model()));
  const results = await invoked(
    chain,
    RUNS.map(() => INPUT),
    RUNS.map((run) => ({ runId: runId(run), metadata: { run } })),
  );
  await expectOwnExamples(memory, results, 2);
  const view = await memory.explain(runId(1));
  expect(view?.exposures.map(({ collection }) => collection).toSorted()).toEqual(["a", "b"]);
});

it("a selector that is made inside the run works like one that was made before it", async () => {
  const { memory } = await bench();
  const examples = new FreshExamples();
  const chain = memory.track(
    RunnableLambda.from(async (input: typeof INPUT, config: RunnableConfig) =>
      answer(await fewShot(memory.exampleSelector(examples, { k: 1 })).invoke(input, config), config),
    ),
  );
  const configs = RUNS.map((run) => ({ runId: runId(run), metadata: { run } }));
  await expectOwnExamples(
    memory,
    await invoked(
      chain,
      RUNS.map(() => INPUT),
      configs,
    ),
  );
});

it("runs without the handler are not taken for tracked ones beside them", async () => {
  const { memory } = await bench();
  const prompt = fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 }));
  const untracked = prompt.pipe(model());
  const tracked = memory.track(untracked);
  const runs = RUNS.map(async (run) => {
    const own = invoked(tracked, [INPUT], [{ runId: runId(run), metadata: { run } }]);
    // In the context of the function that has just started the tracked run.
    await Promise.all([untracked.invoke(INPUT, { metadata: { run: 1 } }), prompt.format(INPUT)]);
    return (await own)[0];
  });
  const results = await Promise.all(runs);
  await memory.flush();
  for (const run of RUNS) {
    const view = await memory.explain(runId(run));
    expect(view?.exposures.map(({ items }) => items.map(({ id }) => id))).toEqual([examplesIn(String(results[run]))]);
  }
});

describe("inside a run that LangChain tells by its own context", () => {
  const State = Annotation.Root({ question: Annotation<string>, answer: Annotation<string> });
  const graphOf = (node: (state: typeof State.State) => Promise<{ answer: string }>) =>
    new StateGraph(State).addNode("work", node).addEdge("__start__", "work").compile();
  const inGraph = (run: number): RunnableConfig => ({ runId: runId(run), metadata: { run } });

  it.each([
    ["formats", (prompt: FewShotPromptTemplate, question: string) => prompt.format({ question })],
    ["invokes", async (prompt: FewShotPromptTemplate, question: string) => `${await prompt.invoke({ question })}`],
  ])("a node that %s its prompt shows the examples of the graph's run", async (_what, use) => {
    const { memory, codes } = await bench({ evaluate: ({ metadata }) => Number(metadata.run) % 3 !== 0 });
    const prompt = fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 }));
    const graph = memory.track(graphOf(async ({ question }) => ({ answer: await use(prompt, question) })));
    const runs = RUNS.map((run) => graph.invoke(INPUT, inGraph(run)));
    const results = (await Promise.all(runs)) as (typeof State.State)[];
    await expectOwnExamples(
      memory,
      results.map(({ answer: text }) => text),
    );
    expect(codes()).not.toContain("NO_OUTCOME_TRACKING");
  });

  it("a chain that is a root of its own keeps its examples", async () => {
    const { memory } = await bench();
    const chain = fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 })).pipe(model());
    const own = { runId: runId(2), metadata: { run: 2 }, callbacks: [memory.handler] };
    const graph = memory.track(graphOf(async (state) => ({ answer: await chain.invoke(state, own) })));
    await graph.invoke({ question: "q" }, inGraph(1));
    await memory.flush();
    expect((await memory.explain(runId(2)))?.exposures).toHaveLength(1);
    expect(await memory.explain(runId(1))).toBeUndefined();
  });
});

describe("without a run", () => {
  it("the examples are ranked and recorded without an outcome, and a warning says so", async () => {
    const { memory, codes } = await bench();
    const prompt = fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 }));
    await prompt.invoke(INPUT, { runId: runId(1), callbacks: [memory.handler] });
    await memory.flush();
    expect(codes()).toEqual([]);
    expect(await prompt.format(INPUT)).toContain("<e1>");
    await memory.flush();
    expect(codes()).toEqual(["NO_OUTCOME_TRACKING"]);
    expect((await memory.explain(runId(1)))?.exposures).toHaveLength(1);
    expect((await memory.status()).episodes).toMatchObject({ recorded: 2, open: 0 });
  });

  it("is where work goes on that a prompt began, after the prompt has ended", async () => {
    const { memory, codes } = await bench();
    const prompt = fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 }));
    const ended = Promise.withResolvers<void>();
    let background: Promise<string> | undefined;
    const starting = await prompt.partial({
      question: async () => {
        // A callback runs in the asynchronous context in which it was added: here the prompt's.
        background = ended.promise.then(() => prompt.format({ question: "later" }));
        return "now";
      },
    });
    const chain = starting.pipe(async (text) => {
      ended.resolve();
      expect(await background).toContain("<e1>");
      return text.toString();
    });
    await memory.track(chain).invoke({}, { runId: runId(1) });
    await memory.flush();
    const view = await memory.explain(runId(1));
    expect(view?.exposures.map(({ items }) => items.map(({ id }) => id))).toEqual([["e0"]]);
    expect(codes()).toEqual(["NO_OUTCOME_TRACKING"]);
  });

  it("is not where the run was aborted: nothing is recorded", async () => {
    const { memory, codes } = await bench();
    const chain = memory.track(fewShot(memory.exampleSelector(new FreshExamples(), { k: 1 })).pipe(model()));
    const controller = new AbortController();
    const slow = new (class extends BaseCallbackHandler {
      name = "slow";
      constructor() {
        super({ _awaitHandler: true });
      }
      override async handleChainStart(_chain: unknown, _inputs: unknown, _id: string, parent?: string): Promise<void> {
        if (parent) queueMicrotask(() => controller.abort());
      }
    })();
    const options = { runId: runId(1), signal: controller.signal, callbacks: [slow] };
    await expect(chain.invoke(INPUT, options)).rejects.toThrow();
    await sleep(5);
    await memory.flush();
    expect(codes()).toEqual([]);
    expect((await memory.status()).episodes).toMatchObject({ open: 0 });
  });
});
