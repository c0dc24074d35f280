// An application of the main entry, the LangGraph store and attachment, without `langchain`: compiled and run at the ends of the peer ranges.
import { RunnableLambda } from "@langchain/core/runnables";
import { FakeRetriever } from "@langchain/core/utils/testing";
import {
  Annotation,
  END,
  InMemoryStore,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { attach } from "@qavr/langchain/attach";
import { QavrStore } from "@qavr/langchain/langgraph";

const base = new FakeRetriever({ output: [{ pageContent: "restart it", metadata: {}, id: "m" } as never] });
const memory = qavr({ store: memoryStore() });
const retriever = memory.retriever(base, { k: 1 });
const detach = attach(memory);
await RunnableLambda.from((question: string) => retriever.invoke(question)).invoke("x");
detach();

const store = new QavrStore({ memory, store: new InMemoryStore() });
await store.put(["notes"], "one", { text: "from the store" });
const State = Annotation.Root({ question: Annotation<string> });
const graph = new StateGraph(State)
  .addNode("look", async ({ question }: { question: string }, config: LangGraphRunnableConfig) => {
    await retriever.invoke(question);
    return { question: memory.format(await memory.search(config.store, ["notes"], question, config)) };
  })
  .addEdge(START, "look")
  .addEdge("look", END)
  .compile({ store, checkpointer: new MemorySaver() });
const { question } = await memory.track(graph).invoke({ question: "x" }, { configurable: { thread_id: "T" } });
console.log(question, (await memory.status()).outcomes.completed);
