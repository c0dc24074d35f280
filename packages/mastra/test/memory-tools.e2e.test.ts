import { REPORT_SCHEMA } from "@qavr/core/adapter";
import { beforeEach, describe, expect, it } from "vitest";
import { type Bench, bench, latest, on, QUESTION, remember, scriptedAgent, THREAD } from "./support/bench.js";
import { type Expected, expectRun, NOTHING, SUCCESS, WEAK_FAILURE } from "./support/expected-runs.js";
import { promptText, type Script } from "./support/scripted-model.js";
import { tools } from "./support/tools.js";

const report = (args: unknown): { readonly tool: string; readonly args: unknown } => ({
  tool: "report_memory_outcome",
  args,
});
const keepsNotes = { tool: "updateWorkingMemory", args: { memory: "# the user deploys" } };

describe("the memory's own tools", () => {
  let given: Bench;
  let note: string;

  beforeEach(async () => {
    given = bench(
      {},
      {
        options: {
          lastMessages: 2,
          semanticRecall: { topK: 1, messageRange: 0 },
          workingMemory: { enabled: true, template: "# notes" },
        },
      },
    );
    note = await remember(given.memory, "deploy the service with helm upgrade");
  });

  async function run(script: Script, maxSteps = 5): Promise<ReturnType<typeof scriptedAgent>> {
    const agent = scriptedAgent(given.memory, script, { tools });
    await agent.generate(QUESTION, { memory: on, maxSteps });
    return agent;
  }

  it.each<[string, Expected, Script]>([
    ["a report without a word leaves a success one", SUCCESS, [report({}), { text: "with helm" }]],
    ["a report of a wrong type leaves a success one", SUCCESS, [report({ success: "yes" }), { text: "with helm" }]],
    [
      "a report hides no tool that failed",
      WEAK_FAILURE,
      [{ tool: "fails" }, report({ note: "it broke" }), { text: "sorry" }],
    ],
    ["working memory hides no tool that failed", WEAK_FAILURE, [{ tool: "fails" }, keepsNotes, { text: "sorry" }]],
    [
      "a report does not stop a tool from making good for another",
      SUCCESS,
      [{ tool: "fails" }, report({}), { tool: "works" }, { text: "done" }],
    ],
    [
      "one that is called beside a tool of the task changes nothing",
      WEAK_FAILURE,
      [{ tools: [{ tool: "fails" }, keepsNotes] }, { text: "sorry" }],
    ],
  ])("say nothing about the task: %s", async (_what, expected, script) => {
    await run(script);
    await expectRun(given, await latest(given.memory, THREAD), expected, note);
  });

  it.each<[string, Expected, Script, number]>([
    ["with nothing said, says nothing", NOTHING, [report({})], 1],
    ["after a tool that worked, says nothing", NOTHING, [{ tool: "works" }, keepsNotes], 2],
    ["after a tool that failed, has weakly failed", WEAK_FAILURE, [{ tool: "fails" }, keepsNotes], 2],
    ["beside a tool of the task, has used up its steps", WEAK_FAILURE, [{ tools: [{ tool: "works" }, keepsNotes] }], 1],
  ])("may be the last step of a run that, %s", async (_what, expected, script, maxSteps) => {
    await run(script, maxSteps);
    await expectRun(given, await latest(given.memory, THREAD), expected, note);
  });

  it("may be the last step of a run that reports", async () => {
    await run([report({ success: true, helpful: ["m1"] })], 1);
    expect((await latest(given.memory, THREAD))?.outcome).toMatchObject({ reward: 1, tier: "self-reported" });
  });

  it("keep the verdicts of two reports on two memories; thumbs go the same way, and may be taken back", async () => {
    given = bench({}, { options: { semanticRecall: { topK: 2, messageRange: 0 } } });
    const { memory } = given;
    await remember(memory, "deploy the service with helm upgrade");
    await remember(memory, "how the service is deployed");
    const script = [report({ success: true, helpful: ["m1"] }), report({ harmful: ["m2"] }), { text: "done" }];
    const { runId } = await scriptedAgent(memory, script, { tools }).generate(QUESTION, { memory: on });
    const run = { runId: runId as string };
    const [m1, m2] = (await memory.explain(run))?.exposures[0]?.items ?? [];
    const ids = [m1?.id as string, m2?.id as string];
    const votes = async (): Promise<unknown[]> =>
      (await memory.memories({ ids })).memories.map(({ helpful, harmful }) => helpful - harmful);
    expect(await votes()).toEqual([1, -1]);
    await expect(memory.reportOutcome({ ...run, harmful: ["m7"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
    await memory.reportOutcome({ ...run, harmful: ["m1"] });
    await memory.reportOutcome({ ...run, helpful: ["m2"] });
    expect(await votes()).toEqual([-1, 1]);
    await memory.reportOutcome({ ...run, neutral: ["m1"] });
    expect(await votes()).toEqual([0, 1]);
    const { events } = await memory.history();
    expect(events.flatMap((event) => (event.type === "outcome" ? event.neutral : []))).toEqual([m1?.id]);
  });

  it("take what a model sends of the wrong type, keep the rest and name what they left out", async () => {
    const agent = await run([report({ success: false, helpful: 7, harmful: "m1" }), { text: "done" }]);
    const answer = JSON.stringify(agent.prompts[1]);
    expect(answer).toContain("Recorded.");
    expect(answer).toContain("Ignored helpful: it must be a list of handles.");
    expect((await latest(given.memory, THREAD))?.outcome).toMatchObject({ reward: 0, tier: "self-reported" });
  });

  it("offer the strict schema to the model", () => {
    const { report_memory_outcome: tool } = given.memory.listTools();
    const { jsonSchema } = (tool as unknown as { inputSchema: Record<string, { jsonSchema: { input(): object } }> })
      .inputSchema["~standard"] as { jsonSchema: { input(): object } };
    expect(jsonSchema.input()).toEqual(REPORT_SCHEMA);
    expect(jsonSchema.input()).not.toBe(REPORT_SCHEMA);
  });
});

describe("the report tool", () => {
  it.each<[string, Parameters<typeof bench>[0], object, string[], boolean]>([
    ["is not offered to an agent without tools of its own", {}, {}, [], false],
    [
      "is offered beside an agent's own tools",
      {},
      { tools: { works: tools.works } },
      ["report_memory_outcome", "works"],
      true,
    ],
    ["is offered alone where it was asked for", { reportTool: true }, {}, ["report_memory_outcome"], true],
  ])("%s, and handles are named with it", async (_what, qavr, config, offered, named) => {
    const { memory } = bench(qavr);
    await remember(memory, "deploy the service with helm upgrade");
    const agent = scriptedAgent(memory, [{ text: "with helm" }], config);
    await agent.generate(QUESTION, { memory: on });
    expect(agent.offered[0]?.toSorted()).toEqual(offered);
    expect(promptText(agent.prompts[0])).toContain("helm upgrade");
    expect(promptText(agent.prompts[0]).includes("[m1]")).toBe(named);
  });
});
