// An agent that is shown notes by middleware, acts on them, and reports which of them helped.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { memoryStore } from "@qavr/core";
import { agentMemory } from "@qavr/langchain/agents";
import { tool } from "langchain";
import { z } from "zod";
import { chatModel } from "./shared/chat-model.js";
import { commandIn, INCIDENTS, runbook, solves } from "./shared/runbook.js";
import { printTable } from "./shared/table.js";

const ROUNDS = 8;

// In an application: agentMemory({ memories: … }), which keeps its ledger in .qavr/ledger.db.
const memory = agentMemory({
  store: memoryStore(),
  memories: { base: await runbook(), k: 1, reportTool: true },
});

/** The agent's last attempt and its incident: the fake of a machine in trouble. */
const machine = { incident: "", tried: "none" };
const run = tool(
  ({ command }) => {
    machine.tried = command;
    return solves(machine.incident, command) ? "ok, solved" : "no change";
  },
  { name: "run", description: "Runs a command on the machine.", schema: z.object({ command: z.string() }) },
);

const agent = memory.agent({
  model: await chatModel(reply),
  tools: [run],
  systemPrompt: "Run the one command that solves the incident. Then report whether it did, and on the memories.",
});

const before: string[] = [];
let after: string[] = [];
for (let round = 0; round < ROUNDS; round++) {
  after = [];
  for (const { question } of INCIDENTS) {
    machine.incident = question;
    await agent.invoke({ messages: [{ role: "user", content: question }] });
    after.push(machine.tried);
  }
  if (round === 0) before.push(...after);
}

const rows = INCIDENTS.map(({ question }, i) => ({ question, before: before[i] as string, after: after[i] as string }));
printTable(rows, solves);
await memory.close();

/** Offline: runs what the memory in the system prompt says, then reports what the tool answered, then stops. */
function reply(messages: readonly BaseMessage[]): AIMessage {
  const answers = messages.filter(({ type }) => type === "tool").map(({ text }) => text);
  const [result] = answers;
  if (result === undefined) return calling("run", { command: commandIn(messages[0]?.text ?? "") });
  const solved = result.startsWith("ok");
  if (answers.length === 1)
    return calling("report_outcome", { success: solved, [solved ? "helpful" : "harmful"]: ["m1"] });
  return new AIMessage(solved ? "Solved." : "Not solved.");
}

function calling(name: string, args: Record<string, unknown>): AIMessage {
  return new AIMessage({ content: "", tool_calls: [{ name, args, id: `${name}-1` }] });
}
