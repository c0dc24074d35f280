import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import { type OutcomeReceipt, QavrError } from "@qavr/core";
import { endOrReport, illegalOption, type Outcome, toOutcomeInput } from "@qavr/core/adapter";
import { storableId } from "./document-ids.js";
import type { MemoryParts } from "./memory-parts.js";
import { unwrapBase } from "./qavr-retriever.js";
import type { Base } from "./ranking/host.js";
import type { RankingOptions } from "./ranking/ranking-options.js";
import { search } from "./ranking/search.js";
import { addSignal, findRun } from "./runs/find-run.js";

/** Options of a recall. */
export interface RecallOptions extends RankingOptions {
  /** How many documents to return. @default 4 for a store, all that a retriever finds */
  readonly k?: number | undefined;
  /** Passed to the store untouched. */
  readonly filter?: unknown | undefined;
  /** The config of the run around this recall, where there is one. LangGraph's nodes and tools need not pass it. */
  readonly config?:
    | { readonly callbacks?: Callbacks | undefined; readonly signal?: AbortSignal | undefined }
    | undefined;
}

/** One retrieve → use → outcome cycle without a framework. */
export interface RecallEpisode {
  /** For a later `memory.report(id, …)`. Empty when nothing was recorded: learning is off, failed, or nothing was found. */
  readonly id: string;
  /**
   * Reports how it went. The first report closes the episode, unless it belongs to a tracked run; later ones correct it.
   * Undefined when nothing was recorded.
   * @throws UNKNOWN_EPISODE, NOT_SHOWN, INVALID_ARGUMENT, INVALID_ID, INVALID_REWARD, LIMIT_EXCEEDED, OUTCOME_TOO_LATE,
   * IDEMPOTENCY_CONFLICT, LEARNER_MISMATCH and the store's codes
   */
  report(outcome: Outcome): Promise<OutcomeReceipt | undefined>;
  /** Closes the episode without a verdict and makes it durable, so that a report may come from another process. */
  end(): Promise<void>;
}

/** The recalled documents and their episode. */
export interface Recall {
  readonly documents: DocumentInterface[];
  readonly episode: RecallEpisode;
}

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export async function recall(
  parts: MemoryParts,
  base: Base,
  text: string,
  { config, ...options }: RecallOptions,
): Promise<Recall> {
  if (typeof text !== "string") throw illegalOption("text", "text must be a string", text);
  const { host, merged, ...asked } = unwrapBase(base, options);
  if (config) addSignal(parts.runs, config);
  const site = findRun(parts.runs, config?.callbacks);
  const request = { base: host, text, ...asked, options: merged, site, callbacks: config?.callbacks };
  const { documents, ranking, namespace } = await search(parts, request);
  const id = ranking?.episode ?? "";
  const episode =
    id === "" || namespace === undefined ? unrecorded() : recorded(parts, id, namespace, site.run !== undefined);
  return { documents, episode };
}

function unrecorded(): RecallEpisode {
  return { id: "", report: () => Promise.resolve(undefined), end: () => Promise.resolve() };
}

function recorded({ kit: { engine } }: MemoryParts, id: string, namespace: string, ofRun: boolean): RecallEpisode {
  let open = !ofRun;
  const close = async (outcome?: Outcome): Promise<OutcomeReceipt | undefined> => {
    open = false;
    try {
      return await endOrReport(engine, id, outcome && toOutcomeInput(outcome, storableId), { namespace });
    } catch (error) {
      // A refused outcome may be tried again. An episode past its time has nothing left to close.
      open = !QavrError.isInstance(error, "UNKNOWN_EPISODE");
      throw error;
    }
  };
  return {
    id,
    report: async (outcome) =>
      open ? close(outcome) : engine.report(id, toOutcomeInput(outcome, storableId), { namespace }),
    end: async () => {
      if (open) await close();
    },
  };
}
