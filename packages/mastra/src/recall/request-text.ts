import type { MastraDBMessage } from "@mastra/core/memory";

/** The text of a run's request: that of its last message by the user. Undefined for one without words. */
export function requestText(messages: readonly MastraDBMessage[]): string | undefined {
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place] as MastraDBMessage;
    if (message.role !== "user" && !isUserSignal(message)) continue;
    const text = textOf(message);
    if (text !== "") return text;
  }
  return undefined;
}

function textOf({ content }: MastraDBMessage): string {
  if (typeof content !== "object" || content === null) return "";
  if (typeof content.content === "string" && content.content !== "") return content.content;
  const texts = (content.parts ?? []).map((part) => (part.type === "text" ? part.text : ""));
  return texts.filter((text) => text !== "").join(" ");
}

/** Studio delivers what the user says as a signal, which becomes a user message only in the prompt. */
function isUserSignal({ role, content }: MastraDBMessage): boolean {
  if ((role as string) !== "signal") return false;
  const { type } = (content?.metadata?.signal ?? {}) as { readonly type?: unknown };
  return type === "user" || type === "user-message";
}
