import { Annotation, type AnnotationRoot, START, StateGraph } from "@langchain/langgraph";
import type { Bench } from "./bench.js";

type Text = typeof Annotation<string>;
type Channels = { question: Text; answer: Text };

export const State: AnnotationRoot<Channels> = Annotation.Root({
  question: Annotation<string>,
  answer: Annotation<string>,
});

/** retrieve → respond, where the second node is the test's. No config is passed on: LangGraph keeps it for its nodes. */
export function graph(
  { retriever }: Pick<Bench, "retriever">,
  respond: (state: typeof State.State) => Promise<{ answer?: string }> | { answer?: string },
): StateGraph<Channels, typeof State.State, typeof State.Update, typeof START | "retrieve" | "respond"> {
  return new StateGraph(State)
    .addNode("retrieve", async ({ question }) => {
      await retriever.invoke(question);
      return {};
    })
    .addNode("respond", respond)
    .addEdge(START, "retrieve")
    .addEdge("retrieve", "respond");
}

export const THREAD = { configurable: { thread_id: "T1" } };

export const failing = (): never => {
  throw new Error("boom");
};
