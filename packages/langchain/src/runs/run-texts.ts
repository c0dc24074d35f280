import type { RunTexts, ToolStep } from "@qavr/core/adapter";
import { isMessage, messagesIn, roleOf } from "./messages.js";
import type { RunEnd } from "./run-end.js";
import { isWithin, type NotedStep, type RootRun } from "./run-tree.js";

/** A run's texts, by which its used memories are found. */
export function textsOf(root: RootRun, end: RunEnd): RunTexts {
  const { exposures, steps, input, ownCalls } = root;
  const output = "output" in end ? end.output : undefined;
  const own = steps.filter(({ noted }) => "output" in noted && ownCalls.has(callIdOf(noted.output)));
  // A retriever as a tool is the memory's own as well.
  const ownRuns = [...own, ...exposures].map(({ run }) => run);
  const read = exposures.flatMap(({ items }) => items);
  return {
    memories: read.map(({ id, handle, document }) => ({ id, handle, text: document.pageContent })),
    // An agent's output also has the requests of earlier turns.
    request: [textIn(input), textIn(messagesIn(output))].join("\n"),
    // A tool that failed used nothing.
    steps: [
      ...root.callsBefore,
      ...steps
        .filter(({ run, noted }) => !("tool" in noted && run.failed) && !ownRuns.some((inner) => isWithin(inner, run)))
        .map(stepOf),
    ],
    answer: answerIn(output),
  };
}

function stepOf({ noted }: NotedStep): ToolStep {
  if ("tool" in noted) return noted;
  const { output } = noted;
  return { result: isMessage(output) ? output.content : output };
}

function callIdOf(output: unknown): unknown {
  return (output as { readonly tool_call_id?: unknown } | null | undefined)?.tool_call_id;
}

/** Keys under which chains put their answer. Others, such as `context`, may hold the memories themselves. */
const ANSWER_KEYS = ["answer", "output", "result", "response", "text"] as const;

/** The text of a run's answer; empty where the output has no plain text. */
export function answerIn(output: unknown): string {
  if (typeof output === "string") return output;
  if (typeof output !== "object" || output === null) return "";
  const messages = messagesIn(output);
  if (messages) return answerIn(messages.at(-1));
  if (isMessage(output)) return MODEL.includes(roleOf(output)) ? contentText(output.content) : "";
  const key = ANSWER_KEYS.find((name) => name in output);
  return key === undefined ? "" : answerIn((output as Record<string, unknown>)[key]);
}

/** Levels of lists and objects in which {@link textIn} looks for text. */
const DEPTH = 5;

/** All text of a value: strings, also in lists and plain objects, and messages, but those of models and tools. */
function textIn(value: unknown, depth: number = DEPTH): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth === 0) return "";
  if (isMessage(value)) return [...MODEL, "tool"].includes(roleOf(value)) ? "" : contentText(value.content);
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return "";
  return Object.values(value)
    .map((part) => textIn(part, depth - 1))
    .join("\n");
}

/** Roles of a model's messages. */
const MODEL: readonly string[] = ["ai", "assistant"];

/** A message's content is text, or blocks of which some are text. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: unknown) => (block as { readonly text?: string } | null)?.text ?? "").join("");
}
