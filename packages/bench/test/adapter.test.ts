import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { CONTENDERS, createContenders, MARKS } from "../src/adapter/contenders.js";
import { buildDocumentIndex } from "../src/adapter/document-index.js";
import { HANDLER_PARTS, handlerParts } from "../src/adapter/handler-parts.js";
import { modelCalls } from "../src/adapter/model-calls.js";
import { recordRun } from "../src/adapter/recorded-run.js";
import { adapterPage } from "../src/adapter/report.js";
import { adapterTargets, DELAYS, type Setting } from "../src/adapter/targets.js";
import { reportOf } from "../src/report/benchmark.js";
import { measureInterleaved } from "../src/speed/measure.js";
import { INDEX } from "../src/speed/vector-index.js";

const small = { ...INDEX, count: 200, dims: 32, queries: 4 };

describe("what the adapter's bench times", () => {
  it("is each retriever in a run, learned memories that go on learning, and cold ones that stay cold", async () => {
    const calls = modelCalls();
    const index = await buildDocumentIndex(calls, small);
    const contenders = await createContenders(index, calls, await mkdtemp(join(tmpdir(), "qavr-adapter-")));
    const plan = { rounds: 2, turns: 4, warmup: 0 };
    const { coldInMemory, learnedInMemory, coldOnDisk, learnedOnDisk } = contenders.memories;
    const before = await learnedOnDisk.status();
    const settings: Setting[] = [];
    for (const delay of DELAYS)
      settings.push({ delay, measurements: await measureInterleaved(contenders.parts, plan) });
    const names = Object.values(CONTENDERS);
    const marks = names.flatMap((name) => Object.values(MARKS).map((mark) => `${name}: ${mark}`));
    expect(settings[0]?.measurements.map(({ name }) => name).sort()).toEqual([...names, ...marks].sort());
    for (const memory of [coldInMemory, coldOnDisk]) {
      expect(await memory.status()).toMatchObject({ taught: 0, episodes: { recorded: 16, open: 0 } });
    }
    const after = await learnedOnDisk.status();
    expect(after.taught - before.taught).toBe(16);
    const handler = await measureInterleaved(await handlerParts(learnedInMemory), plan);
    expect(handler.map(({ name }) => name)).toEqual(Object.values(HANDLER_PARTS));
    expect(learnedInMemory.handler.openRuns).toBe(0);
    await contenders.close();
    const results = { settings, handler };
    // 2 settings × 4 memories × 2 stretches, dearer retrievers in 3 + 2 cases, 2 handlers.
    expect(adapterTargets(results)).toHaveLength(23);
    const page = adapterPage(reportOf("adapter", {}, results));
    expect(page).toContain("`pnpm bench adapter --full`");
    expect(page.match(/\(≤ (1\.15|1\.5|1\.03|2|1\.05)\)/g)).toHaveLength(8);
  });
});

describe("a recorded run", () => {
  it("is played in its order, with run ids that belong together and are new each time", async () => {
    const chain = RunnableLambda.from((value: number) => value).pipe((value: number) => value);
    const run = await recordRun((handler) => chain.invoke(1, { callbacks: [handler] }));
    const heard: [string, string, (string | undefined)?][] = [];
    const handler = BaseCallbackHandler.fromMethods({});
    handler.handleChainStart = (_chain, _inputs, runId, parent) => void heard.push(["start", runId, parent]);
    handler.handleChainEnd = (_outputs, runId) => void heard.push(["end", runId]);
    await run.play(handler, 1);
    await run.play(handler, 2);
    expect(heard).toHaveLength(12);
    const [root, first] = heard as [[string, string], [string, string, string]];
    expect(first[2]).toBe(root[1]);
    expect(heard.map(([what]) => what).slice(0, 6)).toEqual(["start", "start", "end", "start", "end", "end"]);
    expect(new Set(heard.map(([, id]) => id)).size).toBe(6);
  });
});
