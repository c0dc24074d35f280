import { RunnableBranch } from "@langchain/core/runnables";
import type { IterableReadableStream } from "@langchain/core/utils/stream";
import { expect, it, vi } from "vitest";
import { bench, credit, nothingOpen, RUN_ID } from "./support/bench.js";

type Chunks = IterableReadableStream<string>;

async function readOne(chunks: ReadableStream<string>): Promise<ReadableStreamDefaultReader<string>> {
  const reader = chunks.getReader();
  await reader.read();
  return reader;
}

it.each<[how: string, leave: (chunks: Chunks) => Promise<unknown>]>([
  ["a loop that breaks", (chunks) => chunks.next().then(() => chunks.return())],
  ["cancel()", (chunks) => readOne(chunks).then((reader) => [reader.releaseLock(), chunks.cancel()])],
  ["the cancel() of a reader", (chunks) => readOne(chunks).then((reader) => reader.cancel())],
  [
    "a client that leaves, where it is piped on",
    (chunks) => readOne(chunks.pipeThrough(new TransformStream())).then((reader) => reader.cancel()),
  ],
  ["cancel() before the first chunk", (chunks) => chunks.cancel()],
])(
  "the stream of a tracked chain, also with another config, retries, fallbacks, listeners or branches, that is left by %s ends its run without an outcome",
  async (_, leave) => {
    const { memory, retriever, codes } = await bench();
    const chain = retriever.pipe(async function* () {
      for (let chunk = 0; chunk < 100; chunk++) yield `chunk ${chunk}`;
    });
    const tracked = memory.track(chain);
    const chains = [
      tracked,
      tracked.withConfig({ tags: ["web"] }).withConfig({ runName: "answer" }),
      tracked.withRetry().withConfig({ tags: ["web"] }),
      tracked.withFallbacks([tracked]),
      tracked.withConfig({ tags: ["web"] }).withListeners({ onStart() {} }),
      memory.track(RunnableBranch.from([[() => true, chain], chain])),
    ];
    for (const left of chains) {
      await leave((await left.stream("payment queue stuck", { runId: RUN_ID })) as unknown as Chunks);
      await vi.waitFor(async () => expect(await nothingOpen(memory)).toBe(true));
      expect(await credit(memory)).toEqual({});
    }
    expect(codes()).toEqual([]);
  },
);

it("the stream of a tracked chain is read no further than it is asked for", async () => {
  const { memory } = await bench();
  const { retriever } = await bench();
  const counted = async (isTracked: boolean): Promise<number> => {
    let made = 0;
    const chain = retriever.pipe(async function* () {
      for (let chunk = 0; chunk < 100; chunk++) {
        made += 1;
        yield `chunk ${chunk}`;
      }
    });
    const chunks = (await (isTracked ? memory.track(chain) : chain).stream("payment queue stuck")) as unknown as Chunks;
    await chunks.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return made;
  };
  expect(await counted(true)).toBe(await counted(false));
});

it("the stream of a tracked chain has the run id of its config", async () => {
  const { memory, retriever } = await bench();
  const [before, after] = [crypto.randomUUID(), crypto.randomUUID()];
  const chain = retriever.pipe(() => "answer");
  for await (const _ of await memory.track(chain.withConfig({ runId: before })).stream("payment queue stuck"));
  for await (const _ of await memory.track(chain).withConfig({ runId: after }).stream("payment queue stuck"));
  for (const runId of [before, after]) expect((await memory.report(runId, { success: true })).status).toBe("committed");
});
