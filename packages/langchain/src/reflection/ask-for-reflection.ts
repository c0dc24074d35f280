import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { parseJsonMarkdown } from "@langchain/core/output_parsers";
import type { Runnable, RunnableConfig } from "@langchain/core/runnables";
import { QavrError } from "@qavr/core";
import { z } from "zod";
import { contentText } from "./run-text.js";

/** The answer that a model is asked for. */
export interface ReflectionAnswer {
  readonly newClaims: readonly string[];
  readonly helpfulMemories: readonly string[];
  readonly harmfulMemories: readonly string[];
}

/** Plain lists: several providers refuse schemas with limits, so those are applied to the answer. */
const ANSWER = z
  .object({
    newClaims: z.array(z.string()).describe("Self-contained claims: [context] [what was found] - [why it matters]."),
    helpfulMemories: z.array(z.string()).describe("Handles of memories that contributed, such as m1."),
    harmfulMemories: z
      .array(z.string())
      .describe("Handles of memories that were wrong or misled. Irrelevant is not harmful."),
  })
  .describe("What a finished run teaches.");

/**
 * Asks a chat model through its structured output or, where it has none or `structured` is false, for JSON in its text. Whatever
 * comes back is validated here, since not every model's structured output is.
 *
 * @throws INVALID_MODEL_OUTPUT, and what the model throws
 */
export async function askForReflection(
  model: BaseChatModel,
  messages: BaseMessage[],
  { structured, config }: { readonly structured: boolean; readonly config: RunnableConfig },
): Promise<ReflectionAnswer> {
  const bound = structured ? withStructure(model) : undefined;
  const answer: unknown = await (bound ?? model).invoke(messages, config);
  for (const form of bound ? structuredForms(answer) : messageForms(answer)) {
    const read = ANSWER.safeParse(form);
    if (read.success) return read.data;
  }
  throw new QavrError(
    "INVALID_MODEL_OUTPUT",
    "The model's reflection is not { newClaims, helpfulMemories, harmfulMemories } with lists of strings. Nothing was changed; try again or use another model.",
  );
}

function withStructure(model: BaseChatModel): Runnable | undefined {
  try {
    return model.withStructuredOutput(ANSWER, { name: "reflection", includeRaw: true }) as unknown as Runnable;
  } catch {
    // No tool calling, or a schema that the provider's package refuses.
    return undefined;
  }
}

/** The possible forms of a structured answer: `{ raw, parsed }`, or the parsed value from a model that ignores `includeRaw`. */
function structuredForms(answer: unknown): unknown[] {
  if (typeof answer !== "object" || answer === null || !("raw" in answer)) return [answer];
  const { raw, parsed } = answer as { raw: unknown; parsed?: unknown };
  return [parsed, ...messageForms(raw)];
}

/** The possible forms of a message: a tool call, or JSON in its text, fenced or not. */
function messageForms(message: unknown): unknown[] {
  const { tool_calls, content } = (message ?? {}) as { tool_calls?: readonly { args?: unknown }[]; content?: unknown };
  const text = contentText(content ?? "");
  const braces = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  return [...(tool_calls ?? []).map(({ args }) => args), parsed(text), parsed(braces)];
}

function parsed(text: string): unknown {
  try {
    return parseJsonMarkdown(text, JSON.parse) as unknown;
  } catch {
    return undefined;
  }
}
