import type { QueryResult } from "@mastra/core/vector";
import { nearIdenticalTo } from "@qavr/core/adapter";

/** Roles of messages in which a user asks. Studio's chat embeds them as signals. */
const ASKING: ReadonlySet<unknown> = new Set(["user", "signal"]);

/** A text that ends in a question mark: Latin, Greek, Arabic, or of full width. */
const QUESTION = /[?;؟？]\s*$/u;

/**
 * Tells which stored messages only repeat the user's request, so that dropping them loses nothing: one with the same words, or a
 * question that is nearly the same and whose answer is in the pool. A statement is never one of them, however near it lies.
 *
 * @returns a test of a message; without a pool, true for one that would be an echo with its answer in the pool
 */
export function echoOf(request: string): (message: QueryResult, pool: readonly QueryResult[] | undefined) => boolean {
  const isSame = nearIdenticalTo(request);
  const words = wordsOf(request);
  return ({ metadata = {} }, pool) => {
    const text = String(metadata.content ?? "");
    if (!ASKING.has(metadata.role) || !isSame(text)) return false;
    if (wordsOf(text) === words) return true;
    if (!QUESTION.test(text)) return false;
    return pool === undefined || pool.some((other) => answers(other.metadata, metadata));
  };
}

type Metadata = NonNullable<QueryResult["metadata"]>;

/** True for an agent's later message on the same thread. */
function answers(answer: Metadata = {}, question: Metadata): boolean {
  return (
    answer.role === "assistant" &&
    answer.thread_id === question.thread_id &&
    String(answer.created_at) >= String(question.created_at)
  );
}

/** The words alone: case, punctuation and spaces make no difference. Signs do: `-5`, `C#`. */
function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[^\s.,:;!?…"'“”‘’«»()[\]–—¿¡、。，：；！？؟،؛]+/gu) ?? []).join(" ");
}
