import type { DocumentInterface } from "@langchain/core/documents";
import { type Runnable, type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import type { Bench } from "./bench.js";

/** A tracked run that asks a retriever and returns what that showed. */
export function retrieving({
  memory,
  retriever,
}: Pick<Bench, "memory" | "retriever">): Runnable<string, DocumentInterface[]> {
  return memory.track(
    RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config)),
  );
}
