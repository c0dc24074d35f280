import { type MessageShape, messagesIn, roleOf } from "../runs/messages.js";

/** Keys under which runs commonly carry their question or answer, most telling first. */
const TELLING = ["question", "query", "input", "task", "answer", "output", "result", "text", "content"] as const;

/**
 * Input or output of a run, as text: a string itself; of messages the last one from a person (`asked`) or the last
 * one at all; of an object its most telling field, else its JSON. Empty for nothing.
 */
export function runText(value: unknown, side: "asked" | "answered"): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  const messages = messagesIn(value);
  if (messages) return messageText(messages, side);
  if (typeof value === "object" && !Array.isArray(value)) {
    const record = value as Record<string, unknown>;
    if ("content" in record) return contentText(record.content);
    const telling = TELLING.find((key) => typeof record[key] === "string");
    if (telling !== undefined) return record[telling] as string;
  }
  return json(value);
}

/** A thrown value as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : runText(error, "answered");
}

function messageText(messages: readonly MessageShape[], side: "asked" | "answered"): string {
  const isPerson = (message: MessageShape): boolean => ["human", "user"].includes(roleOf(message));
  const chosen = (side === "asked" ? messages.findLast(isPerson) : undefined) ?? messages.at(-1);
  return contentText(chosen?.content);
}

/** A message's content is text, or blocks of which some are text. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return json(content);
  return content
    .map((block) => (typeof block === "string" ? block : ((block as { text?: string })?.text ?? "")))
    .join("");
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Circular, or a BigInt.
    return String(value);
  }
}
