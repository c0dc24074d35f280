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
import { failOpen, type Internals } from "../internals.js";
import { isIncomplete } from "../runs/completion-check.js";
import { memoryContextOf, memoryOfRun } from "../runs/memory-context.js";
import type { RunEpisode } from "../runs/run-episode.js";
import { CONTEXT_KEY, identify, notedRun, resumeRun } from "../runs/run-lifecycle.js";
import { settleRun } from "../runs/settle-run.js";
import { answered } from "../synchronous.js";
import { planRecall, type RecallSettings } from "./plan-recall.js";
import { recallCollections } from "./recall-collections.js";
import { recallScopes } from "./recall-scope.js";
import { describeRecall } from "./recall-span.js";
import { BLOCK_TAG, handleBlock } from "./recalled-block.js";

type Part = ProcessOutputStreamArgs["part"];

/** Where a run is kept in the state that Mastra shares between the hooks of one processor; null: nothing is learned from it. */
const STATE_KEY = "qavr";

/** Mastra deduplicates its own semantic recall by this id. */
export const SEMANTIC_RECALL_ID = "semantic-recall";

/** What stands in for semantic recall where no messages are recalled: for collections, and for what the run's tools search. */
export const WATCH_ID = "qavr-recall";

/**
 * Wraps the semantic recall that Mastra builds: lets it search and embed as it does, and opens, watches and closes the run's
 * episode around it. Every hook fails open, since a processor of the memory that throws rejects the run and loses the turn.
 */
export class LearnedRecall implements Processor {
  readonly id: string;
  readonly name = "LearnedRecall";
  readonly spanType = "memory_operation" as NonNullable<Processor["spanType"]>;
  readonly #inner: (InputProcessor & OutputProcessor) | undefined;
  readonly #internals: Internals;
  /** Asked once per run: Mastra makes five of these for each. */
  readonly #settings: () => RecallSettings;
  readonly #listOwnTools: () => readonly string[];
  #ownToolNames: ReadonlySet<string> | undefined;

  constructor(
    inner: InputProcessor | OutputProcessor | undefined,
    internals: Internals,
    { settings, ownTools }: { readonly settings: () => RecallSettings; readonly ownTools: () => readonly string[] },
  ) {
    this.id = inner ? SEMANTIC_RECALL_ID : WATCH_ID;
    this.#inner = inner as (InputProcessor & OutputProcessor) | undefined;
    this.#internals = internals;
    this.#settings = settings;
    this.#listOwnTools = ownTools;
  }

  spanName(phase: string): string {
    return phase.startsWith("output") ? "memory: learn" : "memory: learned recall";
  }

  async processInput(args: ProcessInputArgs): Promise<ProcessInputResult> {
    const { requestContext, state } = args;
    const internals = this.#internals;
    const memory = memoryOfRun(requestContext, args.messages);
    // What a client or an earlier run left there is nobody's word about this run.
    if (!memory) requestContext?.delete(CONTEXT_KEY);
    state[STATE_KEY] = null;
    const settings = memory && this.#settings();
    const plan = settings && planRecall(internals, settings, memory, args);
    if (!plan) return this.#recall(args);
    const { run, query, text } = plan;
    state[STATE_KEY] = run;
    internals.runs.bind(run, args.messageList);
    const recalled = await recallScopes.run(query, () => this.#recall(args));
    try {
      const shownMessages = [...run.memories];
      const blocks = text === undefined ? [] : await recallCollections(internals, { run, text });
      const handles = run.recorded && settings.reportTool ? handleBlock(settings.reportTool, shownMessages) : undefined;
      const block = [...blocks, ...(handles === undefined ? [] : [handles])].join("\n\n");
      if (block !== "") args.messageList.addSystem({ role: "system", content: block }, BLOCK_TAG);
      describeRecall(args.tracingContext, plan, this.#inner !== undefined);
    } catch (error) {
      failOpen(internals, "RANKING_FAILED", "What was recalled could not be labelled.", { error });
    }
    return recalled;
  }

  async processOutputStream(args: ProcessOutputStreamArgs): Promise<Part> {
    const { part, state } = args;
    const known = state[STATE_KEY] as RunEpisode | null | undefined;
    if (known === null || (known?.runId !== undefined && !WATCHED.has(part.type))) return part;
    try {
      const run = known ?? (await this.#findRun(args, part.runId));
      state[STATE_KEY] = run ?? null;
      if (run) this.#watch(run, part, args.requestContext);
    } catch (error) {
      failOpen(this.#internals, "OUTCOME_NOT_RECORDED", "A run could not be watched.", { error });
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
    const internals = this.#internals;
    try {
      const known = state[STATE_KEY] as RunEpisode | null | undefined;
      const run = known === undefined ? await this.#findRun(args, undefined) : known;
      if (!run) return;
      const finishReason = isTold(result) ? result.finishReason : undefined;
      const incomplete = isIncomplete(messageList?.get.all.db() ?? messages);
      await settleRun(internals, run, { finishReason, text: result?.text, incomplete, requestContext });
    } catch (error) {
      failOpen(internals, "OUTCOME_NOT_RECORDED", "The end of a run could not be recorded.", { error }, "error");
    }
  }

  async #recall(args: ProcessInputArgs): Promise<ProcessInputResult> {
    return (await this.#inner?.processInput?.(args)) ?? args.messageList;
  }

  /** Lets Mastra embed the turn's messages. One that fails costs their recall, never the turn. */
  async #index(args: ProcessOutputResultArgs): Promise<Awaited<ProcessorMessageResult>> {
    const unchanged = args.messageList ?? args.messages;
    try {
      if (!this.#inner || !this.#remembers(args)) return unchanged;
      return (await this.#inner.processOutputResult?.(args)) ?? unchanged;
    } catch (error) {
      failOpen(this.#internals, "OUTCOME_NOT_RECORDED", "A turn's messages could not be embedded.", { error });
      return unchanged;
    }
  }

  /** Whether a turn may be shown to later runs. */
  #remembers({ result, requestContext, messages }: ProcessOutputResultArgs): boolean {
    const { rememberTurns = "unfailed" } = this.#internals.options;
    const finishReason = result?.finishReason;
    if (typeof rememberTurns !== "function") return rememberTurns === "all" || finishReason !== "error";
    const { threadId, resourceId } = { ...memoryContextOf(requestContext), ...messages.at(-1) };
    return answered("rememberTurns", rememberTurns({ finishReason, threadId, resourceId, requestContext }));
  }

  /** The run that a hook belongs to where Mastra's state does not say: one that is resumed, or runs durably. */
  async #findRun(
    { requestContext, messageList }: Pick<ProcessOutputStreamArgs, "requestContext" | "messageList">,
    runId: string | undefined,
  ): Promise<RunEpisode | undefined> {
    // Early versions of Mastra 1 keep a state for each half of a run.
    const bound = this.#internals.runs.ofMessages(messageList);
    if (bound) return bound;
    const memory = memoryContextOf(requestContext);
    if (!memory) return undefined;
    const named = notedRun(this.#internals, memory, requestContext);
    const open =
      // Where several share a request context, the one that it names may be another.
      this.#internals.runs.ofRunId(runId, memory.threadId) ?? (named?.beside.size === 1 ? named : undefined);
    if (open || runId === undefined) return open;
    return resumeRun(this.#internals, memory, runId, requestContext);
  }

  #ownTools(): ReadonlySet<string> {
    this.#ownToolNames ??= new Set(this.#listOwnTools());
    return this.#ownToolNames;
  }

  #watch(run: RunEpisode, part: Part, requestContext: ProcessOutputStreamArgs["requestContext"]): void {
    if (part.runId !== undefined) identify(this.#internals, run, part.runId, requestContext);
    // A run that is blocked while it streams may not be heard of again.
    if (part.type === "step-finish" && isBlocked(part.payload.stepResult)) this.#internals.runs.remove(run);
    if (part.type === "step-start") {
      run.startsStep = true;
      run.worked = false;
      run.keptBooks = false;
    }
    if (part.type !== "tool-call" && part.type !== "tool-error" && part.type !== "tool-result") return;
    // The memory's own tools do its books. How they fare says nothing about the task, nor takes back what a tool of the task has said.
    if (this.#ownTools().has(part.payload.toolName)) {
      run.keptBooks = true;
      return;
    }
    run.worked = true;
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

/** Whether Mastra says how a run went: its legacy methods leave a blank form. */
function isTold(result: ProcessOutputResultArgs["result"] | undefined): result is ProcessOutputResultArgs["result"] {
  if (!result) return false;
  return result.finishReason !== "unknown" || result.text !== "" || (result.steps ?? []).length > 0;
}

/** Whether a processor has stopped the run and does not let the model try again. */
function isBlocked(step: { readonly reason: string } | undefined): boolean {
  return step?.reason === "tripwire";
}

/** Whether a result is Mastra's word that a tool does not take what it was given. */
function isRefusal(result: unknown): boolean {
  return typeof result === "object" && result !== null && "error" in result && "validationErrors" in result;
}

/** The parts that matter here, besides a run's first. */
const WATCHED: ReadonlySet<string> = new Set(["step-start", "tool-call", "tool-error", "tool-result", "step-finish"]);
