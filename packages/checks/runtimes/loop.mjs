// The loop on each kind of store, in plain JavaScript: every runtime runs this file.
import { FewShotPromptTemplate, PromptTemplate } from "@langchain/core/prompts";
import { RunnableLambda } from "@langchain/core/runnables";
import { VectorStore } from "@langchain/core/vectorstores";
import { createEngine, memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { sqliteStore } from "@qavr/sqlite";

const RUNS = 6;

/** Finds the wrong note first, always. */
class Notes extends VectorStore {
  _vectorstoreType() {
    return "notes";
  }

  async similaritySearchVectorWithScore(_query, k) {
    const notes = [
      [{ id: "wrong", pageContent: "wrong note", metadata: { note: "wrong" } }, 0.81],
      [{ id: "right", pageContent: "right note", metadata: { note: "right" } }, 0.8],
    ];
    return notes.slice(0, k);
  }
}

const embeddings = { embedQuery: async () => [1, 0], embedDocuments: async () => [] };

/** The notes that the engine shows, the first and the last. */
async function core(store) {
  const engine = createEngine({ store });
  const shown = [];
  for (let run = 0; run < RUNS; run++) {
    const candidates = [
      { id: "wrong", similarity: 0.81 },
      { id: "right", similarity: 0.8 },
    ];
    const { items, episode } = await engine.rank({ vector: [1, 0], candidates, topK: 1 });
    shown.push(items[0].id);
    await engine.end(episode, { reward: items[0].id === "right" });
  }
  await engine.close();
  return [shown[0], shown.at(-1)];
}

/** The notes that a LangChain chain answers with, the first and the last. */
async function langchain(store) {
  const memory = qavr({ store, evaluate: ({ output }) => output === "right note" });
  const retriever = memory.retriever(new Notes(embeddings, {}), { k: 1 });
  const chain = memory.track(
    RunnableLambda.from(async (question, config) => (await retriever.invoke(question, config))[0].pageContent),
  );
  const shown = [];
  for (let run = 0; run < RUNS; run++) shown.push(await chain.invoke("which note?"));
  await memory.close();
  return [shown[0], shown.at(-1)];
}

/** The examples of a prompt, the first and the last; where prompts cannot be followed, the refusal. */
async function examples() {
  const memory = qavr({ store: memoryStore(), evaluate: ({ output }) => output === "right" });
  try {
    const exampleSelector = memory.exampleSelector(new Notes(embeddings, {}), { k: 1 });
    const examplePrompt = PromptTemplate.fromTemplate("{note}");
    const fields = { exampleSelector, examplePrompt, exampleSeparator: "", inputVariables: ["question"] };
    const chain = memory.track(new FewShotPromptTemplate(fields).pipe((prompt) => prompt.toString()));
    const shown = [];
    for (let run = 0; run < RUNS; run++) shown.push(await chain.invoke({ question: "which note?" }));
    return [shown[0], shown.at(-1)];
  } catch ({ code, message }) {
    return `${code} ${message}`;
  }
}

/** @param {string} [folder] for ledgers in files, which are opened twice; without it there are none */
export async function loop(folder) {
  const inMemory = {
    core: await core(memoryStore()),
    langchain: await langchain(memoryStore()),
    examples: await examples(),
  };
  if (folder === undefined) return { ...inMemory, withoutStore: await refusal() };
  const [first, second] = [`${folder}/core.db`, `${folder}/langchain.db`];
  return {
    ...inMemory,
    coreSqlite: [await core(sqliteStore(first)), await core(sqliteStore(first))],
    langchainSqlite: [await langchain(second), await langchain(second)],
  };
}

/** How a memory without a store is refused. */
async function refusal() {
  const memory = qavr({ logger: {} });
  return memory.status().catch(({ code, message }) => `${code} ${message}`);
}
