import type {
  InputProcessor,
  OutputProcessor,
  ProcessInputArgs,
  ProcessInputResult,
  ProcessOutputResultArgs,
  ProcessOutputStreamArgs,
  Processor,
  ProcessorMessageResult,
} from "@mastra/core/processors";
import { answered } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import type { AgentRun } from "../runs/agent-run.js";
import { isIncomplete } from "../runs/completion-check.js";
import { identify, notedRun, REQUEST_CONTEXT_KEY, resumeRun } from "../runs/run-lifecycle.js";
import { settleRun } from "../runs/settle-run.js";
import { threadIn, threadOfRun } from "../runs/thread-of-run.js";
import { planRecall, type RecallSettings } from "./plan-recall.js";
import { recallCollections } from "./recall-collections.js";
import { describeRecall } from "./recall-span.js";
import { BLOCK_TAG, handleBlock } from "./recalled-block.js";
import { recallScopes } from "./reranking-vector.js";

type Part = ProcessOutputStreamArgs["part"];

/** Key of the run in the state that Mastra shares between a processor's hooks; null for a run that is not learned from. */
const STATE_KEY = "qavr";

/** Mastra deduplicates its own semantic recall by this id. */
export const SEMANTIC_RECALL_ID = "semantic-recall";

/** Id of the processor without semantic recall: it recalls collections and watches the searches of the run's tools. */
export const WATCH_ID = "qavr-recall";

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
  /** Called once per run: Mastra makes five of these processors for each. */
  readonly #settings: () => RecallSettings;
  readonly #listOwnTools: () => readonly string[];
  #ownToolNames: ReadonlySet<string> | undefined;

  constructor(
    inner: InputProcessor | OutputProcessor | undefined,
    parts: MemoryParts,
    { settings, ownTools }: { readonly settings: () => RecallSettings; readonly ownTools: () => readonly string[] },
  ) {
    this.id = inner ? SEMANTIC_RECALL_ID : WATCH_ID;
    this.#inner = inner as (InputProcessor & OutputProcessor) | undefined;
    this.#parts = parts;
    this.#settings = settings;
    this.#listOwnTools = ownTools;
  }

  spanName(phase: string): string {
    return phase.startsWith("output") ? "memory: learn" : "memory: learned recall";
  }

  async processInput(args: ProcessInputArgs): Promise<ProcessInputResult> {
    const { requestContext, state } = args;
    const parts = this.#parts;
    const memory = threadOfRun(requestContext, args.messages);
    // A note of a client or of an earlier run does not belong to this run.
    if (!memory) requestContext?.delete(REQUEST_CONTEXT_KEY);
    state[STATE_KEY] = null;
    const settings = memory && this.#settings();
    const plan = settings && planRecall(parts, settings, memory, args);
    if (!plan) return this.#recall(args);
    const { run, query, text } = plan;
    state[STATE_KEY] = run;
    parts.shared.runs.bind(run, args.messageList);
    const recalled = await recallScopes.run(query, () => this.#recall(args));
    try {
      const shownMessages = [...run.memories];
      const blocks = text === undefined ? [] : await recallCollections(parts, run, text);
      const handles = run.session && settings.reportTool ? handleBlock(settings.reportTool, shownMessages) : undefined;
      const block = [...blocks, ...(handles === undefined ? [] : [handles])].join("\n\n");
      if (block !== "") args.messageList.addSystem({ role: "system", content: block }, BLOCK_TAG);
      describeRecall(args.tracingContext, plan, this.#inner !== undefined);
    } catch (error) {
      parts.kit.failOpen("RANKING_FAILED", "The recalled memories could not be labelled.", { error });
    }
    return recalled;
  }

  async processOutputStream(args: ProcessOutputStreamArgs): Promise<Part> {
    const { part, state } = args;
    const known = state[STATE_KEY] as AgentRun | null | undefined;
    if (known === null || (known?.runId !== undefined && !WATCHED.has(part.type))) return part;
    try {
      const run = known ?? (await this.#findRun(args, part.runId));
      state[STATE_KEY] = run ?? null;
      if (run) this.#watch(run, part, args.requestContext);
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
      const finishReason = hasResult(result) ? result.finishReason : undefined;
      const incomplete = isIncomplete(messageList?.get.all.db() ?? messages);
      await settleRun(this.#parts, run, { finishReason, text: result?.text, incomplete, requestContext });
    } catch (error) {
      const message = "The end of a run could not be recorded.";
      this.#parts.kit.failOpen("OUTCOME_NOT_RECORDED", message, { error }, "error");
    }
  }

  async #recall(args: ProcessInputArgs): Promise<ProcessInputResult> {
    return (await this.#inner?.processInput?.(args)) ?? args.messageList;
  }

  /** Lets Mastra embed the turn's messages. A failure loses their recall, never the turn. */
  async #index(args: ProcessOutputResultArgs): Promise<Awaited<ProcessorMessageResult>> {
    const unchanged = args.messageList ?? args.messages;
    try {
      if (!this.#inner || !this.#remembers(args)) return unchanged;
      return (await this.#inner.processOutputResult?.(args)) ?? unchanged;
    } catch (error) {
      this.#parts.kit.failOpen("OUTCOME_NOT_RECORDED", "A turn's messages could not be embedded.", { error });
      return unchanged;
    }
  }

  /** True when a turn may be shown to later runs. */
  #remembers({ result, requestContext, messages }: ProcessOutputResultArgs): boolean {
    const { rememberTurns = "unfailed" } = this.#parts.options;
    const finishReason = result?.finishReason;
    if (typeof rememberTurns !== "function") return rememberTurns === "all" || finishReason !== "error";
    const { threadId, resourceId } = { ...threadIn(requestContext), ...messages.at(-1) };
    return answered("rememberTurns", rememberTurns({ finishReason, threadId, resourceId, requestContext }));
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
    this.#ownToolNames ??= new Set(this.#listOwnTools());
    return this.#ownToolNames;
  }

  #watch(run: AgentRun, part: Part, requestContext: ProcessOutputStreamArgs["requestContext"]): void {
    if (part.runId !== undefined) identify(this.#parts, run, part.runId, requestContext);
    // A run that is blocked while it streams may have no further hooks.
    if (part.type === "step-finish" && isBlocked(part.payload.stepResult)) this.#parts.shared.runs.remove(run);
    if (part.type === "step-start") {
      run.startsStep = true;
      run.usedTaskTools = false;
      run.usedMemoryTools = false;
    }
    if (part.type !== "tool-call" && part.type !== "tool-error" && part.type !== "tool-result") return;
    // Results of the memory's own tools are no evidence about the task.
    if (this.#ownTools().has(part.payload.toolName)) {
      run.usedMemoryTools = true;
      return;
    }
    run.usedTaskTools = true;
    if (part.type === "tool-call") {
      run.openCalls.add(part.payload.toolCallId);
      return;
    }
    run.openCalls.delete(part.payload.toolCallId);
    if (run.startsStep) run.lastToolsFailed = false;
    run.startsStep = false;
    if (part.type === "tool-error" || isRefusal(part.payload.result)) {
      run.lastToolsFailed = true;
      run.failedCalls.add(part.payload.toolCallId);
    }
  }
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

/** True for Mastra's error about a tool's arguments. */
function isRefusal(result: unknown): boolean {
  return typeof result === "object" && result !== null && "error" in result && "validationErrors" in result;
}

/** The parts to watch, besides a run's first. */
const WATCHED: ReadonlySet<string> = new Set(["step-start", "tool-call", "tool-error", "tool-result", "step-finish"]);
