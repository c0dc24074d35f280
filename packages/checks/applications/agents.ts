// An application of the agents' entry: compiled and run at the ends of the peer ranges.
import { FakeRetriever } from "@langchain/core/utils/testing";
import { memoryStore } from "@qavr/core";
import { agentMemory, qavrMiddleware } from "@qavr/langchain/agents";
import { createAgent, FakeToolCallingModel, tool } from "langchain";
import { z } from "zod";

const base = new FakeRetriever({ output: [{ pageContent: "restart it", metadata: {}, id: "m" } as never] });
const memory = agentMemory({ store: memoryStore(), memories: { base, reportTool: true } });
const act = tool(() => "acted", { name: "act", description: "acts", schema: z.object({}) });
const model = new FakeToolCallingModel({ toolCalls: [[{ name: "act", args: {}, id: "c1" }], []] });
const question = { messages: [{ role: "user" as const, content: "help" }] };

const { messages } = await memory.agent({ model, tools: [act], systemPrompt: "kind" }).invoke(question);
const own = memory.track(createAgent({ model, tools: [act], middleware: [qavrMiddleware({ memory, base })] }));
await own.invoke(question);
// The model repeats its prompt.
console.log(messages.at(-1)?.text.match(/\[m\d+\] .*/)?.[0], (await memory.status()).outcomes.completed);
