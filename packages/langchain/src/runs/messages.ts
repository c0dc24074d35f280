/** The part of a message that is read here. Recognised by shape: its class may come from another copy of LangChain. */
export interface MessageShape {
  readonly content: unknown;
  readonly role?: unknown;
  readonly type?: unknown;
  getType?(): unknown;
}

export function isMessage(value: unknown): value is MessageShape {
  return typeof value === "object" && value !== null && "content" in value;
}

export function roleOf(message: MessageShape): string {
  return String(message.getType?.() ?? message.role ?? message.type);
}

/** The messages of an input or output: a list, or under `messages`; undefined for anything else, and for none. */
export function messagesIn(value: unknown): readonly MessageShape[] | undefined {
  const list: unknown = Array.isArray(value) ? value : (value as { readonly messages?: unknown } | null)?.messages;
  return Array.isArray(list) && list.length > 0 && list.every(isMessage) ? list : undefined;
}
