import type { DocumentInterface } from "@langchain/core/documents";
import { illegalOption, promptLine } from "@qavr/core/adapter";
import { handleOf } from "../format-memories.js";
import type { ShownDocuments } from "../ranking/shown-documents.js";
import { escapeFence, fenced } from "./fence.js";
import type { MIDDLEWARE_DEFAULTS } from "./middleware-options.js";
import { fitting } from "./token-budget.js";

/** A memory as it stands in a prompt. */
export interface PromptMemory {
  /** Empty when learning is off. */
  readonly handle: string;
  readonly text: string;
}

/** The options that decide how memories look in a prompt. */
export type PromptOptions = Pick<
  typeof MIDDLEWARE_DEFAULTS,
  "maxTokens" | "maxCharacters" | "countTokens" | "introduction"
>;

/**
 * The documents that fit into the budget, best first, each with the memory that it becomes.
 *
 * @throws RangeError when `countTokens` gives no number of tokens, INVALID_ARGUMENT when the frame fills the budget
 */
export async function selectMemories(
  documents: readonly DocumentInterface[],
  shown: ShownDocuments,
  options: PromptOptions,
): Promise<{ readonly document: DocumentInterface; readonly memory: PromptMemory }[]> {
  const { maxTokens, maxCharacters, countTokens } = options;
  const candidates = documents.map((document) => {
    const text = shortened(document.pageContent ?? "", maxCharacters);
    return { document, memory: { handle: handleOf(document, shown) ?? "", text } };
  });
  const lines = candidates.map(({ memory }) => `${lineOf(memory)}\n`);
  const spent = await countTokens(renderMemories([], options));
  assertRoom(spent, maxTokens);
  const places = await fitting(lines, { maxTokens, spent, countTokens });
  return places.map((place) => candidates[place] as (typeof candidates)[number]);
}

/** @param frame Tokens of the frame. @throws INVALID_ARGUMENT when it leaves no room for memories */
export function assertRoom(frame: number, maxTokens: number): void {
  if (!(frame >= maxTokens)) return;
  throw illegalOption("maxTokens", `maxTokens must be more than the ${frame} tokens of the frame`, maxTokens);
}

/**
 * The part of the system prompt that holds the memories:
 *
 *     <memories>
 *     What was learned in earlier runs …
 *     [m1] restart the payment service when the queue is stuck
 *     </memories>
 *
 * No text can leave it: each starts behind its handle, its further lines are indented, and the fence's own tag is escaped.
 */
export function renderMemories(
  memories: readonly PromptMemory[],
  { introduction }: Pick<PromptOptions, "introduction">,
): string {
  return fenced(introduction, memories.map(lineOf));
}

function lineOf({ handle, text }: PromptMemory): string {
  return promptLine(handle, escapeFence(text));
}

/** Cut between characters, with a mark where it was cut. */
function shortened(text: string, maxCharacters: number): string {
  const wellFormed = text.toWellFormed();
  if (wellFormed.length <= maxCharacters) return wellFormed;
  return `${wellFormed.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
