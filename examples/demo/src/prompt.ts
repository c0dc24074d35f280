import type { DocumentInterface } from "@langchain/core/documents";
import { ChatPromptTemplate } from "@langchain/core/prompts";

/** The prompt. The retrieved lessons are its only help. */
export const PROMPT: ChatPromptTemplate = ChatPromptTemplate.fromMessages([
  [
    "system",
    "You sort questions of bank customers. Lessons from earlier questions, best first:\n{lessons}\nAnswer with one line: Intent: <name>",
  ],
  ["human", "Question: {question}"],
]);

/** Lessons as prompt text, one per line. */
export function formatLessons(documents: readonly DocumentInterface[]): string {
  return documents.map((document) => `- ${oneLine(document.pageContent)}`).join("\n");
}

/** The parts of a prompt: the question, and the lessons in order. */
export function readPrompt(prompt: string): { readonly question: string; readonly lessons: readonly string[] } {
  const lessons = [...prompt.matchAll(/^- (.*)$/gm)].map((match) => match[1] as string);
  const question = /Question: ([\s\S]*)$/.exec(prompt)?.[1] ?? "";
  return { question, lessons };
}

/** A line of the answer that names an intent. */
export function formatAnswer(intent: string): string {
  return `Intent: ${intent}`;
}

/** The intent that an answer names, undefined when it names none. */
export function readAnswer(answer: string): string | undefined {
  return /^Intent: (\S+)$/m.exec(answer)?.[1];
}

/** Line breaks inside a text would look like the end of a lesson. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
