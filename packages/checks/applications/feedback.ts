// An application of the main entry, feedback and reflection, without `langchain`: compiled and run at the ends of the peer ranges.
import type { Document } from "@langchain/core/documents";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { FakeListChatModel, FakeVectorStore, SyntheticEmbeddings } from "@langchain/core/utils/testing";
import { type FinishedRun, type Outcome, type OutcomeHandler, type Qavr, qavr } from "@qavr/langchain";
import { fileCursor, langsmithFeedback } from "@qavr/langchain/langsmith";
import { lintClaim, type ReflectionReport, Reflector, reflect } from "@qavr/langchain/reflection";
import { Client } from "langsmith";

const embeddings = new SyntheticEmbeddings({ vectorSize: 16 });
const vectors = await FakeVectorStore.fromTexts(["restart the database", "restart the worker"], {}, embeddings);
const memory: Qavr = qavr({
  store: ":memory:",
  evaluate: (run: FinishedRun) => (typeof run.output === "string" ? run.output.includes("worker") : null),
  logger: {},
});
const retriever = memory.retriever(vectors, { k: 1, filter: (document) => document.pageContent !== "" });
const chain = memory.track(
  RunnableLambda.from(async (question: string, config: RunnableConfig) => {
    const [first] = await retriever.invoke(question, config);
    return first?.pageContent ?? "";
  }),
);
const answer: string = await chain.invoke("restart the thing", { runId: "11111111-1111-4111-8111-111111111111" });
const again: string = await chain.invoke("restart the thing");
const outcome: Outcome = { success: true };
const receipt = await memory.report("11111111-1111-4111-8111-111111111111", outcome);
// @ts-expect-error An outcome has no such field.
export const wrong: Outcome = { succeeded: true };
const wrapped = memory.vectorStore(vectors);
const found: Document[] = (await wrapped.similaritySearch("worker", 1)) as Document[];
const tools = memory.tools(vectors, { name: "remember" });
const handler: OutcomeHandler = memory.handler;

const model = new FakeListChatModel({ responses: ['{"newClaims":[],"helpfulMemories":["m1"],"harmfulMemories":[]}'] });
const reflector = new Reflector({ memory, model, saveTo: vectors, structured: false });
const { documents, episode } = await memory.recall(vectors, "restart the thing", { k: 1 });
await episode.end();
const report: ReflectionReport = await reflector.invoke({
  runId: episode.id,
  input: "x",
  output: "y",
  memories: documents,
});
const reflection = await reflect({ model, run: { input: "x" }, memories: [], structured: false });

const client = new Client({ apiUrl: "http://localhost:1", apiKey: "none" });
const feedback = langsmithFeedback({ memory, client, keys: { thumbs: "score" }, cursor: fileCursor("cursor") });
const status = await feedback.record({ id: "f", key: "thumbs", run_id: "unknown", score: 1, created_at: "2026-01-01" });
await memory.close();

console.log(
  answer,
  "|",
  again,
  "|",
  receipt.status,
  found.length,
  tools.map(({ name }) => name).join(),
  handler.openRuns,
);
console.log(
  `${report.votes} votes ${reflection.ignored.length} ignored ${status.status} ${lintClaim("x").length} findings`,
);
