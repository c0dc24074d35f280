import type { ProcessInputArgs } from "@mastra/core/processors";
import { excerpt, promptLine } from "@qavr/core/adapter";
import type { RecalledEntry } from "../runs/agent-run.js";
import type { CollectionOptions } from "./collections.js";

/** Length of the excerpt beside a message's handle, characters: enough to recognise the message. */
const EXCERPT = 80;

/** The tags of this package's system messages: memories of collections, and handles of messages. */
export const BLOCK_TAG = "qavr";
export const HANDLES_TAG = "qavr-handles";

/** A memory in a block. One without a ranking has no handle. */
export type BlockEntry = Pick<RecalledEntry, "text"> & Partial<Pick<RecalledEntry, "handle">>;

/**
 * A collection's memories as a block for the prompt, each with the handle that reports understand:
 *
 *     Lessons
 *     [m1] restart the payment service when the queue is stuck
 *
 * Further lines of a text are indented, so that no text can pass for another memory.
 */
export function collectionBlock(
  { collection, heading = collection.name }: CollectionOptions,
  memories: readonly BlockEntry[],
): string {
  return [heading, ...memories.map(({ handle, text = "" }) => promptLine(handle, text))].join("\n");
}

/**
 * A list of handles and excerpts of the recalled messages, for the agent's report: Mastra formats the messages without handles.
 * Undefined for an empty list.
 */
export function handleBlock(toolName: string, memories: readonly RecalledEntry[]): string | undefined {
  const lines = memories.flatMap(({ handle, text }) =>
    text === undefined ? [] : [`[${handle}] ${excerpt(text, EXCERPT)}`],
  );
  return lines.length === 0 ? undefined : [`Handles of the recalled messages, for ${toolName}:`, ...lines].join("\n");
}

/** The list of handles in the prompt; undefined for none. */
export function handlesIn(messages: ProcessInputArgs["messageList"]): string | undefined {
  const content = messages.getSystemMessages(HANDLES_TAG)[0]?.content;
  return typeof content === "string" ? content : undefined;
}
