import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { memoryStore } from "@qavr/core";
import { type Qavr, type QavrOptions, qavr } from "@qavr/langchain";
import { procedureMiddleware, qavrMiddleware } from "@qavr/langchain/agents";
import type { Procedures } from "@qavr/markdown";
import { type AgentMiddleware, createAgent, createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { proceduresIn } from "./support/procedures.js";
import { vault } from "./support/vault.js";

function memoryOf(options: QavrOptions = {}): Qavr {
  return closing(qavr({ store: memoryStore(), ...options }));
}

const FILES = {
  "procedures/deploy.md": "---\ndescription: ships a service\n---\nPush the tag.\n",
  "procedures/rollback.md": "---\ndescription: takes a service back\n---\nPush the old tag.\n",
  "procedures/notes.md": "---\ndescription: writes the release notes of a service\n---\nList the changes.\n",
};

const opened = (memory: Qavr): Procedures => proceduresIn(vault(FILES), { engine: memory.engine });

type Call = readonly [name: string, args: Record<string, unknown>];

/** An agent whose model makes these calls, one per step, and keeps prompts and the tools' answers. */
function agentWith(
  memory: Qavr,
  procedures: Procedures,
  calls: readonly Call[],
  fields: object = {},
  before?: AgentMiddleware,
) {
  const prompts: string[] = [];
  const answers: string[] = [];
  let step = 0;
  const model = createMiddleware({
    name: "model",
    wrapModelCall: async ({ systemMessage, messages }) => {
      prompts.push(systemMessage.text);
      const last = messages.at(-1);
      if (last?.type === "tool") answers.push(last.text);
      else step = 0;
      const [name, args] = calls[step++] ?? [];
      if (name === undefined) return new AIMessage("done");
      return new AIMessage({ content: "", tool_calls: [{ name, args: args ?? {}, id: crypto.randomUUID() }] });
    },
  });
  const agent = createAgent({
    model: fakeModel(),
    middleware: [
      before ?? createMiddleware({ name: "none" }),
      procedureMiddleware({ memory, procedures, ...fields }),
      model,
    ],
  });
  const tracked = memory.track(agent);
  const ask = (content: string) => tracked.invoke({ messages: [{ role: "user", content }] });
  return { ask, prompts, answers };
}

describe("an agent with procedures in Markdown", () => {
  it("is listed those that match by id, loads one, and the run's outcome is a verdict on that one", async () => {
    const memory = memoryOf({ evaluate: () => true });
    const procedures = opened(memory);
    const { ask, prompts, answers } = agentWith(memory, procedures, [["load_procedure", { id: "procedure:deploy" }]]);
    await ask("ship the service");
    await memory.flush();
    expect(prompts[0]).toContain("\n- procedure:deploy: ships a service");
    expect(answers).toEqual(["Push the tag.\n"]);
    const known = Object.fromEntries((await procedures.list()).map((each) => [each.name, each]));
    expect(known.deploy).toMatchObject({ shown: 1, used: 1, successes: 1, failures: 0 });
    expect(known.rollback).toMatchObject({ shown: 1, used: 0, successes: 0, failures: 0 });
    expect((await memory.status()).episodes.open).toBe(0);
  });

  it("reports on two procedures of one run, each verdict counts once, and the better tier counts", async () => {
    const memory = memoryOf();
    const procedures = opened(memory);
    const { ask, answers } = agentWith(memory, procedures, [
      ["load_procedure", { id: "procedure:deploy" }],
      ["report_procedure_outcome", { id: "procedure:deploy", success: false, notes: "the tag was refused" }],
      ["report_procedure_outcome", { id: "procedure:rollback", success: true }],
    ]);
    await ask("ship the service");
    await memory.flush();
    expect(answers.slice(1)).toEqual(["Recorded.", "Recorded."]);
    const counts = async () =>
      Object.fromEntries((await procedures.list()).map((each) => [each.name, [each.successes, each.failures]]));
    expect(await counts()).toEqual({ deploy: [0, 1], rollback: [1, 0], notes: [0, 0] });
  });

  it("P20: may leave the outcome open, and names, paths and wrong types are answered", async () => {
    const memory = memoryOf();
    const procedures = opened(memory);
    const { ask, answers } = agentWith(memory, procedures, [
      ["report_procedure_outcome", { id: "procedure:deploy" }],
      ["report_procedure_outcome", { id: "../../etc/passwd", success: true }],
      ["load_procedure", { id: "procedure:unknown" }],
      ["load_procedure", { id: 7 }],
    ]);
    await ask("ship the service");
    await memory.flush();
    expect(
      answers.map((answer) => /Nothing was recorded|a path is none|no procedure has the id/.exec(answer)?.[0]),
    ).toEqual(["Nothing was recorded", "a path is none", "no procedure has the id", "a path is none"]);
    expect((await procedures.list()).every(({ successes, failures }) => successes + failures === 0)).toBe(true);
  });

  it("is given the version of its listing beside notes of another namespace, and the outcome counts for it", async () => {
    const memory = memoryOf({ evaluate: () => true });
    const procedures = opened(memory);
    await procedures.revise("procedure:deploy", "Wait, then push the tag.\n");
    const notes = { name: "notes", search: async () => [{ id: "n", text: "Mind the lock.", similarity: 1 }] };
    const before = qavrMiddleware({ memory, base: notes, namespace: "team" });
    const calls: Call[] = [["load_procedure", { id: "procedure:deploy" }]];
    const { ask, answers } = agentWith(memory, procedures, calls, {}, before);
    for (let run = 0; run < 8; run++) await ask("ship the service");
    await memory.flush();
    const read = answers.filter((answer) => answer === "Push the tag.\n").length;
    const { deploy } = Object.fromEntries((await procedures.list()).map((each) => [each.name, each]));
    expect(deploy).toMatchObject({ shown: read, used: read, successes: read });
    expect((await memory.engine.memories({ namespace: "team", collection: "procedures" })).memories).toEqual([]);
  });

  it("loads one that its request does not match, and the run's outcome is a verdict on that one", async () => {
    const memory = memoryOf({ evaluate: () => false });
    const procedures = opened(memory);
    const { ask, prompts } = agentWith(memory, procedures, [["load_procedure", { id: "procedure:deploy" }]]);
    await ask("go on");
    await memory.flush();
    expect(prompts[0]).not.toContain("- procedure:");
    const { deploy } = Object.fromEntries((await procedures.list()).map((each) => [each.name, each]));
    expect(deploy).toMatchObject({ shown: 1, used: 1, successes: 0, failures: 1 });
    expect((await memory.status()).episodes).toMatchObject({ open: 0, recorded: 1 });
  });

  it("lists as many as fit, and the one that helped comes first", async () => {
    const memory = memoryOf();
    const procedures = opened(memory);
    const { ask, prompts } = agentWith(memory, procedures, [], { k: 1 });
    for (const name of ["deploy", "deploy", "notes"]) {
      await procedures.report(`procedure:${name}`, { success: name === "notes" });
    }
    for (let run = 0; run < 4; run++) await ask("a service");
    expect(prompts.at(-1)?.match(/^- /gm)).toHaveLength(1);
    const small = agentWith(memory, procedures, [], { maxCharacters: 1 });
    await small.ask("a service");
    expect(small.prompts[0]).not.toContain("- procedure:");
  });

  it.each([
    ["no procedures", { procedures: undefined }],
    ["a listing of none", { k: 0 }],
    ["a misspelt option", { budget: 5 }],
  ])("is refused %s", async (_, fields) => {
    const memory = memoryOf();
    const given = { memory, procedures: opened(memory), ...fields } as never;
    expect(() => procedureMiddleware(given)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
