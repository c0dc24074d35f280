// A graph that proposes a command and waits for a person. Another process takes the answer, and what it says is learned about
// the notes that the first process showed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { qavr } from "@qavr/langchain";
import { chatModel } from "./shared/chat-model.js";
import { commandIn, INCIDENTS, runbook, solves } from "./shared/runbook.js";
import { printTable } from "./shared/table.js";

const ROUNDS = 8;
const folder = await mkdtemp(join(tmpdir(), "qavr-example-"));
const vectors = await runbook();
// In an application: a checkpointer in a database, which both processes reach as they reach the ledger.
const checkpointer = new MemorySaver();
const model = await chatModel((messages) => new AIMessage(commandIn(messages.at(-1)?.text ?? "")));

const State = Annotation.Root({
  question: Annotation<string>,
  notes: Annotation<string>,
  proposal: Annotation<string>,
  approved: Annotation<boolean>,
});

/** The setup of one process: its own memory on the shared ledger, and its own copy of the graph. */
function startProcess() {
  const memory = qavr({
    store: join(folder, "ledger.db"),
    evaluate: ({ output }) => (output as typeof State.State).approved,
  });
  const retriever = memory.retriever(vectors, { k: 1 });
  const graph = new StateGraph(State)
    .addNode("retrieve", async ({ question }) => ({ notes: memory.format(await retriever.invoke(question)) }))
    .addNode("propose", async ({ question, notes }) => {
      const prompt = `Answer with the one command that solves the incident.\n${question}\nNotes:\n${notes}`;
      return { proposal: commandIn((await model.invoke(prompt)).text) };
    })
    .addNode("approve", ({ proposal }) => interrupt<string, { approved: boolean }>(proposal))
    .addEdge(START, "retrieve")
    .addEdge("retrieve", "propose")
    .addEdge("propose", "approve")
    .addEdge("approve", END)
    .compile({ checkpointer });
  return { memory, graph: memory.track(graph) };
}

const before: string[] = [];
let after: string[] = [];
for (let round = 0; round < ROUNDS; round++) {
  after = [];
  for (const { question } of INCIDENTS) {
    const thread = { configurable: { thread_id: `${round}: ${question}` } };
    const asking = startProcess();
    const { proposal } = await asking.graph.invoke({ question }, thread);
    after.push(proposal);
    await asking.memory.close();

    const answering = startProcess();
    await answering.graph.invoke(new Command({ resume: { approved: solves(question, proposal) } }), thread);
    await answering.memory.close();
  }
  if (round === 0) before.push(...after);
}

const rows = INCIDENTS.map(({ question }, i) => ({ question, before: before[i] as string, after: after[i] as string }));
printTable(rows, solves);
await rm(folder, { recursive: true, force: true });
