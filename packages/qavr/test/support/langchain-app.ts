import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { Document } from "@langchain/core/documents";
import { Embeddings, type EmbeddingsInterface } from "@langchain/core/embeddings";
import { RunnableLambda } from "@langchain/core/runnables";
import { contentHash } from "@qavr/core/learner";
import { type Qavr, type QavrOptions, qavr } from "@qavr/langchain";
import { newPath, START } from "./ledgers.js";

/** How an application is wired; the defaults are wired well. */
export interface App {
  readonly runs?: number;
  /** Notes in the store. */
  readonly notes?: number;
  readonly k?: number;
  readonly options?: QavrOptions;
  readonly embeddings?: EmbeddingsInterface;
  /** Ids of the notes at a run. */
  readonly idOf?: (note: number, run: number) => string;
  /** `untracked` retrieves outside any run, `unended` in runs whose end is never reported. @default "tracked" */
  readonly runsAre?: "tracked" | "untracked" | "unended";
  /** The question of a run. */
  readonly question?: (run: number) => string;
  /** True for searches by the wrapped store's own maximal marginal relevance. */
  readonly mmr?: boolean;
  /** Called after each run. */
  readonly after?: (memory: Qavr, runId: string, run: number) => Promise<unknown>;
}

/** A direction for each text: equal texts are equal, others are as far apart as chance has it. */
class RandomEmbeddings extends Embeddings {
  constructor() {
    super({});
  }

  async embedQuery(text: string): Promise<number[]> {
    let state = contentHash(text);
    return Array.from({ length: 16 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return 0.3 + state / 2 ** 32;
    });
  }

  embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

/** A judge by a run's answer: one note in three helps. */
export const judge = ({ output }: { readonly output: unknown }): boolean => helps(String(output).split(",")[0] ?? "");

/** Runs a LangChain application on a new SQLite ledger, and returns the ledger's path. */
export async function runLangChainApp({
  runs = 60,
  notes = 15,
  k = 3,
  options = { evaluate: judge },
  embeddings = new RandomEmbeddings(),
  idOf = (note) => `note-${note}`,
  runsAre = "tracked",
  question = (run) => `how do I fix case ${run % 23}?`,
  mmr = false,
  after,
}: App = {}): Promise<string> {
  const path = newPath();
  // A step per reading, so that no two entries share a moment.
  let now = START;
  const memory = qavr({
    store: path,
    logger: {},
    ...options,
    engine: { clock: () => (now += 1_000), ...options.engine },
  });
  const documents = (run: number): Document[] =>
    Array.from(
      { length: notes },
      (_, note) =>
        new Document({
          id: idOf(note, run),
          pageContent: `note ${note} says ${"abcdefghij".repeat(3).slice(note, note + 9)}`,
        }),
    );
  let vectors = await MemoryVectorStore.fromDocuments(documents(0), embeddings);
  for (let run = 0; run < runs; run++) {
    // A store that is filled anew gives its notes new ids.
    if (idOf(0, run) !== idOf(0, 0)) vectors = await MemoryVectorStore.fromDocuments(documents(run), embeddings);
    const wrapped = memory.vectorStore(vectors);
    const retriever = mmr ? wrapped.asRetriever({ k, searchType: "mmr" }) : memory.retriever(vectors, { k });
    const runId = crypto.randomUUID();
    if (runsAre === "tracked") {
      const chain = RunnableLambda.from(async (input: string, config) =>
        answerFrom(await retriever.invoke(input, config)),
      );
      await memory.track(chain).invoke(question(run), { runId });
    } else if (runsAre === "unended") {
      memory.handler.handleChainStart({}, {}, runId);
      await retriever.invoke(question(run), { callbacks: new CallbackManager(runId) });
    } else {
      await retriever.invoke(question(run));
    }
    await after?.(memory, runId, run);
  }
  await memory.close();
  return path;
}

function answerFrom(found: readonly { readonly pageContent: string }[]): string {
  return found.map(({ pageContent }) => pageContent.split(" ")[1]).join();
}

function helps(note: string): boolean {
  return Number(note) % 3 === 0;
}
