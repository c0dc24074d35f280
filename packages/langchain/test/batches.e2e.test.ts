import { SimpleChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { Runnable, type RunnableConfig, RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { describe, expect, it, vi } from "vitest";
import { type Bench, bench, credit, nothingOpen, RUN_ID } from "./support/bench.js";
import { failing } from "./support/graph.js";

const INPUTS = ["restart", "clear", "scale"] as const;
const IDS = INPUTS.map((_, i) => RUN_ID.replace(/.$/, `${i + 2}`));
const byId = ({ showing }: Pick<Bench, "showing">): RunnableLambda<string, string> =>
  RunnableLambda.from(async (id: string, config: RunnableConfig) => {
    await showing(id).invoke("payment", config);
    return id;
  });
const work = async (id: string): Promise<string> => (id === "clear" ? failing() : `did ${id}`);
const each = (): RunnableConfig[] => IDS.map((runId) => ({ runId }));
const outcomes = async ({ memory }: Bench): Promise<unknown[]> =>
  Promise.all(IDS.map(async (id) => (await memory.explain(id))?.outcome?.reward));

it("a batch of a function keeps its runs apart", async () => {
  const { memory, showing } = await bench();
  const chain = RunnableLambda.from(async (id: string, config: RunnableConfig) => {
    await showing(id).invoke("payment", config);
    return id === "clear" ? failing() : id;
  });
  const results = await memory.track(chain).batch(["restart", "clear", "scale"], {}, { returnExceptions: true });
  expect(results.filter((result) => result instanceof Error)).toHaveLength(1);
  expect(await credit(memory)).toEqual({ restart: 1, clear: -1, scale: 1 });
  expect((await memory.status()).episodes.recorded).toBe(3);
  expect(await nothingOpen(memory)).toBe(true);
});

it("a batch inside a run earns nothing for the memories of an input whose error it returned", async () => {
  const setup = await bench();
  const within = byId(setup).pipe(work);
  const chain = RunnableLambda.from((ids: string[], config: RunnableConfig) =>
    within.batch(ids, config, { returnExceptions: true }),
  );
  await setup.memory.track(chain).invoke([...INPUTS], { runId: RUN_ID });
  expect(await credit(setup.memory)).toEqual({ restart: 1, scale: 1 });
});

describe("a batch of a sequence", () => {
  it("fails the input whose error is its output, and no other", async () => {
    const setup = await bench({ evaluate: ({ error }) => error === undefined });
    const chain = setup.memory.track(byId(setup).pipe(work));
    const results = await chain.batch([...INPUTS], each(), { returnExceptions: true });
    expect(results.map(String)).toEqual(["did restart", "Error: boom", "did scale"]);
    expect(await outcomes(setup)).toEqual([1, 0, 1]);
    expect(await credit(setup.memory)).toEqual({ restart: 1, clear: -1, scale: 1 });
  });

  it("does not know how an input ends whose error a later step has taken for its input", async () => {
    const evaluate = vi.fn(() => true);
    const setup = await bench({ evaluate });
    const chain = setup.memory.track(RunnableSequence.from([byId(setup), work, (done: unknown) => `${done}!`]));
    const results = await chain.batch([...INPUTS], each(), { returnExceptions: true });
    expect(results).toEqual(["did restart!", "Error: boom!", "did scale!"]);
    expect(await outcomes(setup)).toEqual([1, undefined, 1]);
    expect(evaluate).toHaveBeenCalledTimes(2);
  });

  it.each([{}, { maxConcurrency: 1 }])("takes an error for that of the input that threw it (%j)", async (limits) => {
    const evaluate = vi.fn(() => null);
    const setup = await bench({ evaluate });
    const chain = setup.memory.track(byId(setup).pipe(work));
    const configs = each().map((config) => ({ ...config, ...limits }));
    await expect(chain.batch([...INPUTS], configs)).rejects.toThrow("boom");
    expect(await outcomes(setup)).toEqual([undefined, 0, undefined]);
    expect(await credit(setup.memory)).toEqual({ clear: -1 });
    expect(evaluate).toHaveBeenCalledTimes(1);
    expect(await nothingOpen(setup.memory)).toBe(true);
  });

  it.each([
    ["the model of one input", (model: Runnable) => model],
    ["the model of one input, in a sequence within", (model: Runnable) => model.pipe(new StringOutputParser())],
    [
      "the last attempt at one input",
      (model: Runnable) => model.withRetry({ stopAfterAttempt: 2, onFailedAttempt: () => {} }),
    ],
    ["the fallback of one input", (model: Runnable) => model.withFallbacks([model])],
  ])("takes an error of %s for that input's", async (_what, within) => {
    const setup = await bench();
    class Answering extends SimpleChatModel {
      _llmType(): string {
        return "answering";
      }

      async _call(messages: BaseMessage[]): Promise<string> {
        return work(messages.at(-1)?.text ?? "");
      }
    }
    const chain = setup.memory.track(byId(setup).pipe(within(new Answering({}))));
    await expect(chain.batch([...INPUTS], each())).rejects.toThrow("boom");
    expect(await outcomes(setup)).toEqual([undefined, 0, undefined]);
  });

  it("knows an error that nothing in it has thrown only where it has ended no other input", async () => {
    class Silent extends Runnable {
      override lc_namespace = ["test"];

      override async invoke(): Promise<never> {
        return failing();
      }
    }
    const setup = await bench();
    const chain = setup.memory.track(byId(setup).pipe(new Silent()));
    await expect(chain.batch([...INPUTS], each())).rejects.toThrow("boom");
    expect(await outcomes(setup)).toEqual([undefined, undefined, undefined]);
    await expect(chain.invoke("scale", { runId: RUN_ID })).rejects.toThrow("boom");
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 0, tier: "observed" });
  });

  it.each([
    ["a function", (model: Runnable) => RunnableLambda.from((id: string) => model.invoke(id))],
    ["a model", (model: Runnable) => model],
    ["a sequence", (model: Runnable) => RunnableSequence.from([model, (message) => [message]])],
    ["a retry", (model: Runnable) => model.withRetry()],
  ])("shows evaluate each input's own output, where the last step is %s", async (_what, last) => {
    const seen: unknown[] = [];
    const setup = await bench({ evaluate: ({ output }) => void seen.push(output) });
    const model = new FakeListChatModel({ responses: ["one", "two", "three", "four", "five"] });
    const chain = setup.memory.track(byId(setup).pipe(last(model)));
    const all = await chain.batch([...INPUTS]);
    const single = [...(await chain.batch(["scale"])), await chain.invoke("scale")];
    expect(seen).toHaveLength(5);
    for (const [i, output] of [...all, ...single].entries()) expect(seen[i]).toBe(output);
  });

  it("learns nothing where the outputs of all inputs are handed to each and its own is not to be known", async () => {
    class Silent extends Runnable<string, string> {
      override lc_namespace = ["test"];

      override async invoke(input: string): Promise<string> {
        return `did ${input}`;
      }
    }
    const seen: unknown[] = [];
    const setup = await bench({ evaluate: ({ output }) => void seen.push(output) });
    const chain = setup.memory.track(byId(setup).pipe(new Silent()));
    await chain.batch([...INPUTS]);
    expect(seen.filter(Array.isArray)).toEqual([]);
  });

  it("keeps streams apart that are read at the same time", async () => {
    const setup = await bench();
    const chain = setup.memory.track(byId(setup).pipe(work));
    const read = async (id: string, i: number): Promise<void> => {
      for await (const _ of await chain.stream(id, { runId: IDS[i] as string }));
    };
    await Promise.allSettled(INPUTS.map(read));
    expect(await outcomes(setup)).toEqual([1, 0, 1]);
  });
});
