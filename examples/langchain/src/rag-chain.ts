// A retrieval chain that learns from the application's own check of each answer.
import { AIMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnablePassthrough, RunnableSequence } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { chatModel } from "./shared/chat-model.js";
import { commandIn, INCIDENTS, runbook, solves } from "./shared/runbook.js";
import { printTable } from "./shared/table.js";

const ROUNDS = 8;

// In an application: qavr(), which keeps its ledger in .qavr/ledger.db.
const memory = qavr({
  store: memoryStore(),
  evaluate: ({ input, output }) => solves(String(input), String(output)),
});
const retriever = memory.retriever(await runbook(), { k: 1 });

// Offline, the model does what the first note in its prompt says.
const model = await chatModel((messages) => new AIMessage(commandIn(messages.at(-1)?.text ?? "")));

const prompt = ChatPromptTemplate.fromTemplate(
  "Answer with the one command that solves the incident.\n\nNotes:\n{notes}\n\nIncident: {question}",
);
const chain = memory.track(
  RunnableSequence.from([
    { notes: retriever.pipe((documents) => memory.format(documents)), question: new RunnablePassthrough<string>() },
    prompt,
    model,
    new StringOutputParser(),
  ]),
);

const before: string[] = [];
let after: string[] = [];
for (let round = 0; round < ROUNDS; round++) {
  after = [];
  for (const { question } of INCIDENTS) after.push(commandIn(await chain.invoke(question)));
  if (round === 0) before.push(...after);
}

const rows = INCIDENTS.map(({ question }, i) => ({ question, before: before[i] as string, after: after[i] as string }));
printTable(rows, solves);
await memory.close();
