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
import { type Engine, type EpisodeView, type NamespaceStatus, type OutcomeReceipt, QavrError } from "@qavr/core";
import { createInternals } from "./create-internals.js";
import { type ForgetScope, forgetMessages, idsOf, threadMessages } from "./forget-messages.js";
import { attachInternals, failOpen, type Internals } from "./internals.js";
import type { QavrOptions } from "./memory-options.js";
import { hearObservability } from "./outcomes/outcome-exporter.js";
import { locate, type ReportedRun, type RunReference, reportOutcome } from "./outcomes/report-outcome.js";
import { createReportTool, REPORT_TOOL_NAME } from "./outcomes/report-outcome-tool.js";
import { rewardFrom, type ScorerLike } from "./outcomes/reward-from.js";
import type { ToReward } from "./outcomes/score-rewards.js";
import { hearStoredFeedback } from "./outcomes/stored-feedback.js";
import { LearnedRecall, SEMANTIC_RECALL_ID, WATCH_ID } from "./recall/learned-recall.js";
import { messageQuery, type RecallSettings } from "./recall/plan-recall.js";
import type { QueryPlan } from "./recall/ranked-query.js";
import { recallScopes } from "./recall/recall-scope.js";
import { rerankingVector } from "./recall/reranking-vector.js";
import { parkSuspended } from "./runs/park-runs.js";
import { scopeOf } from "./runs/run-scope.js";
import { type Wiring, warnOfRecallOff, warnOfReplaced, warnOfStorage, warnOfWiring } from "./wiring-warnings.js";

type MemoryFields = NonNullable<ConstructorParameters<typeof Memory>[0]>;
type Tools = ReturnType<Memory["listTools"]>;

/** What a {@link QavrMemory} is made from: everything that Mastra's `Memory` takes, and `qavr`. */
export type QavrMemoryFields = MemoryFields & { readonly qavr?: QavrOptions | undefined };

/**
 * Mastra's memory whose semantic recall learns from how runs end. It is used as `Memory` is, and needs nothing else:
 * `new Agent({ memory: new QavrMemory({ storage, vector, embedder }) })`. Semantic recall is on unless it is switched off.
 *
 * The ledger is opened by its first use, so this never fails for a file or a database; recalls go on without learning when it
 * cannot be reached, reports reject.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED for an option of `qavr`, and what `Memory` throws for its own
 */
export class QavrMemory extends Memory {
  readonly #internals: Internals;
  readonly #watched: WeakSet<object> = new WeakSet();
  readonly #wiring: Wiring;

  constructor({ qavr = {}, ...fields }: QavrMemoryFields = {}) {
    const internals = createInternals(qavr);
    const { vector, embedder, options } = fields;
    const recalls = options?.semanticRecall ?? Boolean(vector && embedder);
    super({
      ...fields,
      ...(vector && internals.enabled ? { vector: rerankingVector(vector) } : {}),
      options: { ...options, semanticRecall: recalls },
    });
    this.#internals = internals;
    internals.useFor(this);
    attachInternals(this, internals);
    this.#wiring = {
      semanticRecall: recalls,
      lastMessages: options?.lastMessages,
      hasVector: Boolean(vector && embedder),
      hasCollections: (qavr.collections ?? []).length > 0,
    };
    if (internals.enabled) warnOfWiring(internals, this.#wiring);
    warnOfStorage(internals, fields.storage);
  }

  /** The engine underneath, for replay, forgetting and evaluation. */
  get engine(): Engine {
    return this.#internals.engine;
  }

  /**
   * Says how a run went, during it, right after it or up to 30 days later. The better tier of evidence counts; a report by a
   * person (the default) overrules what the run's end said.
   *
   * @throws UNKNOWN_EPISODE, NOT_SHOWN, INVALID_ARGUMENT, INVALID_ID, INVALID_REWARD, LIMIT_EXCEEDED, OUTCOME_TOO_LATE,
   * IDEMPOTENCY_CONFLICT, LEARNER_MISMATCH and the store's codes
   */
  reportOutcome(reported: ReportedRun): Promise<OutcomeReceipt> {
    return reportOutcome(this.#internals, reported);
  }

  /**
   * The same scorer, whose live scores count as verified outcomes of the runs that they judge.
   *
   * @param toReward From the score to a reward in [0, 1]; undefined says nothing. Default: the score itself, where it lies there.
   * @throws INVALID_ARGUMENT for something that is no scorer
   */
  rewardFrom<Scorer extends ScorerLike>(scorer: Scorer, toReward?: ToReward): Scorer {
    return rewardFrom(this.#internals, scorer, toReward);
  }

  /** A run with everything it was shown and why; undefined if unknown. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED and the store's codes */
  async explain(run: RunReference): Promise<EpisodeView | undefined> {
    const { alias, namespace } = locate(this.#internals, run);
    return this.#internals.engine.explain(alias, { namespace });
  }

  /**
   * Whether and what a namespace has learned.
   *
   * @param options.namespace Needed where a function chooses it. @default the memory's own
   * @throws INVALID_ARGUMENT where it is needed and missing, INVALID_ID, LIMIT_EXCEEDED and the store's codes
   */
  async status({ namespace }: { readonly namespace?: string | undefined } = {}): Promise<NamespaceStatus> {
    const { engine, options } = this.#internals;
    const { namespace: own = "default" } = options;
    const named = namespace ?? own;
    if (typeof named === "string") return engine.status({ namespace: named });
    throw new QavrError(
      "INVALID_ARGUMENT",
      "A function chooses this memory's namespaces. Say which one is meant: status({ namespace }).",
    );
  }

  /** Waits for everything under way. */
  flush(): Promise<void> {
    return this.#internals.engine.flush();
  }

  /**
   * Records what is open and closes the ledger, unless another memory of this process uses it or it was handed over as `engine`:
   * then waits for everything under way.
   */
  close(): Promise<void> {
    return this.#internals.close();
  }

  override setVector(vector: MastraVector): void {
    super.setVector(this.#internals.enabled ? rerankingVector(vector) : vector);
  }

  override setStorage(storage: Parameters<Memory["setStorage"]>[0]): void {
    super.setStorage(storage);
    warnOfStorage(this.#internals, storage);
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
    const { reportTool } = this.#internals.options;
    return {
      ...tools,
      [settings.reportTool]: createReportTool(this.#internals, typeof reportTool === "object" ? reportTool : {}),
    };
  }

  /** Ranked as learned; nothing is recorded, since no run is shown the result. */
  override async recall(args: Parameters<Memory["recall"]>[0]): ReturnType<Memory["recall"]> {
    const internals = this.#internals;
    if (!internals.enabled || args.vectorSearchString === undefined) return super.recall(args);
    const plan = this.#searchPlan(args);
    return plan ? recallScopes.run(plan, () => super.recall(args)) : super.recall(args);
  }

  override async saveMessages(args: Parameters<Memory["saveMessages"]>[0]): ReturnType<Memory["saveMessages"]> {
    const saved = await super.saveMessages(args);
    await parkSuspended(this.#internals, args.messages);
    return saved;
  }

  /** @param scope Where what was learned about them is forgotten, if `qavr.namespace` is a function of the request context. */
  override async deleteMessages(
    input: Parameters<Memory["deleteMessages"]>[0],
    observabilityContext?: Parameters<Memory["deleteMessages"]>[1],
    scope: ForgetScope = {},
  ): Promise<void> {
    const messages = await idsOf(this, this.#internals, input, scope);
    await super.deleteMessages(input, observabilityContext);
    await forgetMessages(this.#internals, messages);
  }

  /** @param scope Where what was learned about its messages is forgotten, if `qavr.namespace` is a function of the request context. */
  override async deleteThread(threadId: string, scope: ForgetScope = {}): Promise<void> {
    const messages = await threadMessages(this, this.#internals, threadId, scope);
    await super.deleteThread(threadId);
    await forgetMessages(this.#internals, messages);
  }

  override __registerMastra(mastra: Mastra): void {
    super.__registerMastra(mastra);
    // Mastra calls this about ten times per run.
    if (this.#watched.has(mastra) || !this.#internals.enabled) return;
    this.#watched.add(mastra);
    hearObservability(mastra, this.#internals);
    hearStoredFeedback(mastra.getStorage?.(), this.#internals);
  }

  /** Mastra's processors with the semantic recall wrapped; where there is none, one more, since what a run's tools search belongs to it too. */
  #wrap<Kind extends InputProcessor | OutputProcessor>(
    configured: readonly { readonly id: string }[],
    own: Kind[],
    requestContext: RequestContext | undefined,
    withRecall: (recall: Kind) => Kind[],
  ): Kind[] {
    const internals = this.#internals;
    if (!internals.enabled) return own;
    const memory = requestContext?.get("MastraMemory") as { readonly memoryConfig?: MemoryConfigInternal } | undefined;
    const learned = (inner?: Kind): Kind =>
      new LearnedRecall(inner, internals, {
        settings: () => this.#settings(memory?.memoryConfig),
        ownTools: () => Object.keys(this.listTools(memory?.memoryConfig)),
      }) as unknown as Kind;
    if (own.some(({ id }) => id === SEMANTIC_RECALL_ID)) {
      return own.map((processor) => (processor.id === SEMANTIC_RECALL_ID ? learned(processor) : processor));
    }
    if (configured.some(({ id }) => id === SEMANTIC_RECALL_ID)) warnOfReplaced(internals);
    if (!internals.vectors.share) warnOfRecallOff(internals, this.#wiring);
    return own.some(({ id }) => id === WATCH_ID) ? own : withRecall(learned());
  }

  /** How a search outside any run is ranked; undefined when that cannot be told. */
  #searchPlan({
    threadId,
    resourceId,
    threadConfig,
    vectorSearchString,
  }: Parameters<Memory["recall"]>[0]): QueryPlan | undefined {
    const internals = this.#internals;
    try {
      const scope = scopeOf(internals.options, { threadId, resourceId, requestContext: undefined });
      // Whoever searches for a question wants to find it.
      return messageQuery(internals, { ...this.#settings(threadConfig), showsAnswers: true }, scope, {
        run: undefined,
        text: vectorSearchString,
        inPrompt: new Set(),
        onRanked() {},
      });
    } catch (error) {
      failOpen(internals, "RANKING_FAILED", "A search could not be ranked.", { error });
      return undefined;
    }
  }

  #settings(config: MemoryConfigInternal | undefined): RecallSettings {
    const { semanticRecall, readOnly = false } = this.getMergedThreadConfig(config);
    const { threshold, messageRange = 1 } = typeof semanticRecall === "object" ? semanticRecall : {};
    const { enabled, options } = this.#internals;
    const { reportTool = {} } = options;
    const reports = enabled && reportTool !== false && !readOnly;
    return {
      threshold,
      showsAnswers: (typeof messageRange === "number" ? messageRange : messageRange.after) > 0,
      readOnly,
      reportTool: reports ? (reportTool !== true && reportTool.name) || REPORT_TOOL_NAME : undefined,
      model: (this.embedder as { readonly modelId?: string } | undefined)?.modelId,
    };
  }
}
