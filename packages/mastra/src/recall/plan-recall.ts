import type { MastraDBMessage } from "@mastra/core/memory";
import type { ProcessInputArgs } from "@mastra/core/processors";
import type { QueryResult } from "@mastra/core/vector";
import { nearIdenticalTo, type RunScope } from "@qavr/core/adapter";
import { answered } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import type { AgentRun } from "../runs/agent-run.js";
import { storable } from "../runs/aliases.js";
import { openRun, openUnrecorded } from "../runs/run-lifecycle.js";
import { scopeOfRun } from "../runs/run-scope.js";
import type { ThreadOfRun } from "../runs/thread-of-run.js";
import { DEFAULT_TOP_K, type QueryPlan } from "./ranked-query.js";

/** Roles of messages in which a user asks. Studio's chat embeds them as signals. */
const ASKING: ReadonlySet<unknown> = new Set(["user", "signal"]);

/** The settings of a recall, from one resolved memory configuration. */
export interface RecallSettings {
  /** Results below this similarity are no candidates. */
  readonly threshold: number | undefined;
  /** True when a recalled question comes with its answer. */
  readonly showsAnswers: boolean;
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
  const { kit, options } = parts;
  try {
    const info = { threadId, resourceId, requestContext };
    const scope = scopeOfRun(options, info);
    const record = !settings.readOnly && answered("ignore", options.ignore?.(info)) !== true;
    const traceId = tracingContext?.currentSpan?.traceId;
    const open = record ? openRun : openUnrecorded;
    const run = open(parts, scope, { threadId, resourceId, traceId }, requestContext);
    const text = requestText(messages);
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
  { threshold, showsAnswers, model }: RecallSettings,
  scope: RunScope,
  {
    run,
    text,
    inPrompt,
  }: { readonly run: AgentRun | undefined; readonly text: string | undefined; readonly inPrompt: ReadonlySet<string> },
): QueryPlan {
  const { echoes = "auto", fetchK, label } = options;
  const drops = text !== undefined && (echoes === "drop" || (echoes === "auto" && !showsAnswers));
  const isSame = drops ? nearIdenticalTo(text) : () => false;
  const rankings: QueryPlan["rankings"] = [];
  /** True for a message that the prompt has already, also from an earlier query of this recall. */
  const isPresent = (id: string): boolean =>
    inPrompt.has(id) || rankings.some(({ ranking }) => ranking.items.some((item) => item.id === storable(id)));
  let echoed = false;
  let present = 0;
  return {
    kit,
    scope,
    run,
    record: run?.session !== undefined,
    collection,
    fetchK,
    label,
    model,
    rankings,
    idOf(result) {
      const id = messageIdOf(result);
      return id === undefined ? undefined : storable(id);
    },
    textOf: messageTextOf,
    admits(result) {
      if (isPresent(messageIdOf(result) ?? "")) {
        present += 1;
        return false;
      }
      if (threshold !== undefined && result.score < threshold) return false;
      const echo = ASKING.has(result.metadata?.role) && isSame(messageTextOf(result) ?? "");
      echoed ||= echo;
      return !echo;
    },
    askAgain({ topK = DEFAULT_TOP_K, ...asked }) {
      // The user's own questions filled the list, so ask for the answers.
      if (echoed) return { ...asked, topK: topK + present, filter: { ...asked.filter, role: "assistant" } };
      return present === 0 ? undefined : { ...asked, topK: topK + present };
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
function requestText(messages: readonly MastraDBMessage[]): string | undefined {
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place] as MastraDBMessage;
    if (message.role !== "user" && !isUserSignal(message)) continue;
    const text = textIn(message);
    if (text !== "") return text;
  }
  return undefined;
}

function textIn({ content }: MastraDBMessage): string {
  if (typeof content !== "object" || content === null) return "";
  if (typeof content.content === "string" && content.content !== "") return content.content;
  const texts = (content.parts ?? []).map((part) => (part.type === "text" ? part.text : ""));
  return texts.filter((text) => text !== "").join(" ");
}

/** True for Studio's form of a user message: a signal, which becomes a user message only in the prompt. */
function isUserSignal({ role, content }: MastraDBMessage): boolean {
  if ((role as string) !== "signal") return false;
  const { type } = (content?.metadata?.signal ?? {}) as { readonly type?: unknown };
  return type === "user" || type === "user-message";
}
