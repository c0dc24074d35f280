import type { DocumentInterface } from "@langchain/core/documents";
import type { BaseLanguageModelInterface } from "@langchain/core/language_models/base";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { type Runnable, RunnablePassthrough, RunnableSequence } from "@langchain/core/runnables";
import { formatLessons, PROMPT } from "./prompt.js";

/** The chain that every arm runs: only its retriever differs. Takes the question, gives the answer. */
export function answerChain(
  retriever: Runnable<string, DocumentInterface[]>,
  model: BaseLanguageModelInterface,
): Runnable<string, string> {
  return RunnableSequence.from<string, string>([
    { lessons: retriever.pipe(formatLessons), question: new RunnablePassthrough<string>() },
    PROMPT,
    model,
    new StringOutputParser(),
  ]);
}
