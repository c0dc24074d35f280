import type { ProcessOutputResultArgs } from "@mastra/core/processors";
import { recentMap } from "@qavr/core/adapter";

type MessageList = ProcessOutputResultArgs["messageList"];

/**
 * The turns under way in this process, and the messages that may not be embedded. Mastra saves messages before a turn has ended, when it
 * waits for an approval or saves step by step; such a save must not embed them, since that depends on the turn's end.
 */
export class Turns {
  /** By thread. Blocked and aborted turns never end; their lists are left to the garbage collector. */
  readonly #underWay;
  readonly #threads = new WeakMap<MessageList, string>();
  /** Ids of messages of turns that are not remembered. */
  readonly #withheld;
  /** The vector index of each message that this process has embedded. */
  readonly #indexes;

  /** @param limit Number of threads that are kept; more messages. */
  constructor(limit: number) {
    this.#underWay = recentMap<string, Set<WeakRef<MessageList>>>(limit);
    this.#withheld = recentMap<string, true>(4 * limit);
    this.#indexes = recentMap<string, string>(4 * limit);
  }

  begin(threadId: string, messages: MessageList): void {
    const turns = [...(this.#underWay.get(threadId) ?? [])].filter((turn) => turn.deref() !== undefined);
    this.#underWay.set(threadId, new Set([...turns, new WeakRef(messages)]));
    this.#threads.set(messages, threadId);
  }

  /** @param isRemembered False withholds the turn's messages for good. */
  end(messages: MessageList, isRemembered: boolean): void {
    const threadId = this.#threads.get(messages);
    if (threadId !== undefined) {
      const others = [...(this.#underWay.get(threadId) ?? [])].filter((turn) => turn.deref() !== messages);
      if (others.length > 0) this.#underWay.set(threadId, new Set(others));
      else this.#underWay.delete(threadId);
    }
    if (!isRemembered) for (const { id } of messagesOf(messages)) this.#withheld.set(id, true);
  }

  /** True for a message of a turn that has not ended, or that is not remembered. */
  withholds({ id, threadId }: { readonly id: string; readonly threadId?: string | undefined }): boolean {
    if (this.#withheld.get(id)) return true;
    const turns = threadId === undefined ? undefined : this.#underWay.get(threadId);
    return [...(turns ?? [])].some((turn) => {
      const messages = turn.deref();
      return messages !== undefined && messagesOf(messages).some((message) => message.id === id);
    });
  }

  isEmbedded(id: string): boolean {
    return this.#indexes.has(id);
  }

  /** Notes where messages were embedded. */
  embedded(indexName: string, ids: readonly unknown[]): void {
    for (const id of ids) if (typeof id === "string") this.#indexes.set(id, indexName);
  }

  /** The messages of a turn that this process has embedded, by index. */
  embeddedOf(messages: MessageList): ReadonlyMap<string, readonly string[]> {
    return this.#byIndex(messagesOf(messages).map(({ id }) => id));
  }

  /** Withholds the copies of withheld messages, and returns those that are embedded. @param copies The copy of each message, by id. */
  withholdCopies(copies: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
    const ids = Object.entries(copies).flatMap(([original, copy]) => (this.#withheld.has(original) ? [copy] : []));
    for (const id of ids) this.#withheld.set(id, true);
    return this.#byIndex(ids);
  }

  #byIndex(ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const id of ids) {
      const index = this.#indexes.get(id);
      if (index !== undefined) found.set(index, [...(found.get(index) ?? []), id]);
    }
    return found;
  }
}

type Messages = ReturnType<MessageList["get"]["all"]["db"]>;

/** The question and the answer of a turn, saved or not. */
export function messagesOf({ getPersisted }: MessageList): Messages {
  return [...getPersisted.input.db(), ...getPersisted.response.db()];
}
