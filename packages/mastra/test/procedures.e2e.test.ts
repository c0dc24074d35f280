import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { openProcedures, type Procedures } from "@qavr/markdown";
import { type LearningOptions, QavrMemory } from "@qavr/mastra";
import { procedureProcessor } from "@qavr/mastra/agents";
import { describe, expect, it, onTestFinished } from "vitest";
import { latest, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import { promptText, type Script } from "./support/scripted-model.js";
import { libsql, temporaryFolder } from "./support/stores.js";
import { tools } from "./support/tools.js";

const FILES = {
  deploy: "---\ndescription: ships a service\n---\nPush the tag.\n",
  rollback: "---\ndescription: takes a service back\n---\nPush the old tag.\n",
};

function agentWith(script: Script, qavr: LearningOptions = {}, fields: object = {}) {
  const { storage } = libsql();
  const memory = new QavrMemory({ storage, qavr: { store: memoryStore(), reportTool: false, ...qavr } });
  const root = temporaryFolder();
  mkdirSync(join(root, "procedures"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, "procedures", `${name}.md`), text);
  const procedures = openProcedures(root, { engine: memory.engine });
  onTestFinished(() => procedures.close());
  const agent = scriptedAgent(memory, script, {
    tools,
    inputProcessors: [procedureProcessor({ memory, procedures, ...fields })],
  });
  return { memory, procedures, agent };
}

const counts = async (procedures: Procedures) =>
  Object.fromEntries(
    (await procedures.list()).map(({ name, used, successes, failures }) => [name, [used, successes, failures]]),
  );
const on = { memory: { thread: "task", resource: USER } };

describe("an agent with procedures in Markdown", () => {
  it("is listed those that match, loads one, and the run's outcome is a verdict on that one", async () => {
    const { memory, procedures, agent } = agentWith(
      [{ tool: "load_procedure", args: { id: "procedure:deploy" } }, { text: "shipped" }],
      { evaluate: () => true },
    );
    await agent.generate("ship the service", on);
    await memory.flush();
    expect(promptText(agent.prompts[0])).toContain("\n- procedure:deploy: ships a service");
    expect(promptText(agent.prompts[0]).match(/- procedure:deploy/g)).toHaveLength(1);
    expect(JSON.stringify(agent.prompts[1])).toContain("Push the tag.");
    expect(await counts(procedures)).toEqual({ deploy: [1, 1, 0], rollback: [0, 0, 0] });
  });

  it("loads one that its request does not match, and the run's outcome is a verdict on that one", async () => {
    const { memory, procedures, agent } = agentWith(
      [{ tool: "load_procedure", args: { id: "procedure:deploy" } }, { text: "shipped" }],
      { evaluate: () => true },
    );
    await agent.generate("go on", on);
    await memory.flush();
    expect(promptText(agent.prompts[0])).not.toContain("- procedure:");
    expect(await counts(procedures)).toEqual({ deploy: [1, 1, 0], rollback: [0, 0, 0] });
    await memory.reportOutcome({ threadId: "task", resourceId: USER, reward: 0, tier: "verified" });
    expect(await counts(procedures)).toEqual({ deploy: [1, 0, 1], rollback: [0, 0, 0] });
  });

  it("reports on two procedures of one run, and both verdicts count once", async () => {
    const { memory, procedures, agent } = agentWith([
      { tool: "report_procedure_outcome", args: { id: "procedure:deploy", success: false, notes: "refused" } },
      { tool: "report_procedure_outcome", args: { id: "procedure:rollback", success: true } },
      { tool: "report_procedure_outcome", args: { id: "procedure:rollback" } },
      { tool: "report_procedure_outcome", args: { id: "../secrets", success: true } },
      { text: "done" },
    ]);
    await agent.generate("ship the service", on);
    await memory.flush();
    expect(await counts(procedures)).toEqual({ deploy: [1, 0, 1], rollback: [1, 1, 0] });
    const last = JSON.stringify(agent.prompts.at(-1));
    expect(last).toContain("Nothing was recorded");
    expect(last).toContain("a path is none");
  });

  it("has failed weakly where the last tool of its task failed, whatever it loads and reports then", async () => {
    const { memory, agent } = agentWith([
      { tool: "fails" },
      { tool: "load_procedure", args: { id: "procedure:rollback" } },
      { tool: "report_procedure_outcome", args: { id: "procedure:deploy", success: false } },
      { text: "sorry" },
    ]);
    await agent.generate("ship the service", on);
    expect((await latest(memory, "task"))?.outcome).toMatchObject({ reward: 0, tier: "completed" });
  });

  it("is listed them in the order of the search in a run without a thread, where the tools work all the same", async () => {
    const { codes, logger } = listener();
    const script: Script = [{ tool: "load_procedure", args: { id: "procedure:deploy" } }, { text: "ok" }];
    const { procedures, agent } = agentWith(script, { logger });
    await agent.generate("ship the service");
    expect(promptText(agent.prompts[0])).toContain("\n- procedure:deploy: ships a service");
    expect(JSON.stringify(agent.prompts[1])).toContain("Push the tag.");
    expect(codes).toContain("LISTED_OUTSIDE_RUN");
    expect((await counts(procedures)).deploy).toEqual([1, 0, 0]);
  });

  it.each([
    ["no procedures", { procedures: undefined }],
    ["a listing of none", { k: 0 }],
    ["a misspelt option", { budget: 5 }],
  ])("is refused %s", (_, fields) => {
    expect(() => agentWith([{ text: "ok" }], {}, fields)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});
