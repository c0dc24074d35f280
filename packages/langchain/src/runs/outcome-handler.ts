import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { DocumentInterface } from "@langchain/core/documents";
import type { LLMResult } from "@langchain/core/outputs";
import { MARKS, mark } from "../marks.js";
import { assertFields, type MemoryHandle, type MemoryParts, partsOf } from "../memory-parts.js";
import { toolResults } from "./agent-end.js";
import { narrowToReturned } from "./narrow-exposures.js";
import { announced, partsOf as partsOfRun, type RunEnd } from "./run-end.js";
import { isControlFlow, isInterrupt } from "./run-errors.js";
import type { RunNode, StartedRun } from "./run-tree.js";
import { settleRun } from "./settle-run.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

type Metadata = Record<string, unknown>;
/** The inputs that LangChain announces with the end of a stream, since they may be a stream as well. */
type LateInputs = { readonly inputs?: unknown };

/**
 * Watches runs and turns the end of each root run into the outcome of the retrievals inside it. Attach it with
 * `memory.track(runnable)` or pass it in `callbacks`; one instance serves any number of concurrent runs, and registering it
 * twice does no harm. It is awaited, so a run is judged when `invoke` returns; its outcome is recorded behind it, before the memory's
 * next ranking. It never fails a run.
 */
export class OutcomeHandler extends BaseCallbackHandler {
  static override lc_name(): string {
    return "OutcomeHandler";
  }

  /** One per memory: LangChain takes handlers of one name for the same when it attaches them by hooks. */
  readonly name: string;
  readonly #parts: MemoryParts;

  constructor(fields: { readonly memory: Pick<MemoryHandle, "engine"> }) {
    assertFields("OutcomeHandler", fields);
    const parts = partsOf(fields.memory);
    super({ _awaitHandler: true, raiseError: parts.kit.throws, ignoreCustomEvent: true });
    mark(this, MARKS.graphHandler, true);
    mark(this, MARKS.runTree, parts.runs);
    parts.prompts.watch(this);
    this.name = `qavr_outcome_handler_${parts.runs.id}`;
    this.#parts = parts;
  }

  /** The same handler: a copy would see half of the runs. */
  override copy(): BaseCallbackHandler {
    return this;
  }

  /** Root runs that were seen to start and not to end. */
  get openRuns(): number {
    return this.#parts.runs.open;
  }

  /**
   * LangChain passes the parent's id as the fourth argument and declares it as the eighth, and the other way round for the
   * type of the run. Whichever it is in the installed version, only a run id looks like one.
   */
  override handleChainStart(
    chain: unknown,
    inputs: unknown,
    runId: string,
    fourth?: string,
    tags: string[] = [],
    metadata: Metadata = {},
    seventh?: string,
    eighth?: string,
  ): void {
    const { starting } = this.#parts.runs;
    const announced = unwrapped(inputs, "input");
    const input = announced === "" && starting.has(runId) ? unwrapped(starting.get(runId), "input") : announced;
    starting.delete(runId);
    const parent = [fourth, eighth].find((id) => id !== undefined && this.#isRunId(id));
    this.#start({
      id: runId,
      parent,
      kind: "chain",
      metadata,
      tags,
      input,
      parts: partsOfRun(chain, tags),
    });
    if (fourth === "prompt" || seventh === "prompt") this.#parts.prompts.name({ id: runId, metadata });
  }

  override handleToolStart(
    _tool: unknown,
    input: string,
    runId: string,
    parentRunId?: string,
    tags: string[] = [],
    metadata: Metadata = {},
    runName?: string,
  ): void {
    const run = this.#start({ id: runId, parent: parentRunId, kind: "tool", tool: runName, metadata, tags, input });
    run?.root.steps.push({ run, noted: { tool: runName ?? "", input } });
  }

  override handleRetrieverStart(
    _retriever: unknown,
    query: string,
    runId: string,
    parentRunId?: string,
    tags: string[] = [],
    metadata: Metadata = {},
  ): void {
    this.#start({ id: runId, parent: parentRunId, kind: "retriever", metadata, tags, input: query });
  }

  override async handleChainEnd(
    output: unknown,
    runId: string,
    _parent?: string,
    _tags?: string[],
    late?: LateInputs,
  ): Promise<void> {
    await this.#end(runId, { output: unwrapped(output, "output") }, late);
  }

  override async handleChainError(
    error: unknown,
    runId: string,
    _parent?: string,
    _tags?: string[],
    late?: LateInputs,
  ): Promise<void> {
    await this.#end(runId, { error }, late);
  }

  override async handleToolEnd(output: unknown, runId: string): Promise<void> {
    const results = toolResults(output);
    const failed = results.some(({ status }) => status === "error");
    const calls = results.map(({ tool_call_id }) => tool_call_id);
    this.#endTool(runId, failed, calls);
    const run = this.#parts.runs.find(runId);
    if (run && !run.end) run.root.steps.push({ run, noted: { output } });
    await this.#end(runId, { output });
  }

  override async handleToolError(error: unknown, runId: string): Promise<void> {
    this.#endTool(runId, !isControlFlow(error));
    await this.#end(runId, { error });
  }

  override async handleRetrieverEnd(documents: DocumentInterface[], runId: string): Promise<void> {
    const run = this.#parts.runs.find(runId);
    if (run && !run.end) narrowToReturned(this.#parts.kit, run, documents);
    await this.#end(runId, { output: documents });
  }

  override async handleRetrieverError(error: unknown, runId: string): Promise<void> {
    await this.#end(runId, { error });
  }

  override handleLLMEnd({ generations }: LLMResult, _runId: string, parentRunId?: string): void {
    const answer = generations[0]?.[0] as { readonly message?: unknown } | undefined;
    // The batch of a model without messages is a part of its first input's run alone.
    if (answer?.message !== undefined) this.#endPart(parentRunId, { output: answer.message });
  }

  override handleLLMError(error: unknown, _runId: string, parentRunId?: string): void {
    this.#endPart(parentRunId, { error });
  }

  /**
   * Called by LangGraph: also interrupts that were set on the graph, which no error announces. Nothing follows in the graph, and where it
   * is the root, its end is not always announced: a reader that leaves with a chunk unread keeps it from being.
   */
  async handleInterrupt(event: { readonly runId?: string }): Promise<void> {
    const run = this.#parts.runs.find(event?.runId);
    if (!run || !isOnRootThread(run)) return;
    run.root.interrupted = "announced";
    if (!run.parent) await this.#end(run.id, { output: undefined });
  }

  /**
   * Called by LangGraph before the first node of a run that continues an interrupted one, and of one that starts over from an earlier
   * checkpoint. That one is no resume, and runs on a copy of the checkpoint that its caller named.
   */
  handleResume(event: { readonly runId?: string; readonly checkpointId?: string }): void {
    const run = this.#parts.runs.find(event?.runId);
    if (!run || !isOnRootThread(run)) return;
    const { checkpoint = event.checkpointId } = run;
    if (checkpoint === event.checkpointId) run.root.resumes = true;
  }

  #isRunId(id: string): boolean {
    return UUID.test(id) || this.#parts.runs.knows(id);
  }

  #start(run: StartedRun): RunNode | undefined {
    return this.#parts.kit.engine.enabled ? this.#parts.runs.start(run) : undefined;
  }

  /** Notes the end of a model call: it has no run of its own here. */
  #endPart(runId: string | undefined, end: RunEnd): void {
    this.#parts.runs.find(runId)?.parts?.ended.push(announced(end));
  }

  #endTool(runId: string, failed: boolean, calls: readonly unknown[] = []): void {
    const run = this.#parts.runs.find(runId);
    if (!run || run.end || calls.some((call) => run.root.ownCalls.has(call))) return;
    run.failed = failed;
    run.root.lastToolFailed = failed;
    if (failed) run.root.toolErrors += 1;
    else for (const call of calls) run.root.doneCalls.add(call);
  }

  async #end(runId: string, end: RunEnd, late?: LateInputs): Promise<void> {
    const run = this.#parts.runs.find(runId);
    if (!run || run.end) return;
    if (late?.inputs !== undefined && !run.parent && run.root.input === "")
      run.root.input = unwrapped(late.inputs, "input");
    if (run.namesakes > 0) {
      run.namesakes -= 1;
      return;
    }
    const ended = announced(end, run.parts);
    run.end = ended;
    run.parent?.parts?.ended.push(ended);
    run.failed ||= "error" in end && !isControlFlow(end.error);
    if ("error" in end && isInterrupt(end.error) && isOnRootThread(run) && run.root.interrupted === "no") {
      run.root.interrupted = "seen";
    }
    if (!run.parent) await this.#parts.kit.tasks.track(settleRun(this.#parts, run.root, ended));
  }
}

/** An interrupt stops the root if it stops the root's own thread; a sub-agent on another thread is that thread's matter. */
function isOnRootThread(run: RunNode): boolean {
  return run.thread === run.root.thread;
}

/**
 * The value as the caller of `invoke` sees it: LangChain hands callbacks `{ input }` and `{ output }` around values that are no
 * objects. An object with that one key only is read as such a wrapper.
 */
function unwrapped(value: unknown, key: "input" | "output"): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === key ? (value as Record<string, unknown>)[key] : value;
}
