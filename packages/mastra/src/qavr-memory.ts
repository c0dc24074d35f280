import type { Mastra } from "@mastra/core/mastra";
import type { MemoryConfigInternal } from "@mastra/core/memory";
import type {
  InputProcessor,
  InputProcessorOrWorkflow,
  OutputProcessor,
  OutputProcessorOrWorkflow,
} from "@mastra/core/processors";
import type { RequestContext } from "@mastra/core/request-context";
import type { MastraVector } from "@mastra/core/vector";
import { Memory } from "@mastra/memory";
import {
  type Engine,
  type EpisodeView,
  type HistoryOptions,
  type MemoriesOptions,
  type NamespaceStatus,
  type OutcomeReceipt,
  QavrError,
} from "@qavr/core";
import { checkObject } from "@qavr/core/adapter";
import {
  type ForgetScope,
  forgetMessages,
  inheritMessages,
  messagesToForget,
  reviseMessages,
  storedMessages,
  threadMessages,
  withholdCopies,
} from "./learned-messages.js";
import type { LearningOptions } from "./learning-options.js";
import { attachParts, createParts, type MemoryParts } from "./memory-parts.js";
import { subscribeToObservability } from "./outcomes/outcome-exporter.js";
import { locateOnly, type ReportedRun, type RunReference, reportOutcome } from "./outcomes/report-outcome.js";
import { createReportTool, REPORT_TOOL_NAME } from "./outcomes/report-outcome-tool.js";
import { type FinishedWorkflow, reportNetworks, reportWorkflow } from "./outcomes/report-verdicts.js";
import { rewardFrom, type ScorerLike } from "./outcomes/reward-from.js";
import type { ToReward } from "./outcomes/score-rewards.js";
import { subscribeToStoredFeedback } from "./outcomes/stored-feedback.js";
import { LearnedRecall, SEMANTIC_RECALL_ID, WATCH_ID } from "./recall/learned-recall.js";
import { messageQuery, type RecallSettings } from "./recall/plan-recall.js";
import type { QueryPlan } from "./recall/ranked-query.js";
import { recallScopes, rerankingVector } from "./recall/reranking-vector.js";
import { suspendRuns } from "./runs/run-lifecycle.js";
import { scopeOfRun } from "./runs/run-scope.js";
import { type Wiring, warnOfRecallOff, warnOfReplaced, warnOfStorage, warnOfWiring } from "./wiring-warnings.js";

type MemoryFields = NonNullable<ConstructorParameters<typeof Memory>[0]>;
type Tools = ReturnType<Memory["listTools"]>;

/** Fields of a {@link QavrMemory}: those of Mastra's `Memory`, and `qavr`. */
export type QavrMemoryFields = MemoryFields & { readonly qavr?: LearningOptions | undefined };

/** A run as {@link QavrMemory.explain} returns it. */
export interface RunView extends EpisodeView {
  /** Ids of earlier questions that the recall left out (`echoes: "drop"`), where this process knows the run. */
  readonly dropped?: readonly string[];
}

/**
 * Mastra's memory with a semantic recall that learns from how runs end. It replaces `Memory`:
 * `new Agent({ memory: new QavrMemory({ storage, vector, embedder }) })`. Semantic recall is on by default.
 *
 * The ledger is opened by its first use. While it cannot be opened or reached, recalls continue without learning and reports reject. A
 * ledger that can never be opened is logged here: see the log code STORE_UNUSABLE.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED for an option of `qavr`, STORE_UNAVAILABLE and STORE_UNWRITABLE with
 *   `onError: "throw"`, and the errors of `Memory` for its own options
 */
export class QavrMemory extends Memory {
  readonly #parts: MemoryParts;
  readonly #watched: WeakSet<object> = new WeakSet();
  readonly #wiring: Wiring;

  constructor(given: QavrMemoryFields = {}) {
    checkObject(given, "QavrMemory");
    const { qavr = {}, ...fields } = given;
    const parts = createParts(qavr);
    const { vector, embedder, options } = fields;
    const recalls = options?.semanticRecall ?? Boolean(vector && embedder);
    super({
      ...fields,
      ...(vector && parts.enabled ? { vector: rerankingVector(vector, parts.shared.turns) } : {}),
      options: { ...options, semanticRecall: recalls },
    });
    this.#parts = parts;
    parts.shared.useFor(this);
    attachParts(this, parts);
    this.#wiring = {
      semanticRecall: recalls,
      lastMessages: options?.lastMessages,
      observationalMemory: options?.observationalMemory,
      hasVector: Boolean(vector && embedder),
      hasCollections: (qavr.collections ?? []).length > 0,
    };
    if (parts.enabled) warnOfWiring(parts, this.#wiring);
    warnOfStorage(parts, fields.storage);
  }

  /** The engine underneath, for replay, forgetting and evaluation. */
  get engine(): Engine {
    return this.#parts.kit.engine;
  }

  /**
   * Reports how a run went, during it, right after it or up to 30 days later. The better tier of evidence counts; a report by a
   * person (the default) replaces the outcome of the run's end.
   *
   * @throws UNKNOWN_EPISODE, NOT_SHOWN, INVALID_ARGUMENT, INVALID_ID, INVALID_REWARD, LIMIT_EXCEEDED, OUTCOME_TOO_LATE,
   * IDEMPOTENCY_CONFLICT, LEARNER_MISMATCH and the store's codes
   */
  reportOutcome(reported: ReportedRun): Promise<OutcomeReceipt> {
    return reportOutcome(this.#parts, reported);
  }

  /**
   * The same scorer. Its live scores also count as verified outcomes of the runs that they judge.
   *
   * @param toReward From the score to a reward in [0, 1]; undefined for no evidence. Default: the score itself, if it lies in [0, 1].
   * @throws INVALID_ARGUMENT for an object that is no scorer
   */
  rewardFrom<Scorer extends ScorerLike>(scorer: Scorer, toReward?: ToReward): Scorer {
    return rewardFrom(this.#parts, scorer, toReward);
  }

  /**
   * For the options of a workflow: `createWorkflow({ options: { onFinish: memory.onWorkflowFinish } })`. Its end also counts as the
   * outcome of the agents' runs in it, those on its request context: pass that on where a step calls `agent.generate` itself. A resumed
   * workflow judges its earlier runs where `resume` gets the same object; those of another process keep the outcome of their own end.
   */
  readonly onWorkflowFinish: (finished: FinishedWorkflow) => Promise<void> = async (finished) => {
    if (this.#parts.enabled) await reportWorkflow(this.#parts, finished);
  };

  /** A run with the memories it was shown and their explanations; undefined if unknown. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED and the store's codes */
  async explain(run: RunReference): Promise<RunView | undefined> {
    const { alias, namespace } = locateOnly(this.#parts, run);
    const view = await this.engine.explain(alias, { namespace });
    const dropped = view && this.#parts.shared.dropped.get(view.episode);
    return dropped ? { ...view, dropped } : view;
  }

  /**
   * State of learning in a namespace.
   *
   * @param options.namespace Needed where a function chooses it. @default the memory's own
   * @throws INVALID_ARGUMENT where it is needed and missing, INVALID_ID, LIMIT_EXCEEDED and the store's codes
   */
  async status(options: { readonly namespace?: string | undefined } = {}): Promise<NamespaceStatus> {
    return this.engine.status({ ...options, namespace: this.#namespaceOf("status", options) });
  }

  /**
   * How often memories were shown, used and helped, by id or in pages.
   *
   * @param options.namespace As for `status`.
   * @param options.collection The messages' by default.
   * @throws INVALID_ARGUMENT where the namespace is needed and missing, and as `Engine.memories` does
   */
  async memories(options: MemoriesOptions = {}): ReturnType<Engine["memories"]> {
    const namespace = this.#namespaceOf("memories", options);
    const { collection = this.#parts.messages } = options;
    return this.engine.memories({ ...options, collection, namespace });
  }

  /**
   * The ledger's events, in pages, oldest first.
   *
   * @param options.namespace As for `status`.
   * @throws INVALID_ARGUMENT where the namespace is needed and missing, and as `Engine.history` does
   */
  async history(options: HistoryOptions = {}): ReturnType<Engine["history"]> {
    return this.engine.history({ ...options, namespace: this.#namespaceOf("history", options) });
  }

  #namespaceOf(call: string, options: { readonly namespace?: string | undefined }): string {
    checkObject(options, `${call}()`);
    const namespace = options.namespace ?? this.#parts.options.namespace ?? "default";
    if (typeof namespace !== "function") return namespace;
    throw new QavrError(
      "INVALID_ARGUMENT",
      `A function chooses this memory's namespaces. Name one: ${call}({ namespace }).`,
    );
  }

  /** Waits for everything under way. */
  flush(): Promise<void> {
    return this.#parts.kit.flush();
  }

  /**
   * Records open episodes and closes the ledger. Where another memory of this process uses it, or it was given as `engine`, only waits
   * for everything under way.
   */
  async close(): Promise<void> {
    await this.#parts.kit.flush();
    await this.#parts.shared.close();
  }

  override setVector(vector: MastraVector): void {
    super.setVector(this.#parts.enabled ? rerankingVector(vector, this.#parts.shared.turns) : vector);
  }

  override setStorage(storage: Parameters<Memory["setStorage"]>[0]): void {
    super.setStorage(storage);
    warnOfStorage(this.#parts, storage);
  }

  override async getInputProcessors(
    configured: InputProcessorOrWorkflow[] = [],
    requestContext?: RequestContext,
  ): Promise<InputProcessor[]> {
    const own = await super.getInputProcessors(configured, requestContext);
    return this.#wrap(configured, own, requestContext, (recall) => [...own, recall]);
  }

  override async getOutputProcessors(
    configured: OutputProcessorOrWorkflow[] = [],
    requestContext?: RequestContext,
  ): Promise<OutputProcessor[]> {
    const own = await super.getOutputProcessors(configured, requestContext);
    return this.#wrap(configured, own, requestContext, (recall) => [recall, ...own]);
  }

  override listTools(config?: MemoryConfigInternal): Tools {
    const tools: Tools = super.listTools(config);
    const settings = this.#settings(config);
    if (settings.reportTool === undefined || Object.hasOwn(tools, settings.reportTool)) return tools;
    const { reportTool } = this.#parts.options;
    return {
      ...tools,
      [settings.reportTool]: createReportTool(this.#parts, typeof reportTool === "object" ? reportTool : {}),
    };
  }

  /** Recalls in learned order. Nothing is recorded, since no run is shown the result. */
  override async recall(args: Parameters<Memory["recall"]>[0]): ReturnType<Memory["recall"]> {
    if (!this.#parts.enabled || args.vectorSearchString === undefined) return super.recall(args);
    const plan = this.#searchPlan(args);
    return plan ? recallScopes.run(plan, () => super.recall(args)) : super.recall(args);
  }

  /** Messages of a turn that has not ended, or that is not remembered, are stored and not embedded. */
  override async saveMessages(args: Parameters<Memory["saveMessages"]>[0]): ReturnType<Memory["saveMessages"]> {
    const [free, withheld] = this.#apart(args.messages);
    const stored = withheld && (await super.saveMessages({ ...args, ...unembedded(args), messages: withheld }));
    const saved = free && (await super.saveMessages({ ...args, messages: free }));
    await suspendRuns(this.#parts, args.messages);
    if (this.#parts.enabled) await reportNetworks(this.#parts, args.messages);
    return { ...stored, ...saved, messages: [...(stored?.messages ?? []), ...(saved?.messages ?? [])] };
  }

  /** As {@link saveMessages}. */
  override async updateMessages(args: Parameters<Memory["updateMessages"]>[0]): ReturnType<Memory["updateMessages"]> {
    const before = await storedMessages(this, this.#parts, args.messages);
    const [free, withheld] = this.#apart(args.messages);
    const stored = withheld && (await super.updateMessages({ ...args, ...unembedded(args), messages: withheld }));
    const saved = free && (await super.updateMessages({ ...args, messages: free }));
    const after = [...(stored ?? []), ...(saved ?? [])];
    await reviseMessages(this.#parts, before, after);
    return after;
  }

  /** The clone's messages begin with the evidence of the originals, if both threads learn in one namespace. */
  override async copyThread(...args: Parameters<Memory["copyThread"]>): ReturnType<Memory["copyThread"]> {
    const copied = await super.copyThread(...args);
    await this.#inherit(args[0].sourceThreadId, copied);
    return copied;
  }

  /** As {@link copyThread}, which this calls where Mastra has it. */
  override async cloneThread(...args: Parameters<Memory["cloneThread"]>): ReturnType<Memory["cloneThread"]> {
    const cloned = await super.cloneThread(...args);
    if (!("copyThread" in Memory.prototype)) await this.#inherit(args[0].sourceThreadId, cloned);
    return cloned;
  }

  async #inherit(sourceThreadId: string, copied: Awaited<ReturnType<Memory["copyThread"]>>): Promise<void> {
    const source = await this.getThreadById({ threadId: sourceThreadId });
    const originals = { threadId: sourceThreadId, resourceId: source?.resourceId };
    await inheritMessages(this.#parts, originals, copied.thread, copied.messageIdMap ?? {});
    await this.#withhold(copied.messageIdMap ?? {});
  }

  /** Mastra embeds all messages of the thread anew, also those of turns that are not remembered. */
  override async updateThreadResourceId(
    ...args: Parameters<Memory["updateThreadResourceId"]>
  ): ReturnType<Memory["updateThreadResourceId"]> {
    const thread = await super.updateThreadResourceId(...args);
    const store = await this.storage.getStore("memory");
    const { messages = [] } = (await store?.listMessages({ threadId: thread.id, perPage: false })) ?? {};
    await this.#withhold(Object.fromEntries(messages.map(({ id }) => [id, id])));
    return thread;
  }

  #withhold(copies: Readonly<Record<string, string>>): Promise<void> {
    return withholdCopies(this.#parts, copies, (indexName, ids) => this.#unembed(indexName, ids));
  }

  async #unembed(indexName: string, ids: readonly string[]): Promise<void> {
    await this.vector?.deleteVectors?.({ indexName, filter: { message_id: { $in: [...ids] } } });
  }

  /** Messages to embed, and messages that must not be embedded. Undefined: none. With nothing to withhold, the first list may be empty. */
  #apart<Message extends { readonly id: string }>(messages: Message[]): [Message[] | undefined, Message[] | undefined] {
    const { enabled, shared } = this.#parts;
    const withheld = enabled ? messages.filter((message) => shared.turns.withholds(message)) : [];
    if (withheld.length === 0) return [messages, undefined];
    const free = messages.filter((message) => !withheld.includes(message));
    return [free.length === 0 ? undefined : free, withheld];
  }

  /** @param scope The namespace in which they are forgotten, if `qavr.namespace` is a function of the request context. */
  override async deleteMessages(
    input: Parameters<Memory["deleteMessages"]>[0],
    observabilityContext?: Parameters<Memory["deleteMessages"]>[1],
    scope: ForgetScope = {},
  ): Promise<void> {
    const messages = await messagesToForget(this, this.#parts, input, scope);
    await super.deleteMessages(input, observabilityContext);
    await forgetMessages(this.#parts, messages);
  }

  /** @param scope The namespace in which its messages are forgotten, if `qavr.namespace` is a function of the request context. */
  override async deleteThread(threadId: string, scope: ForgetScope = {}): Promise<void> {
    const messages = await threadMessages(this, this.#parts, threadId, scope);
    await super.deleteThread(threadId);
    await forgetMessages(this.#parts, messages);
  }

  override __registerMastra(mastra: Mastra): void {
    super.__registerMastra(mastra);
    // Mastra calls this about ten times per run.
    if (this.#watched.has(mastra) || !this.#parts.enabled) return;
    this.#watched.add(mastra);
    subscribeToObservability(mastra, this.#parts);
    subscribeToStoredFeedback(mastra.getStorage?.(), this.#parts);
  }

  /** Mastra's processors with the semantic recall wrapped. Without one, adds a processor that watches the run and its tools' searches. */
  #wrap<Kind extends InputProcessor | OutputProcessor>(
    configured: readonly { readonly id: string }[],
    own: Kind[],
    requestContext: RequestContext | undefined,
    withRecall: (recall: Kind) => Kind[],
  ): Kind[] {
    const parts = this.#parts;
    if (!parts.enabled) return own;
    const memory = requestContext?.get("MastraMemory") as { readonly memoryConfig?: MemoryConfigInternal } | undefined;
    const learned = (inner?: Kind): Kind =>
      new LearnedRecall(inner, parts, {
        settings: () => this.#settings(memory?.memoryConfig),
        ownTools: () => Object.keys(this.listTools(memory?.memoryConfig)),
        unembed: (indexName, ids) => this.#unembed(indexName, ids),
        hasOthers: configured.length > 0,
      }) as unknown as Kind;
    if (own.some(({ id }) => id === SEMANTIC_RECALL_ID)) {
      return own.map((processor) => (processor.id === SEMANTIC_RECALL_ID ? learned(processor) : processor));
    }
    if (configured.some(({ id }) => id === SEMANTIC_RECALL_ID)) warnOfReplaced(parts);
    if (!parts.shared.vectors.share) warnOfRecallOff(parts, this.#wiring);
    return own.some(({ id }) => id === WATCH_ID) ? own : withRecall(learned());
  }

  /** The plan of a search outside any run; undefined when its scope cannot be determined. */
  #searchPlan({ threadId, resourceId, threadConfig }: Parameters<Memory["recall"]>[0]): QueryPlan | undefined {
    const parts = this.#parts;
    try {
      const scope = scopeOfRun(parts.options, { threadId, resourceId, requestContext: undefined });
      // A search for a question is meant to find it: without a text nothing is an echo.
      const asked = { run: undefined, text: undefined, inPrompt: new Set<string>() };
      return messageQuery(parts, this.#settings(threadConfig), scope, asked);
    } catch (error) {
      parts.kit.failOpen("RANKING_FAILED", "A search could not be ranked.", { error });
      return undefined;
    }
  }

  #settings(config: MemoryConfigInternal | undefined): RecallSettings {
    const { semanticRecall, readOnly = false } = this.getMergedThreadConfig(config);
    const { threshold } = typeof semanticRecall === "object" ? semanticRecall : {};
    const { enabled, options } = this.#parts;
    const { reportTool = {} } = options;
    const reports = enabled && reportTool !== false && !readOnly;
    return {
      threshold,
      readOnly,
      reportTool: reports ? (reportTool !== true && reportTool.name) || REPORT_TOOL_NAME : undefined,
      model: (this.embedder as { readonly modelId?: string } | undefined)?.modelId,
    };
  }
}

/** The settings of a save that does not embed. */
function unembedded({ memoryConfig }: { readonly memoryConfig?: MemoryConfigInternal | undefined }): {
  memoryConfig: MemoryConfigInternal;
} {
  return { memoryConfig: { ...memoryConfig, semanticRecall: false } };
}
