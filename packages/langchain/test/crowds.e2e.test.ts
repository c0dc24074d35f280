import { setTimeout as sleep } from "node:timers/promises";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { qavrMiddleware, withAgents } from "../src/agents/index.js";
import { partsOf } from "../src/memory-parts.js";
import { REMEMBERED_RUNS } from "../src/runs/run-tree.js";
import { calling } from "./support/agent.js";
import { bench, credit, nothingOpen } from "./support/bench.js";

const runId = (run: number): string => `88888888-8888-4888-8888-${String(run).padStart(12, "0")}`;

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

describe("100 concurrent agent runs on one handler", () => {
  it("are kept apart, each with its own memories, report and end, and leave nothing behind", async () => {
    const { memory, vectors } = await bench();
    // Which memory a run is shown is written in its question, so that each run can be checked.
    const topics = {
      restart: "restart the payment service",
      coffee: "office coffee machine",
      suspending: "suspending permits",
    };
    const shown = Object.keys(topics) as (keyof typeof topics)[];
    const topicOf = (run: number) => shown[run % 3] as keyof typeof topics;
    const act = tool(
      async ({ run }) => {
        await sleep((run * 7) % 11);
        return "acted";
      },
      { name: "act", description: "acts", schema: z.object({ run: z.number() }) },
    );
    const agent = (run: number) => {
      const vote = { name: "report_outcome", args: { harmful: ["m1"], success: false }, id: "c2" };
      const steps = [[{ name: "act", args: { run }, id: "c1" }], ...(topicOf(run) === "coffee" ? [[vote]] : [])];
      const middleware = [qavrMiddleware({ memory, base: vectors, k: 1, reportTool: true })];
      return withAgents(memory).agent({ model: calling(...steps), tools: [act], middleware });
    };
    const invoke = (run: number) =>
      agent(run).invoke(
        { messages: [{ role: "user", content: topics[topicOf(run)] }] },
        // Every run of the third topic runs into the recursion limit, and fails.
        { runId: runId(run), ...(topicOf(run) === "suspending" ? { recursionLimit: 3 } : {}) },
      );
    const results = await Promise.allSettled(Array.from({ length: 100 }, (_, run) => invoke(run)));
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(33);
    for (let run = 0; run < 100; run++) {
      const view = await memory.explain(runId(run));
      expect(view?.exposures.map(({ items }) => items.map(({ id }) => id))).toEqual([[topicOf(run)]]);
      const tier = { restart: "completed", coffee: "self-reported", suspending: "observed" }[topicOf(run)];
      expect(view?.outcome?.tier).toBe(tier);
    }
    expect((await memory.status()).episodes).toMatchObject({ recorded: 100, open: 0, suspended: 0, abandoned: 0 });
    expect(await credit(memory)).toEqual({ restart: 1, coffee: -1, suspending: -1 });
    expect(await nothingOpen(memory)).toBe(true);
    expect(partsOf(memory).runs.held.open).toBe(0);
  });
});

describe("100,000 roots that nobody ends", () => {
  it("are held in bounded number, and the runs among them that end are learned from", async () => {
    const maxOpenEpisodes = 500;
    const setup = await bench({ engine: { maxOpenEpisodes } });
    const { memory, retriever } = setup;
    const { runs } = partsOf(memory);
    let most = 0;
    for (let run = 0; run < 100_000; run++) {
      memory.handler.handleChainStart({}, { question: run }, `root-${run}`);
      memory.handler.handleChainStart({}, {}, `node-${run}`, `root-${run}`);
      if (run % 200 === 0) {
        const manager = new CallbackManager(`node-${run}`);
        manager.addHandler(memory.handler, true);
        await retriever.invoke("payment queue stuck", { callbacks: manager });
      }
      most = Math.max(most, memory.handler.openRuns);
    }
    await memory.flush();
    expect(most).toBeLessThanOrEqual(maxOpenEpisodes + 1);
    expect(runs.held.open).toBeLessThanOrEqual(3 * maxOpenEpisodes);
    expect(runs.held.closed).toBeLessThanOrEqual(REMEMBERED_RUNS);
    expect((await memory.status()).episodes.open).toBeLessThanOrEqual(maxOpenEpisodes);
    expect(await credit(memory)).toEqual({});

    await memory.handler.handleChainEnd({}, "root-99800");
    expect(await credit(memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("are let go after their time also when the clock was set back", async () => {
    let now = 1_800_000_000_000;
    const { memory } = await bench({ engine: { clock: () => now } });
    const start = (run: string): void => memory.handler.handleChainStart({}, {}, run);
    now += YEAR;
    start("ahead");
    now -= YEAR;
    start("after");
    now += 2 * HOUR;
    start("last");
    expect(memory.handler.openRuns).toBe(1);
  });
});

describe("20,000 streams of events that nobody reads", () => {
  it("have their inputs held in bounded number", async () => {
    const { memory, retriever } = await bench();
    const chain = memory.track(retriever.pipe(() => "answer"));
    for (let run = 0; run < 2 * REMEMBERED_RUNS; run++) chain.streamEvents("payment queue stuck", { version: "v2" });
    expect(partsOf(memory).runs.starting.size).toBeLessThanOrEqual(REMEMBERED_RUNS);
  });
});
