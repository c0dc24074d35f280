import { setTimeout as sleep } from "node:timers/promises";
import { Document } from "@langchain/core/documents";
import type { BaseExampleSelector } from "@langchain/core/example_selectors";
import { FewShotPromptTemplate, PromptTemplate } from "@langchain/core/prompts";
import { BaseRetriever } from "@langchain/core/retrievers";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";

/** Finds another example at every call, and takes a different time for each: the prompt's text tells which run was shown it. */
export class FreshExamples extends BaseRetriever {
  lc_namespace: string[] = ["test"];
  calls = 0;

  override async _getRelevantDocuments(): Promise<Document[]> {
    const call = this.calls++;
    await sleep((call * 7) % 11);
    return [new Document({ id: `e${call}`, pageContent: "q", metadata: { input: `<e${call}>` } })];
  }
}

/** Examples in a prompt's text. */
export const examplesIn = (text: string): string[] => [...text.matchAll(/<(e\d+)>/g)].map(([, id]) => id as string);

export const fewShot = (exampleSelector: BaseExampleSelector, example: string = "{input}"): FewShotPromptTemplate =>
  new FewShotPromptTemplate({
    exampleSelector,
    examplePrompt: PromptTemplate.fromTemplate(example),
    suffix: "{question}",
    inputVariables: ["question"],
  });

/** Answers with the text of the prompt; a third of the questions fail. */
export const answer = (prompt: { toString(): string }, { metadata }: RunnableConfig): string => {
  if (Number(metadata?.run) % 3 === 0) throw new Error(`failed: ${prompt}`);
  return prompt.toString();
};
export const model = (): RunnableLambda<{ toString(): string }, string> => RunnableLambda.from(answer);

/** Id of a numbered run. */
export const runId = (run: number): string => `99999999-9999-4999-8999-${String(run).padStart(12, "0")}`;
