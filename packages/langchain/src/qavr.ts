import type { DocumentInterface } from "@langchain/core/documents";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { createEngine, ENGINE_DEFAULTS, QavrError } from "@qavr/core";
import {
  checkFields,
  checkObject,
  createRunKit,
  type FieldRules,
  illegalOption,
  isEnabled,
  type ReportTarget,
} from "@qavr/core/adapter";
import { defaultStore, defaultStoreProblem } from "./default-store.js";
import { storableId } from "./document-ids.js";
import { createExampleSelector } from "./example-selector.js";
import { formatMemories } from "./format-memories.js";
import { searchStore } from "./langgraph/search-store.js";
import { NO_TRACKING, type OwnLogCode } from "./log-codes.js";
import type { Qavr } from "./memory.js";
import { attachParts, type MemoryParts, ownNamespace } from "./memory-parts.js";
import { QavrCompressor } from "./qavr-compressor.js";
import { assertQavrOptions, type QavrOptions } from "./qavr-options.js";
import { QavrRetriever } from "./qavr-retriever.js";
import { QavrVectorStore } from "./qavr-vector-store.js";
import type { RankingOptions } from "./ranking/ranking-options.js";
import { createShownDocuments, explainDocument } from "./ranking/shown-documents.js";
import type { TextCollection } from "./ranking/text-collection.js";
import { recall } from "./recall.js";
import { isJudging } from "./runs/judging.js";
import { OutcomeHandler } from "./runs/outcome-handler.js";
import { createPromptRuns } from "./runs/prompt-runs.js";
import { sessionOf } from "./runs/run-session.js";
import { createRunTree } from "./runs/run-tree.js";
import { trackRuns } from "./runs/track-runs.js";
import { createRecallTool } from "./tools/recall-tool.js";
import { createReportOutcomeTool } from "./tools/report-outcome-tool.js";

/**
 * An application's memory: one object that ranks, watches runs and learns.
 *
 * Its store is opened by its first use. While it cannot be opened or reached, retrievals continue without learning and reports reject
 * with STORE_UNAVAILABLE. A store that can never be opened is logged here: see the log code STORE_UNUSABLE.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED; with `onError: "throw"` also STORE_UNAVAILABLE and STORE_UNWRITABLE
 */
export function qavr(options: QavrOptions = {}): Qavr {
  assertQavrOptions(options);
  const parts = createParts(options);
  const { kit, shown } = parts;
  const { engine } = kit;

  const memory: Qavr = {
    get handler() {
      return handler;
    },
    engine,
    retriever: (base, fields) => new QavrRetriever({ ...objectOf("retriever", fields), memory, base }),
    vectorStore: (store: VectorStoreInterface | TextCollection, fields: RankingOptions = {}) =>
      new QavrVectorStore({ ...objectOf("vectorStore", fields), memory, store }) as never,
    compressor: (fields) => new QavrCompressor({ ...objectOf("compressor", fields), memory }),
    exampleSelector: (base, fields) => createExampleSelector(memory, base, objectOf("exampleSelector", fields)),

    track: (runnable) => trackRuns(runnable, handler, parts.runs),

    async report(reference, outcome, fields) {
      return kit.report(locate(parts, reference, namespaceIn("report", fields)), outcome);
    },

    recall: async (base, text, fields = {}) => recall(parts, base, text, objectOf("recall", fields)),
    search: async (store, prefix, query, runtime, fields = {}) =>
      searchStore(parts, store, prefix, query, runtime, objectOf("search", fields)),
    tools: (base, fields) => [
      createRecallTool(memory, base, objectOf("tools", fields)),
      createReportOutcomeTool(parts),
    ],
    recallTool: (base, fields) => createRecallTool(memory, base, objectOf("recallTool", fields)),
    reportOutcomeTool: (fields) => createReportOutcomeTool(parts, objectOf("reportOutcomeTool", fields)),

    format: (memories) => formatMemories(memories, shown),
    explain: (async (reference: string | DocumentInterface, fields?: InNamespace) => {
      if (typeof reference === "object" && reference !== null) {
        const known = shown.get(reference);
        return known && explainDocument(known);
      }
      const target = locate(parts, reference, namespaceIn("explain", fields));
      return engine.explain(target.reference, { namespace: target.namespace });
    }) as Qavr["explain"],
    status: async (fields) => engine.status({ namespace: namespaceIn("status", fields) ?? ownNamespace(parts) }),
    memories: async (fields) => engine.memories(inOwnNamespace("memories", fields)),
    history: async (fields) => engine.history(inOwnNamespace("history", fields)),
    flush: () => (isJudging(kit) ? engine.flush() : kit.flush()),
    async close() {
      await kit.flush();
      await engine.close();
    },
  };
  const inOwnNamespace = <Options extends InNamespace>(method: string, options: Options | undefined): Options => {
    const given = objectOf(method, options);
    return { ...(given as Options), namespace: given?.namespace ?? ownNamespace(parts) };
  };
  attachParts(memory, parts);
  const handler = new OutcomeHandler({ memory });
  return memory;
}

function createParts(options: QavrOptions): MemoryParts {
  const {
    store,
    namespace,
    context,
    evaluate,
    onError,
    idOf,
    idKey,
    label,
    engine: settings = {},
    ...choices
  } = options;
  const { clock = Date.now, episodeTtl, maxOpenEpisodes } = settings;
  const { logger } = choices;
  const enabled = isEnabled(options);
  const engine = createEngine({ ...settings, ...choices, enabled, store: defaultStore(store) });
  const warned = ["NO_OUTCOME_TRACKING"] as const;
  const problem = defaultStoreProblem(store);
  const kit = createRunKit<OwnLogCode>({ engine, logger, onError, problem, storable: storableId, warned });
  const runs = createRunTree({
    ttl: episodeTtl ?? ENGINE_DEFAULTS.episodeTtl,
    maxRoots: maxOpenEpisodes ?? ENGINE_DEFAULTS.maxOpenEpisodes,
    clock,
    sessionOf: (root) => sessionOf(kit, root),
  });
  return {
    kit,
    runs,
    prompts: createPromptRuns(runs),
    shown: createShownDocuments(),
    scope: { namespace, context },
    ids: { idOf, idKey },
    label,
    evaluate,
    afterRun: new Set(),
    warnUntracked: () => kit.warnOnce("NO_OUTCOME_TRACKING", NO_TRACKING),
  };
}

/** Refuses options that are no object: a number would be read as no options at all. @throws INVALID_ARGUMENT */
function objectOf<Options extends object | undefined>(method: string, options: Options): Options {
  if (options !== undefined) checkObject(options, `The options of ${method}()`);
  return options;
}

/** The options of a call about one namespace. */
interface InNamespace {
  readonly namespace?: string | undefined;
}

const IN_NAMESPACE: FieldRules<InNamespace> = { namespace: true };

/** The namespace that a call names. @throws INVALID_ARGUMENT also for a misspelt option, which would select the memory's own namespace */
function namespaceIn(method: string, options: InNamespace = {}): string | undefined {
  checkFields(`${method}()`, options, IN_NAMESPACE);
  return options.namespace;
}

/** A run or document in the engine's terms. */
function locate(
  parts: MemoryParts,
  reference: string | DocumentInterface,
  namespace: string | undefined,
): ReportTarget {
  if (typeof reference === "string") {
    const { runs } = parts;
    const [ran, ...others] = runs.namespacesOf(reference);
    const isUnshown = ran === undefined && runs.knows(reference) && !runs.find(reference);
    if (namespace !== undefined) return { reference, namespace, isUnshown };
    return { reference, namespace: ran ?? ownNamespace(parts), others, isUnshown };
  }
  if (typeof reference !== "object" || reference === null) {
    throw illegalOption(
      "The run or document",
      "The run or document must be a run's id or a document that was returned",
      reference,
    );
  }
  const known = parts.shown.get(reference);
  if (known) return { reference: known.episode, namespace: known.namespace, isUnshown: false };
  throw new QavrError(
    "UNKNOWN_EPISODE",
    "This document was not returned by a recorded ranking. Pass the run's id instead.",
  );
}
