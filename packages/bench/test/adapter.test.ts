import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { buildDocumentIndex } from "../src/adapter/document-index.js";
import { adapterParts, PARTS } from "../src/adapter/parts.js";
import { recordRun } from "../src/adapter/recorded-run.js";
import { adapterPage } from "../src/adapter/report.js";
import { adapterResults } from "../src/adapter/targets.js";
import { RETURNED, warmMemory } from "../src/adapter/warm-memory.js";
import { reportOf } from "../src/report/benchmark.js";
import { measureInterleaved } from "../src/speed/measure.js";
import { INDEX } from "../src/speed/vector-index.js";

const small = { ...INDEX, count: 400, dims: 32, queries: 6 };

describe("what the adapter's bench times", () => {
  it("is ranking by evidence, and runs that end: nothing is left open but bare rankings' own episodes", async () => {
    const index = await buildDocumentIndex(small);
    const warm = await warmMemory(index);
    expect(await warm.retriever.invoke(index.question(0))).toHaveLength(RETURNED);
    const before = await warm.memory.status();
    const measurements = await measureInterleaved(await adapterParts(index, warm), { rounds: 2, turns: 6, warmup: 0 });
    expect(measurements.map(({ name }) => name)).toEqual(Object.values(PARTS));
    const after = await warm.memory.status();
    // 12 calls each of the tracked part and of the end of a run succeed; 12 bare ones say nothing.
    expect(after.outcomes.completed - before.outcomes.completed).toBe(24);
    expect(after.episodes.recorded - before.episodes.recorded).toBe(36);
    expect(after.episodes.open).toBe(0);
    expect(warm.memory.handler.openRuns).toBe(0);
    const page = adapterPage(reportOf("adapter", {}, { measurements, results: adapterResults(measurements) }));
    expect(page).toContain("Command: `pnpm bench adapter --full`");
    expect(page.match(/\| ≤ (1\.3|50 µs) \|/g)).toHaveLength(4);
  });
});

describe("a recorded run", () => {
  it("is played in its order, with run ids that belong together and are new each time", async () => {
    const chain = RunnableLambda.from((value: number) => value).pipe((value: number) => value);
    const run = await recordRun((handler) => chain.invoke(1, { callbacks: [handler] }));
    expect(run.events).toBe(6);
    const heard: [string, string, (string | undefined)?][] = [];
    const handler = BaseCallbackHandler.fromMethods({});
    handler.handleChainStart = (_chain, _inputs, runId, parent) => void heard.push(["start", runId, parent]);
    handler.handleChainEnd = (_outputs, runId) => void heard.push(["end", runId]);
    await run.play(handler, 1);
    await run.play(handler, 2);
    const [root, first] = heard as [[string, string], [string, string, string]];
    expect(first[2]).toBe(root[1]);
    expect(heard.map(([what]) => what).slice(0, 6)).toEqual(["start", "start", "end", "start", "end", "end"]);
    expect(new Set(heard.map(([, id]) => id)).size).toBe(6);
  });
});
