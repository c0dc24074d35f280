// When a run ends, the quality of its answer is unknown. People rate it in LangSmith, later; a nightly sync turns their
// ratings into outcomes.
import { AIMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnablePassthrough, RunnableSequence } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { langsmithFeedback } from "@qavr/langchain/langsmith";
import { chatModel } from "./shared/chat-model.js";
import { langsmith } from "./shared/langsmith.js";
import { commandIn, INCIDENTS, runbook, solves } from "./shared/runbook.js";
import { printTable } from "./shared/table.js";

const NIGHTS = 8;

// The end of a run says nothing here, so nothing is learned from it: the verdict comes later.
const memory = qavr({ store: memoryStore(), evaluate: () => null });
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

/** A day's runs, each with the id by which people will rate it. */
async function day(): Promise<{ question: string; answer: string; runId: string }[]> {
  const runs = [];
  for (const { question } of INCIDENTS) {
    const runId = crypto.randomUUID();
    runs.push({ question, answer: commandIn(await chain.invoke(question, { runId })), runId });
  }
  return runs;
}

const { client, project } = await langsmith();
// In an application: with a cursor in a file, run by a scheduler.
const feedback = langsmithFeedback({ memory, client, keys: { solved: "score" } });

const before = await day();
let after = before;
for (let night = 1; night <= NIGHTS; night++) {
  for (const { question, answer, runId } of after) {
    await client.createFeedback({ runId, sessionId: project, key: "solved", score: solves(question, answer) });
  }
  await feedback.sync();
  after = await day();
}

const rows = before.map(({ question, answer }, i) => ({ question, before: answer, after: after[i]?.answer ?? "" }));
printTable(rows, solves);
await memory.close();
