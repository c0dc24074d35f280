import type { MastraDBMessage } from "@mastra/core/memory";
import type { ProcessInputArgs } from "@mastra/core/processors";
import type { QueryResult } from "@mastra/core/vector";
import type { RunScope } from "@qavr/core/adapter";
import { answered } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import type { AgentRun } from "../runs/agent-run.js";
import { storable } from "../runs/aliases.js";
import { isRouting } from "../runs/later-verdicts.js";
import { openRun, openUnrecorded } from "../runs/run-lifecycle.js";
import { scopeOfRun } from "../runs/run-scope.js";
import type { ThreadOfRun } from "../runs/thread-of-run.js";
import { echoOf } from "./echoes.js";
import { DEFAULT_TOP_K, type QueryPlan } from "./ranked-query.js";

/** The settings of a recall, from one resolved memory configuration. */
export interface RecallSettings {
  /** Results below this similarity are no candidates. */
  readonly threshold: number | undefined;
  readonly readOnly: boolean;
  /** Name of the report tool, undefined where the agent has none. */
  readonly reportTool: string | undefined;
  readonly model: string | undefined;
}

/** The recall of one run. */
export interface RecallPlan {
  readonly run: AgentRun;
  readonly query: QueryPlan;
  /** The user's request. */
  readonly text: string | undefined;
}

/** Opens the run's episode. Undefined when that fails: the run continues as Mastra would run it. */
export function planRecall(
  parts: MemoryParts,
  settings: RecallSettings,
  { threadId, resourceId }: ThreadOfRun,
  { requestContext, messageList, messages, tracingContext }: ProcessInputArgs,
): RecallPlan | undefined {
  const { kit, options, shared } = parts;
  try {
    const info = { threadId, resourceId, requestContext };
    const scope = scopeOfRun(options, info);
    // Mastra lets a network's routing only read its memory; the network's verdict is about it all the same.
    const routes = settings.readOnly && isRouting(messageList);
    const record = (!settings.readOnly || routes) && answered("ignore", options.ignore?.(info)) !== true;
    const traceId = tracingContext?.currentSpan?.traceId;
    const open = record ? openRun : openUnrecorded;
    const mayContinue = messageList.get.input.db().length === 0;
    const turn = mayContinue
      ? shared.later.goesOn(threadId, JSON.stringify(messageList.getAllSystemMessages()))
      : undefined;
    const run = open(parts, scope, { threadId, resourceId, traceId, routes, mayContinue, turn }, requestContext);
    if (routes) shared.later.routes(threadId, requestContext);
    const text = requestText(messages);
    run.text = text;
    run.request = messageList.get.all.db().filter(isAsking).map(textIn).join("\n");
    const inPrompt = new Set(messageList.get.all.db().map(({ id }) => id));
    return { run, query: messageQuery(parts, settings, scope, { run, text, inPrompt }), text };
  } catch (error) {
    kit.failOpen("RANKING_FAILED", "A run's episode could not be opened.", { error });
    return undefined;
  }
}

/** How messages are ranked. */
export function messageQuery(
  { kit, options, messages: collection }: Pick<MemoryParts, "kit" | "options" | "messages">,
  { threshold, model }: RecallSettings,
  scope: RunScope,
  {
    run,
    text,
    inPrompt,
  }: { readonly run: AgentRun | undefined; readonly text: string | undefined; readonly inPrompt: ReadonlySet<string> },
): QueryPlan {
  const { label, semanticRecall: { echoes = "keep", fetchK, recency, minWorth } = {} } = options;
  const isEcho = text === undefined || echoes === "keep" ? undefined : echoOf(text);
  const rankings: QueryPlan["rankings"] = [];
  /** True for a message that the prompt has already, also from an earlier query of this recall. */
  const isPresent = (result: QueryResult): boolean => {
    const id = messageIdOf(result) ?? "";
    return inPrompt.has(id) || rankings.some(({ ranking }) => ranking.items.some((item) => item.id === storable(id)));
  };
  return {
    kit,
    scope,
    run,
    record: run?.session !== undefined,
    collection,
    fetchK,
    recency,
    minWorth,
    label,
    model,
    rankings,
    idOf(result) {
      const id = messageIdOf(result);
      return id === undefined ? undefined : storable(id);
    },
    textOf: messageTextOf,
    admit(pool) {
      const found = pool.filter(
        (result) => !isPresent(result) && (threshold === undefined || result.score >= threshold),
      );
      if (!isEcho) return found;
      const echoes = found.filter((result) => isEcho(result, pool));
      const ids = echoes.flatMap((result) => messageIdOf(result) ?? []);
      run?.dropped.push(...ids.filter((id) => !run.dropped.includes(id)));
      return found.filter((result) => !echoes.includes(result));
    },
    askAgain({ topK = DEFAULT_TOP_K, ...asked }, pool, missing) {
      const present = pool.filter(isPresent).length;
      // Only an answer in the pool lets an earlier question go, and answers lie behind questions in similarity.
      if (isEcho && pool.some((result) => isEcho(result, undefined))) {
        return { ...asked, topK: topK + present, filter: { ...asked.filter, role: "assistant" } };
      }
      return missing && present > 0 ? { ...asked, topK: topK + present } : undefined;
    },
  };
}

function messageIdOf({ metadata }: QueryResult): string | undefined {
  const id: unknown = metadata?.message_id;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function messageTextOf({ metadata }: QueryResult): string | undefined {
  const text: unknown = metadata?.content;
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** The text of the user's last message; undefined when no message has text. */
export function requestText(messages: readonly MastraDBMessage[]): string | undefined {
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place] as MastraDBMessage;
    if (!isAsking(message)) continue;
    const text = textIn(message);
    if (text !== "") return text;
  }
  return undefined;
}

/** The text of a message; empty for none. */
export function textIn({ content }: MastraDBMessage): string {
  return typeof content?.content === "string" && content.content !== "" ? content.content : textOfParts(content);
}

export function textOfParts(content: MastraDBMessage["content"] | null | undefined): string {
  const texts = (content?.parts ?? []).map((part) => (part.type === "text" ? part.text : ""));
  return texts.filter((text) => text !== "").join(" ");
}

function isAsking(message: MastraDBMessage): boolean {
  return message.role === "user" || isUserSignal(message);
}

/** True for Studio's form of a user message: a signal, which becomes a user message only in the prompt. */
function isUserSignal({ role, content }: MastraDBMessage): boolean {
  if ((role as string) !== "signal") return false;
  const { type } = (content?.metadata?.signal ?? {}) as { readonly type?: unknown };
  return type === "user" || type === "user-message";
}
