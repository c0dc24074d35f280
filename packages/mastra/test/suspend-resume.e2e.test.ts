import { fileURLToPath } from "node:url";
import { Mastra } from "@mastra/core/mastra";
import type { EpisodeView, NamespaceStatus } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { REPORT_TOOL_NAME } from "../src/outcomes/report-outcome-tool.js";
import { answerOf } from "./support/answer-of.js";
import { bench, latest, NOTE, on, QUESTION, remember, scriptedAgent, THREAD } from "./support/bench.js";
import { consume } from "./support/expected-runs.js";
import type { PromptMessage, Script, Turn } from "./support/scripted-model.js";
import { temporaryFolder } from "./support/stores.js";
import { tools } from "./support/tools.js";

const FIXTURE = fileURLToPath(new URL("fixtures/suspended-run.mjs", import.meta.url));

describe("a run that is suspended by one process and resumed by another", () => {
  it("credits the memories that the first one showed, once, even when that was killed", async () => {
    const folder = temporaryFolder();
    const { runId } = await answerOf<{ runId: string }>(FIXTURE, "start", folder);
    const { episode, status } = await answerOf<{ episode: EpisodeView; status: NamespaceStatus }>(
      FIXTURE,
      "resume",
      folder,
      runId,
    );
    const { outcomes, episodes } = status;
    expect(episode.state).toBe("ended");
    expect(episode.exposures.map(({ items }) => items.length)).toEqual([1]);
    expect(episode.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(outcomes.completed).toBe(1);
    expect([episodes.recorded, episodes.suspended, episodes.abandoned]).toEqual([1, 0, 0]);
  });
});

describe("a run whose tool a later run of its thread answers", () => {
  /** Mastra tells the model which tools wait. */
  const waiting = (prompt: readonly PromptMessage[], id: string): string =>
    new RegExp(`"${id}":"([^"]+)"`).exec(prompt.map(({ content }) => content).join("\n"))?.[1] ?? "";

  /** A run that a tool suspends, and a later one that answers the tool and ends in these turns. */
  async function runTwice(
    named: (prompt: readonly PromptMessage[]) => object,
    { threshold = 0, end = [] }: { readonly threshold?: number; readonly end?: readonly Turn[] } = {},
  ) {
    const { memory, storage } = bench();
    await remember(memory, NOTE);
    const script: Script = (prompt, call) =>
      call >= 2
        ? (end[call - 2] ?? { text: "with helm" })
        : { tool: "asks", args: call === 0 ? {} : { resumeData: { go: true }, ...named(prompt) } };
    const agent = scriptedAgent(memory, script, { tools });
    new Mastra({ agents: { agent }, storage, logger: false });
    const first = await agent.stream(QUESTION, { memory: on, autoResumeSuspendedTools: true });
    await consume(first);
    expect(await latest(memory, THREAD)).toMatchObject({ state: "suspended" });
    const options = { semanticRecall: { topK: 1, messageRange: 0, threshold } };
    const later = await agent.stream("go on", { memory: { ...on, options }, autoResumeSuspendedTools: true });
    await consume(later);
    await memory.flush();
    return { memory, first: { runId: first.runId }, later: { runId: later.runId } };
  }

  const byCall = (prompt: readonly PromptMessage[]) => ({ suspendedToolCallId: waiting(prompt, "toolCallId") });

  it.each<[string, (prompt: readonly PromptMessage[]) => object, object]>([
    ["by the call's id ends as that one", byCall, { state: "ended", outcome: { reward: 1 } }],
    [
      "by the run's id ends as that one",
      (prompt) => ({ suspendedToolRunId: waiting(prompt, "runId") }),
      { state: "ended", outcome: { reward: 1 } },
    ],
    ["by another id waits on", () => ({ suspendedToolCallId: "call-9" }), { state: "suspended" }],
  ])("%s", async (_how, named, expected) => {
    const { memory, first, later } = await runTwice(named);
    expect(await memory.explain(first)).toMatchObject(expected);
    expect(await memory.explain(later)).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    expect((await memory.explain(later))?.episode).not.toBe((await memory.explain(first))?.episode);
    expect((await memory.status()).outcomes.completed).toBe("outcome" in expected ? 2 : 1);
  });

  it("waits on where that one calls the tool without an answer", async () => {
    const { memory, first, later } = await runTwice((prompt) => ({ ...byCall(prompt), resumeData: null }));
    for (const run of [first, later]) expect(await memory.explain(run)).toMatchObject({ state: "suspended" });
  });

  it.each([
    ["memories", 0],
    ["none", 2],
  ])("takes the agent's report in that one, which was shown %s itself", async (_what, threshold) => {
    const end = [{ tool: REPORT_TOOL_NAME, args: { success: false } }];
    const { memory, first } = await runTwice(byCall, { threshold, end });
    expect((await memory.explain(first))?.outcome).toMatchObject({ reward: 0, tier: "self-reported" });
  });

  it("takes the reports on that one, which was shown nothing itself", async () => {
    const { memory, first, later } = await runTwice(byCall, { threshold: 2 });
    await memory.reportOutcome({ ...later, success: false });
    expect((await memory.explain(first))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    expect((await memory.status()).episodes).toMatchObject({ recorded: 1, suspended: 0, open: 0 });
  });
});
