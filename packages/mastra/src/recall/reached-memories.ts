import type { ProcessInputArgs } from "@mastra/core/processors";
import type { AgentRun, RecalledEntry, RecallPrompt } from "../runs/agent-run.js";
import { storable } from "../runs/aliases.js";
import { handlesIn } from "./recalled-block.js";

type MessageList = ProcessInputArgs["messageList"];

/** The texts of a prompt: those of its messages by their ids, those of its system messages, and the list of handles among these. */
interface PromptTexts {
  readonly byId: ReadonlyMap<string, readonly string[]>;
  readonly system: readonly string[];
  readonly handles: string | undefined;
}

export function promptOf(messages: MessageList, request: string | undefined): RecallPrompt {
  const { byId, system } = textsIn(messages);
  return { request, ids: new Set(byId.keys()), system };
}

/** Takes back the memories that later processors have removed from the prompt, once per run. @param body See {@link reachedMemories}. */
export function narrowToReached(run: AgentRun, messages: MessageList, body: unknown): void {
  const { memories, rankings, session } = run;
  const reached = reachedMemories(run, textsIn(messages), body);
  run.prompt = undefined;
  if (reached.length === memories.length) return;
  for (const ranking of rankings) {
    const ids = reached.filter(({ item }) => ranking.items.includes(item)).map(({ id }) => id);
    if (ids.length < ranking.items.length) session?.shown(ranking, ids);
  }
  memories.splice(0, memories.length, ...reached);
}

/**
 * The memories of a run with their texts in the prompt, without those whose text is not there: a vector may outlive its message, and hold
 * words that a processor has taken out of it since.
 */
export function shownMemories(run: AgentRun, messages: MessageList): readonly RecalledEntry[] {
  const now = textsIn(messages);
  return reachedMemories(run, now).flatMap((memory) => {
    const { id, text } = memory;
    const own = now.byId.get(id);
    if (own) return own.length === 0 ? [] : { ...memory, text: own.join("\n") };
    return text !== undefined && holds(now.system, text) ? memory : [];
  });
}

/**
 * The memories of a run that are in the prompt still. A memory that was not found in the recall's own prompt counts as shown.
 *
 * @param body The model's request as its provider reports it: processors may also change the prompt alone. Undefined for none.
 */
function reachedMemories(
  { prompt: before, memories }: AgentRun,
  now: PromptTexts,
  body?: unknown,
): readonly RecalledEntry[] {
  if (!before) return memories;
  // The excerpts in the list of handles show no memory.
  const sent = sentTexts(body, before.request)?.map((text) => text.replace(now.handles ?? "", ""));
  const system = sent ?? now.system;
  return memories.filter(({ id, text }) => {
    if (before.ids.has(id)) {
      const texts = now.byId.get(id);
      return texts !== undefined && (!sent || texts.length === 0 || texts.some((part) => holds(sent, part)));
    }
    return text === undefined || !holds(before.system, text) || holds(system, text);
  });
}

/** The texts of a provider's request; undefined for one that does not hold the user's request word by word. */
function sentTexts(body: unknown, request: string | undefined): readonly string[] | undefined {
  const texts = stringsIn(typeof body === "string" ? parsed(body) : body);
  return request !== undefined && holds(texts, request) ? texts : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value)
    ? Object.values(value).flatMap(stringsIn)
    : [];
}

function textsIn(messages: MessageList): PromptTexts {
  const byId = messages.get.all.db().map(({ id, content }) => {
    const parts = content.parts ?? [];
    return [
      storable(id),
      parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : [])),
    ] as const;
  });
  const system = stringsIn(messages.getAllSystemMessages().map(({ content }) => content));
  return { byId: new Map(byId), system, handles: handlesIn(messages) };
}

function holds(texts: readonly string[], text: string): boolean {
  return texts.some((one) => one.includes(text));
}
