import type { Agent, AgentConfig } from "@mastra/core/agent";
import { describe, expect, it, vi } from "vitest";
import { bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";

const usage = { promptTokens: 1, completionTokens: 1 };
const rawCall = { rawPrompt: null, rawSettings: {} };

/** A language model of the AI SDK 4, which Mastra's legacy methods alone take. */
const model = {
  specificationVersion: "v1",
  provider: "legacy",
  modelId: "legacy",
  defaultObjectGenerationMode: "json",
  doGenerate: async () => ({ text: "with helm", finishReason: "stop", usage, rawCall }),
  doStream: async () => ({
    stream: ReadableStream.from([
      { type: "text-delta", textDelta: "with helm" },
      { type: "finish", finishReason: "stop", usage },
    ]),
    rawCall,
  }),
};

describe("a run of a legacy method", () => {
  const on = { threadId: "task", resourceId: USER };

  it.each<[string, (agent: Agent) => Promise<unknown>]>([
    ["generated", (agent) => agent.generateLegacy("how is the service deployed", on)],
    [
      "streamed",
      async (agent) => {
        const { textStream } = await agent.streamLegacy("how is the service deployed", on);
        for await (const _text of textStream);
      },
    ],
  ])("that is %s is shown memories and judged by nobody, which is said once", async (_how, run) => {
    const warn = vi.fn();
    const evaluate = vi.fn(() => false);
    const { memory } = bench({ evaluate, logger: { warn } });
    const note = await remember(memory, "deploy the service with helm upgrade");
    evaluate.mockClear();
    const agent = scriptedAgent(memory, [], { model } as unknown as Partial<AgentConfig>);
    await run(agent);
    await run(agent);
    await expect.poll(async () => (await latest(memory, "task"))?.state).toBe("ended");
    const episode = await latest(memory, "task");
    expect(episode?.exposures[0]?.items[0]?.id).toBe(note);
    expect(episode?.outcome).toBeUndefined();
    expect(evaluate).not.toHaveBeenCalled();
    expect(warn.mock.calls.map(([, fields]) => fields)).toEqual([{ code: "END_UNKNOWN" }]);
    await memory.reportOutcome({ threadId: "task", success: true });
    expect((await latest(memory, "task"))?.outcome).toMatchObject({ reward: 1, tier: "user" });
  });
});
