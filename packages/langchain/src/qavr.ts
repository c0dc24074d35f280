import type { DocumentInterface } from "@langchain/core/documents";
import { createEngine, ENGINE_DEFAULTS, QavrError } from "@qavr/core";
import {
  assertKnownFields,
  createLog,
  createWorkUnderWay,
  reportOrIgnore,
  toOutcomeInput,
  UNHEARD_LOG_CODES,
} from "@qavr/core/adapter";
import { defaultStore } from "./default-store.js";
import { storableId } from "./document-ids.js";
import { formatMemories } from "./format-memories.js";
import { attachInternals, type Internals } from "./internals.js";
import { searchStore } from "./langgraph/search-store.js";
import type { Qavr, Wrapped } from "./memory.js";
import { assertMemoryOptions, isEnabled, type MemoryOptions } from "./memory-options.js";
import { QavrCompressor } from "./qavr-compressor.js";
import { QavrRetriever } from "./qavr-retriever.js";
import { QavrVectorStore } from "./qavr-vector-store.js";
import { explainDocument } from "./ranking/explain-document.js";
import { refuse } from "./ranking/ranking-options.js";
import { createShownDocuments } from "./ranking/shown-documents.js";
import { recall } from "./recall.js";
import { OutcomeHandler } from "./runs/outcome-handler.js";
import { createRunTree } from "./runs/run-tree.js";
import { trackRuns } from "./runs/track-runs.js";
import { createRecallTool } from "./tools/recall-tool.js";
import { createReportOutcomeTool } from "./tools/report-outcome-tool.js";
import { narrowWarning, trackingWarning } from "./wiring-warnings.js";

/**
 * An application's memory: one object that ranks, watches runs and learns.
 *
 * Its store is opened by its first use, so this never fails for a file or a database; retrievals go on without learning
 * when the store cannot be reached, reports reject with STORE_UNAVAILABLE.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function qavr(options: MemoryOptions = {}): Qavr {
  assertMemoryOptions(options);
  const internals = createInternals(options);
  const { engine, shown } = internals;

  const memory: Qavr = {
    get handler() {
      return handler;
    },
    engine,
    retriever: (base, fields) => new QavrRetriever({ ...objectOf("retriever", fields), memory, base }),
    vectorStore: <Store extends Parameters<Qavr["vectorStore"]>[0]>(store: Store, fields = {}) =>
      new QavrVectorStore({
        ...objectOf("vectorStore", fields, '{ collection: "notes" }'),
        memory,
        store,
      }) as unknown as Wrapped<Store>,
    compressor: (fields) => new QavrCompressor({ ...objectOf("compressor", fields, "{ topN: 4 }"), memory }),

    track: (runnable) => trackRuns(runnable, handler),

    async report(reference, outcome, fields) {
      const input = toOutcomeInput(outcome, storableId);
      const target = locate(internals, reference, namespaceIn("report", fields));
      return reportOrIgnore(engine, target.reference, input, target);
    },

    recall: async (base, text, fields = {}) => recall(internals, base, text, objectOf("recall", fields)),
    search: async (store, prefix, query, runtime, fields = {}) =>
      searchStore(internals, store, prefix, query, runtime, objectOf("search", fields, "{ limit: 4 }")),
    tools: (base, fields) => [
      createRecallTool(memory, base, objectOf("tools", fields)),
      createReportOutcomeTool(internals),
    ],
    recallTool: (base, fields) => createRecallTool(memory, base, objectOf("recallTool", fields)),
    reportOutcomeTool: (fields) =>
      createReportOutcomeTool(internals, objectOf("reportOutcomeTool", fields, '{ name: "report" }')),

    format: (memories) => formatMemories(memories, shown),
    explain: (async (reference: string | DocumentInterface, fields?: InNamespace) => {
      if (typeof reference === "object" && reference !== null) {
        const known = shown.get(reference);
        return known && explainDocument(known);
      }
      const target = locate(internals, reference, namespaceIn("explain", fields));
      return engine.explain(target.reference, { namespace: target.namespace });
    }) as Qavr["explain"],
    status: async (fields) => engine.status({ namespace: namespaceIn("status", fields) ?? ownNamespace(internals) }),
    async flush() {
      await internals.underWay.settled();
      await engine.flush();
    },
    async close() {
      await internals.underWay.settled();
      await engine.close();
    },
  };
  attachInternals(memory, internals);
  const handler = new OutcomeHandler({ memory });
  return memory;
}

function createInternals(options: MemoryOptions): Internals {
  const { store, namespace, context, evaluate, onError, idOf, idKey, ...engineOptions } = options;
  const { logger, clock = Date.now, episodeTtl, maxOpenEpisodes } = engineOptions;
  const enabled = isEnabled(options);
  return {
    id: crypto.randomUUID(),
    engine: createEngine({ ...engineOptions, enabled, store: defaultStore(store) }),
    runs: createRunTree({
      ttl: episodeTtl ?? ENGINE_DEFAULTS.episodeTtl,
      maxRoots: maxOpenEpisodes ?? ENGINE_DEFAULTS.maxOpenEpisodes,
      clock,
    }),
    shown: createShownDocuments(),
    underWay: createWorkUnderWay(),
    log: createLog(logger, UNHEARD_LOG_CODES),
    // Where nothing is to be learned nothing is missing.
    warnUntracked: enabled ? trackingWarning(logger) : () => {},
    warnNarrow: enabled ? narrowWarning(logger) : () => {},
    throws: onError === "throw",
    evaluate,
    namespace,
    context,
    ids: { idOf, idKey },
    afterRun: new Set(),
  };
}

/** Options as they are; a number in their place would be taken for no options at all. @throws INVALID_ARGUMENT */
function objectOf<Options extends object | undefined>(method: string, options: Options, example = "{ k: 4 }"): Options {
  if (options === undefined || (typeof options === "object" && options !== null && !Array.isArray(options))) {
    return options;
  }
  return refuse(`The options of ${method}()`, options, `must be an object such as ${example}`);
}

/** The options of a call about one namespace. */
interface InNamespace {
  readonly namespace?: string | undefined;
}

/** The namespace that a call names; one that is misspelt would stand for the memory's own. @throws INVALID_ARGUMENT */
function namespaceIn(method: string, options: InNamespace = {}): string | undefined {
  objectOf(method, options, '{ namespace: "tenant:acme" }');
  assertKnownFields(options, `${method}() has no option`, { namespace: true });
  return options.namespace;
}

/**
 * A reference in the engine's terms, the namespace it belongs to as far as it is known, and whether it is a run of this process that
 * ended without having been shown any memory.
 */
function locate(
  internals: Internals,
  reference: string | DocumentInterface,
  namespace: string | undefined,
): { readonly reference: string; readonly namespace: string; readonly isUnshown: boolean } {
  if (typeof reference === "string") {
    const { runs } = internals;
    const [ran] = runs.namespacesOf(reference);
    const isUnshown = ran === undefined && runs.knows(reference) && !runs.find(reference);
    return { reference, namespace: namespace ?? ran ?? ownNamespace(internals), isUnshown };
  }
  if (typeof reference !== "object" || reference === null) {
    refuse("The run or document", reference, "must be a run's id or a document that was returned");
  }
  const known = internals.shown.get(reference);
  if (known) return { reference: known.episode, namespace: known.namespace, isUnshown: false };
  throw new QavrError(
    "UNKNOWN_EPISODE",
    "This document was not returned by a recorded ranking. Pass the run's id instead.",
  );
}

/** The memory's own namespace where it is a fixed one. */
function ownNamespace({ namespace }: Internals): string {
  return typeof namespace === "string" ? namespace : "default";
}
