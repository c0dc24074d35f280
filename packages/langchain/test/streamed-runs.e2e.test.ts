import { once } from "node:events";
import type { DocumentInterface } from "@langchain/core/documents";
import {
  type Runnable,
  RunnableBranch,
  type RunnableConfig,
  RunnableLambda,
  RunnableMap,
} from "@langchain/core/runnables";
import { describe, expect, it, vi } from "vitest";
import type { Qavr } from "../src/index.js";
import { MARKS, markOf } from "../src/marks.js";
import type { RunTree } from "../src/runs/run-tree.js";
import { bench, credit, nothingOpen, QUESTION } from "./support/bench.js";
import { failing as failingNode, graph } from "./support/graph.js";

const answering = (retriever: Runnable<string, DocumentInterface[]>): Runnable<string, string> =>
  RunnableLambda.from(async (question: string, config: RunnableConfig) => {
    const [first] = await retriever.invoke(question, config);
    return `do ${first?.id}`;
  });

const failing = (chain: Runnable<string, string>): Runnable<string, string> =>
  chain.pipe((): string => {
    throw new Error("boom");
  });

async function readAll(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

type Read = (memory: Qavr, chain: Runnable<string, unknown>) => Promise<void>;

const WAYS: [way: string, read: Read][] = [
  ["stream", async (memory, chain) => readAll(await memory.track(chain).stream(QUESTION))],
  ["streamEvents", (memory, chain) => readAll(memory.track(chain).streamEvents(QUESTION, { version: "v2" }))],
  [
    "stream with the handler",
    async ({ handler }, chain) => readAll(await chain.stream(QUESTION, { callbacks: [handler] })),
  ],
];

describe.each(WAYS)("a run that is read by %s", (_way, read) => {
  it.each<[kind: string, make: (chain: Runnable<string, string>) => Runnable<string, unknown>]>([
    ["function", (chain) => chain],
    ["map", (chain) => RunnableMap.from({ answer: chain })],
    ["retry", (chain) => chain.withRetry()],
    ["sequence", (chain) => chain.pipe((answer) => answer)],
    ["branch", (chain) => RunnableBranch.from([[() => true, chain], chain])],
    ["branch's default", (chain) => RunnableBranch.from([[() => false, chain], chain])],
  ])("hands evaluate its input: a %s", async (_kind, make) => {
    const inputs: unknown[] = [];
    const { memory, retriever } = await bench({ evaluate: ({ input }) => void inputs.push(input) });
    await read(memory, make(answering(retriever)));
    expect(inputs).toEqual([QUESTION]);
  });

  it.each<[kind: string, make: (chain: Runnable<string, string>) => Runnable<string, unknown>]>([
    ["chain with fallbacks", (chain) => chain.withFallbacks([chain])],
    ["branch", (chain) => RunnableBranch.from([[() => true, chain], chain])],
    ["chain with fallbacks, of which the first fails", (chain) => failing(chain).withFallbacks([chain])],
  ])("hands evaluate its output: a %s", async (_kind, make) => {
    const outputs: unknown[] = [];
    const { memory, retriever } = await bench({ evaluate: ({ output }) => void outputs.push(output) });
    await read(memory, make(answering(retriever)));
    expect(outputs).toEqual(["do restart"]);
  });
});

it("a streamed branch that fails has failed, and its memories are debited", async () => {
  const { memory, retriever } = await bench();
  const chain = failing(answering(retriever));
  await expect(memory.track(RunnableBranch.from([[() => true, chain], chain])).stream(QUESTION)).rejects.toThrow(
    "boom",
  );
  expect(await credit(memory)).toEqual({ restart: -1, scale: -1 });
});

it.each(WAYS.slice(0, 2))(
  "a function that is read by %s learns in the namespace that follows its input",
  async (_way, read) => {
    const namespace = ({ input }: { readonly input: unknown }): string => `about:${String(input).split(" ")[0]}`;
    const { memory, retriever } = await bench({ namespace });
    await read(memory, answering(retriever));
    expect(await credit(memory, "about:payment")).toEqual({ restart: 1, scale: 1 });
  },
);

it.each<[way: string, read: (chain: Runnable<string, unknown>, signal: AbortSignal) => Promise<unknown>]>([
  ["stream", (chain, signal) => chain.stream(QUESTION, { signal })],
  ["streamEvents", (chain, signal) => readAll(chain.streamEvents(QUESTION, { signal, version: "v2" }))],
  [
    "streamEvents, which are left as well,",
    async (chain, signal) => {
      const events = chain.streamEvents(QUESTION, { signal, version: "v2" });
      await events.next();
      await once(signal, "abort");
      await events.return();
    },
  ],
])("a function that is read by %s and aborted before its first chunk ends without an outcome", async (_way, read) => {
  const { memory, retriever } = await bench();
  const caller = new AbortController();
  const hanging = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
    await retriever.invoke(question, config);
    caller.abort(new Error("aborted by the caller"));
    return new Promise(() => undefined);
  });
  await expect(read(memory.track(hanging), caller.signal)).rejects.toThrow("aborted");
  await vi.waitFor(async () => expect(await nothingOpen(memory)).toBe(true));
  const { episodes, outcomes } = await memory.status();
  expect([episodes.recorded, outcomes.completed, outcomes.observed]).toEqual([1, 0, 0]);
});

it("the events of a tracked function are filtered as those of another one", async () => {
  const { memory, retriever } = await bench();
  const types: string[] = [];
  const filter = { includeTypes: ["retriever"] };
  for await (const { event } of memory.track(answering(retriever)).streamEvents(QUESTION, { version: "v2" }, filter)) {
    types.push(event);
  }
  expect(types).toEqual(["on_retriever_start", "on_retriever_end"]);
});

it("a tracked branch has the events of version 1 of an untracked one", async () => {
  const { memory } = await bench();
  const echo = RunnableLambda.from((question: string) => question);
  const branch = RunnableBranch.from<string, string>([[() => true, echo], echo]);
  const eventsOf = async (chain: typeof branch): Promise<readonly string[]> => {
    const events: string[] = [];
    for await (const { event, name } of chain.streamEvents(QUESTION, { version: "v1" }))
      events.push(`${event} ${name}`);
    return events;
  };
  expect(await eventsOf(memory.track(branch))).toEqual(await eventsOf(branch));
});

it("the inputs of functions whose streams and events have ended, failed or were left are let go", async () => {
  const { memory, retriever } = await bench();
  const chain = memory.track(answering(retriever));
  const opened = async () => [await chain.stream(QUESTION), chain.streamEvents(QUESTION, { version: "v2" })];
  for (const chunks of await opened()) await readAll(chunks);
  for (const chunks of await opened()) await chunks.cancel();
  await expect(memory.track(failing(answering(retriever))).stream(QUESTION)).rejects.toThrow("boom");
  expect((markOf(memory.handler, MARKS.runTree) as RunTree).starting.size).toBe(0);
});

it.each(["v1", "v2"] as const)(
  "a graph whose events of version %s are sent to a client has ended with them",
  async (version) => {
    for (const [respond, verdict] of [
      [() => ({ answer: "done" }), 1],
      [failingNode, -1],
    ] as const) {
      const tools = await bench();
      const tracked = tools.memory.track(graph(tools, respond).compile());
      const events = tracked.streamEvents({ question: QUESTION }, { version, encoding: "text/event-stream" });
      await readAll(events).catch(() => undefined);
      expect(await credit(tools.memory)).toEqual({ restart: verdict, scale: verdict });
      expect(await nothingOpen(tools.memory)).toBe(true);
    }
  },
);
