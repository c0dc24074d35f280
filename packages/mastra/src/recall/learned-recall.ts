import type {
  InputProcessor,
  OutputProcessor,
  ProcessInputArgs,
  ProcessInputResult,
  ProcessInputStepArgs,
  ProcessInputStepResult,
  ProcessLLMRequestArgs,
  ProcessLLMRequestResult,
  ProcessOutputResultArgs,
  ProcessOutputStreamArgs,
  Processor,
  ProcessorMessageResult,
} from "@mastra/core/processors";
import { answered } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import type { AgentRun } from "../runs/agent-run.js";
import { isIncomplete } from "../runs/completion-check.js";
import { isRouting } from "../runs/later-verdicts.js";
import { identify, joinWaiting, notedRun, REQUEST_CONTEXT_KEY, resumeRun } from "../runs/run-lifecycle.js";
import { settleRun } from "../runs/settle-run.js";
import { threadIn, threadOfRun } from "../runs/thread-of-run.js";
import { messagesOf } from "../runs/turns.js";
import { warnOfNoThread } from "../wiring-warnings.js";
import { planRecall, type RecallSettings } from "./plan-recall.js";
import { narrowToReached, promptOf, shownMemories } from "./reached-memories.js";
import { recallCollections } from "./recall-collections.js";
import { describeRecall } from "./recall-span.js";
import { BLOCK_TAG, HANDLES_TAG, handleBlock, handlesIn } from "./recalled-block.js";
import { recallScopes } from "./reranking-vector.js";

type Part = ProcessOutputStreamArgs["part"];
type MessageList = ProcessInputArgs["messageList"];

/** Key of the run in the state that Mastra shares between a processor's hooks; null for a run that is not learned from. */
const STATE_KEY = "qavr";
/** Key of the handles of the recalled messages in the same state. */
const HANDLES_KEY = "qavr-handles";

/** Mastra deduplicates its own semantic recall by this id. */
export const SEMANTIC_RECALL_ID = "semantic-recall";

/** Id of the processor without semantic recall: it recalls collections and watches the searches of the run's tools. */
export const WATCH_ID = "qavr-recall";

/** The parts of a memory that its processors call. */
export interface MemoryHooks {
  readonly settings: () => RecallSettings;
  /** Names of the memory's own tools. */
  readonly ownTools: () => readonly string[];
  /** Deletes the vectors of messages. */
  readonly unembed: (indexName: string, messageIds: readonly string[]) => Promise<void>;
  /** True for an agent with processors of its own. */
  readonly hasOthers: boolean;
}

/**
 * Wraps the semantic recall that Mastra builds, which searches and embeds as before, and opens, watches and closes the run's episode
 * around it. Every hook fails open: an error in a processor of the memory would reject the run and lose the turn.
 */
export class LearnedRecall implements Processor {
  readonly id: string;
  readonly name = "LearnedRecall";
  readonly spanType = "memory_operation" as NonNullable<Processor["spanType"]>;
  readonly #inner: (InputProcessor & OutputProcessor) | undefined;
  readonly #parts: MemoryParts;
  readonly #hooks: MemoryHooks;
  /** Listed once: Mastra makes five of these processors for each run. */
  #ownToolNames: ReadonlySet<string> | undefined;
  /** Only beside other processors: each call is a span that holds the whole prompt. */
  readonly processLLMRequest?: NonNullable<Processor["processLLMRequest"]>;

  constructor(inner: InputProcessor | OutputProcessor | undefined, parts: MemoryParts, hooks: MemoryHooks) {
    this.id = inner ? SEMANTIC_RECALL_ID : WATCH_ID;
    this.#inner = inner as (InputProcessor & OutputProcessor) | undefined;
    this.#parts = parts;
    this.#hooks = hooks;
    if (hooks.hasOthers) this.processLLMRequest = (args) => this.#renameHandles(args);
  }

  spanName(phase: string): string {
    if (phase === "inputStep" || phase === "llmRequest") return "memory: report tool";
    return phase.startsWith("output") ? "memory: learn" : "memory: learned recall";
  }

  async processInput(args: ProcessInputArgs): Promise<ProcessInputResult> {
    const { requestContext, state } = args;
    const parts = this.#parts;
    const memory = threadOfRun(requestContext, args.messages);
    // A note of a client or of an earlier run does not belong to this run.
    if (!memory) {
      requestContext?.delete(REQUEST_CONTEXT_KEY);
      // Mastra checks the completion of a network without a thread, by the agent that routes.
      if (!isRouting(args.messageList)) warnOfNoThread(parts);
    }
    state[STATE_KEY] = null;
    if (memory && this.#inner) parts.shared.turns.begin(memory.threadId, args.messageList);
    const settings = memory && this.#hooks.settings();
    const plan = settings && planRecall(parts, settings, memory, args);
    if (!plan) return this.#recall(args);
    const { run, query, text } = plan;
    state[STATE_KEY] = run;
    parts.shared.runs.bind(run, args.messageList);
    const recalled = await recallScopes.run(query, () => this.#recall(args));
    this.#noteDropped(run);
    try {
      const messages = run.memories.length;
      const blocks = text === undefined ? [] : await recallCollections(parts, run, text);
      if (blocks.length > 0) {
        args.messageList.addSystem({ role: "system", content: blocks.join("\n\n") }, BLOCK_TAG);
      }
      if (run.memories.length > 0) run.prompt = promptOf(args.messageList, text);
      state[HANDLES_KEY] = run.session && run.memories.slice(0, messages).map(({ handle }) => handle);
      describeRecall(args.tracingContext, plan, this.#inner !== undefined);
    } catch (error) {
      parts.kit.failOpen("RANKING_FAILED", "The recalled memories could not be labelled.", { error });
    }
    return recalled;
  }

  /**
   * Names the recalled messages for the report tool, or takes the tool away from an agent without other tools: with
   * `toolChoice: "required"` the model would have to call it. Mastra lists a memory's tools before it knows the agent's.
   */
  processInputStep({ tools = {}, messageList, state }: ProcessInputStepArgs): ProcessInputStepResult | undefined {
    const { reportTool } = this.#hooks.settings();
    if (reportTool === undefined || !Object.hasOwn(tools, reportTool)) return undefined;
    const isAlone = Object.keys(tools).every((name) => this.#ownTools().has(name));
    if (isAlone && this.#parts.options.reportTool === undefined) {
      const { [reportTool]: _, ...others } = tools;
      return { tools: others };
    }
    try {
      this.#nameHandles(reportTool, messageList, state);
    } catch (error) {
      this.#parts.kit.failOpen("RANKING_FAILED", "The handles of the recalled messages could not be named.", { error });
    }
    return undefined;
  }

  #nameHandles(reportTool: string, messages: MessageList, state: Record<string, unknown>): void {
    const handles = state[HANDLES_KEY] as readonly string[] | undefined;
    const run = state[STATE_KEY] as AgentRun | null | undefined;
    if (!run || !handles) return;
    // An earlier step's list is no place where a text is shown.
    messages.clearSystemMessages(HANDLES_TAG);
    const shown = shownMemories(run, messages).filter(({ handle }) => handles.includes(handle));
    const block = handleBlock(reportTool, shown);
    if (block !== undefined) messages.addSystem({ role: "system", content: block }, HANDLES_TAG);
  }

  /** Names the recalled messages again: other processors of the step run after this one, and may have removed some. */
  #renameHandles({ prompt, messageList, state }: ProcessLLMRequestArgs): ProcessLLMRequestResult {
    const { reportTool } = this.#hooks.settings();
    const before = messageList && handlesIn(messageList);
    if (!messageList || reportTool === undefined || before === undefined) return undefined;
    try {
      this.#nameHandles(reportTool, messageList, state);
      const content = handlesIn(messageList);
      if (content === before) return undefined;
      return {
        prompt: prompt.flatMap((message) => {
          if (message.role !== "system" || message.content !== before) return message;
          return content === undefined ? [] : { ...message, content };
        }),
      };
    } catch (error) {
      this.#parts.kit.failOpen("RANKING_FAILED", "The handles of the recalled messages could not be named.", { error });
      return undefined;
    }
  }

  async processOutputStream(args: ProcessOutputStreamArgs): Promise<Part> {
    const { part, state } = args;
    const known = state[STATE_KEY] as AgentRun | null | undefined;
    if (known === null || (known?.runId !== undefined && !WATCHED.has(part.type))) return part;
    try {
      if (known === undefined) this.#continueTurn(args);
      const run = known ?? (await this.#findRun(args, part.runId));
      state[STATE_KEY] = run ?? null;
      if (run) {
        await joinWaiting(this.#parts, run, args);
        this.#watch(run, args);
      }
    } catch (error) {
      this.#parts.kit.failOpen("OUTCOME_NOT_RECORDED", "A run could not be watched.", { error });
    }
    return part;
  }

  /** Embeds the turn and records the run's end, side by side: neither waits for the other's network or disk. */
  async processOutputResult(args: ProcessOutputResultArgs): Promise<Awaited<ProcessorMessageResult>> {
    const [messages] = await Promise.all([this.#index(args), this.#settle(args)]);
    return messages;
  }

  async #settle(args: ProcessOutputResultArgs): Promise<void> {
    const { result, requestContext, state, messageList, messages } = args;
    try {
      const known = state[STATE_KEY] as AgentRun | null | undefined;
      const run = known === undefined ? await this.#findRun(args, undefined) : known;
      if (!run) return;
      // A model that failed has begun no step.
      if (messageList) narrowToReached(run, messageList, undefined);
      const finishReason = hasResult(result) ? result.finishReason : undefined;
      const incomplete = isIncomplete(messageList?.get.all.db() ?? messages);
      await settleRun(this.#parts, run, { finishReason, text: result?.text, incomplete, requestContext });
    } catch (error) {
      const message = "The end of a run could not be recorded.";
      this.#parts.kit.failOpen("OUTCOME_NOT_RECORDED", message, { error }, "error");
    }
  }

  #noteDropped({ episode, dropped }: AgentRun): void {
    if (dropped.length === 0) return;
    const { kit, shared } = this.#parts;
    shared.dropped.set(episode, dropped);
    const message = "Earlier questions of the user that repeat the request were left out of a recall.";
    kit.log("debug", "ECHOES_DROPPED", message, { episode, ids: dropped });
  }

  async #recall(args: ProcessInputArgs): Promise<ProcessInputResult> {
    return (await this.#inner?.processInput?.(args)) ?? args.messageList;
  }

  /** A resumed turn has no input hook. */
  #continueTurn({ requestContext, messageList }: ProcessOutputStreamArgs): void {
    if (!this.#inner || !messageList) return;
    const thread = threadIn(requestContext);
    if (thread) this.#parts.shared.turns.begin(thread.threadId, messageList);
  }

  /** Lets Mastra embed the messages of a turn that is remembered. A failure loses their recall, never the turn. */
  async #index(args: ProcessOutputResultArgs): Promise<Awaited<ProcessorMessageResult>> {
    const { messageList } = args;
    const { turns } = this.#parts.shared;
    const unchanged = messageList ?? args.messages;
    if (!this.#inner) return unchanged;
    try {
      const isRemembered = this.#remembers(args);
      // Mastra's legacy runs may bring none.
      if (messageList) turns.end(messageList, isRemembered);
      if (!isRemembered) {
        const embedded = messageList ? turns.embeddedOf(messageList) : [];
        for (const [index, ids] of embedded) await this.#hooks.unembed(index, ids);
        return unchanged;
      }
      const result = (await this.#inner.processOutputResult?.(args)) ?? unchanged;
      // Mastra embeds new messages; those saved before the turn's end are not new to it.
      const saved = messageList
        ? messagesOf(messageList).filter(({ id }) => !messageList.isNewMessage(id) && !turns.isEmbedded(id))
        : [];
      if (saved.length > 0) {
        await this.#inner.processOutputResult?.({ ...args, messages: saved, messageList: undefined as never });
      }
      return result;
    } catch (error) {
      this.#parts.kit.failOpen("OUTCOME_NOT_RECORDED", "A turn's messages could not be embedded.", { error });
      return unchanged;
    }
  }

  /** True when a turn may be shown to later runs. */
  #remembers({ result, requestContext, messages }: ProcessOutputResultArgs): boolean {
    const { rememberTurns = "unfailed" } = this.#parts.options.semanticRecall ?? {};
    const finishReason = result?.finishReason;
    if (typeof rememberTurns !== "function") return rememberTurns === "all" || finishReason !== "error";
    const { threadId, resourceId } = { ...threadIn(requestContext), ...messages.at(-1) };
    return answered(
      "semanticRecall.rememberTurns",
      rememberTurns({ finishReason, threadId, resourceId, requestContext }),
    );
  }

  /** The run of a hook without a run in Mastra's state: a resumed or durable one. */
  async #findRun(
    { requestContext, messageList }: Pick<ProcessOutputStreamArgs, "requestContext" | "messageList">,
    runId: string | undefined,
  ): Promise<AgentRun | undefined> {
    // Early versions of Mastra 1 keep a state for each half of a run.
    const bound = this.#parts.shared.runs.ofMessages(messageList);
    if (bound) return bound;
    const memory = threadIn(requestContext);
    if (!memory) return undefined;
    const named = notedRun(this.#parts, memory, requestContext);
    const open =
      // A request context that several runs share may name another of them.
      this.#parts.shared.runs.ofRunId(runId, memory.threadId) ?? (named?.beside.size === 1 ? named : undefined);
    if (open || runId === undefined) return open;
    return resumeRun(this.#parts, memory, runId, requestContext);
  }

  #ownTools(): ReadonlySet<string> {
    this.#ownToolNames ??= new Set(this.#hooks.ownTools());
    return this.#ownToolNames;
  }

  #watch(run: AgentRun, { part, requestContext, messageList }: ProcessOutputStreamArgs): void {
    if (part.runId !== undefined) identify(this.#parts, run, part.runId, requestContext);
    // A run that is blocked while it streams may have no further hooks.
    if (part.type === "step-finish" && isBlocked(part.payload.stepResult)) this.#parts.shared.runs.remove(run);
    if (part.type === "step-start") {
      run.startsStep = true;
      run.usedTaskTools = false;
      run.usedMemoryTools = false;
      if (messageList) narrowToReached(run, messageList, part.payload.request?.body);
    }
    if (!isAboutTool(part)) return;
    const { toolName } = part.payload;
    const declined = isDeclined(part);
    const isOwn = this.#ownTools().has(toolName);
    if (!isOwn && !declined) noteStep(run, part);
    // Results of the memory's own tools are no evidence about the task.
    if (isOwn || run.procedureTools.has(toolName)) {
      run.usedMemoryTools = true;
      return;
    }
    run.usedTaskTools = true;
    if (part.type === "tool-call") {
      run.openCalls.add(part.payload.toolCallId);
      return;
    }
    run.openCalls.delete(part.payload.toolCallId);
    if (run.startsStep) run.lastTools = "done";
    run.startsStep = false;
    if (part.type === "tool-error" || isFailure(part)) {
      run.lastTools = "failed";
      run.failedCalls.add(part.payload.toolCallId);
    } else if (declined && run.lastTools === "done") run.lastTools = "declined";
  }
}

type ToolPart = Extract<Part, { type: "tool-call" | "tool-error" | "tool-result" | "tool-output-denied" }>;

function isAboutTool(part: Part): part is ToolPart {
  return TOOL_PARTS.has(part.type);
}

/** Notes a tool call, or its result. A call in which memories were shown is the memory's own; its result holds them. */
function noteStep({ steps, memories }: AgentRun, part: ToolPart): void {
  const { toolCallId: callId, toolName: tool } = part.payload;
  const noted = { callId, memories: memories.length };
  if (part.type === "tool-call") {
    steps.push({ ...noted, tool, input: part.payload.args });
    return;
  }
  const place = steps.findIndex((step) => step.callId === callId);
  // A resumed run has no call for its first result. The arguments may hold what the tool itself has found since.
  if (place < 0) steps.push({ ...noted, tool, input: undefined });
  if (part.type !== "tool-result") return;
  const shows = (steps[place]?.memories ?? memories.length) < memories.length;
  if (shows) steps.splice(place, 1);
  else steps.push({ ...noted, result: part.payload.result });
}

/** True when Mastra gives a result: its legacy methods give an empty one. */
function hasResult(result: ProcessOutputResultArgs["result"] | undefined): result is ProcessOutputResultArgs["result"] {
  if (!result) return false;
  return result.finishReason !== "unknown" || result.text !== "" || (result.steps ?? []).length > 0;
}

/** True when a processor has stopped the run without another attempt of the model. */
function isBlocked(step: { readonly reason: string } | undefined): boolean {
  return step?.reason === "tripwire";
}

/** True for a result that says that the tool failed: one of MCP, of the provider or of a workflow, or Mastra's about a tool's arguments. */
function isFailure({ payload }: ToolPart): boolean {
  const { toolName, result, isError } = payload as {
    readonly toolName: string;
    readonly result?: unknown;
    readonly isError?: boolean;
  };
  if (typeof result !== "object" || result === null) return isError === true;
  const says = result as { readonly isError?: unknown };
  if (isError === true || says.isError === true) return true;
  return "error" in result && ("validationErrors" in result || toolName.startsWith(WORKFLOW));
}

/** Beginning of the names that Mastra gives to workflows as tools. */
const WORKFLOW = "workflow-";

/** True for a call that a person declined. Earlier versions of Mastra 1 give it a result. */
function isDeclined({ type, payload }: ToolPart): boolean {
  return type === "tool-output-denied" || ("result" in payload && payload.result === DECLINED);
}

const DECLINED = "Tool call was not approved by the user";

const TOOL_PARTS: ReadonlySet<string> = new Set(["tool-call", "tool-error", "tool-result", "tool-output-denied"]);

/** The parts to watch, besides a run's first. */
const WATCHED: ReadonlySet<string> = new Set(["step-start", ...TOOL_PARTS, "step-finish"]);
