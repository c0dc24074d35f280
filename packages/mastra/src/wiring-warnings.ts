import type { Logger } from "@qavr/core";
import { warnOnce } from "@qavr/core/adapter";
import { isLocalByDefault } from "./default-store.js";
import type { Internals } from "./internals.js";
import type { LogCode } from "./log-codes.js";
import { scoreIgnored } from "./outcomes/score-ignored.js";
import { namedScorers } from "./outcomes/score-rewards.js";
import { isRemote } from "./remote-storage.js";

/** What is known of how a memory is wired up. */
export interface Wiring {
  readonly semanticRecall: unknown;
  readonly lastMessages: unknown;
  readonly hasVector: boolean;
  readonly hasCollections: boolean;
}

/** Says something once for all memories with one engine and one logger: a function that makes a memory is asked many times per run. */
function sayOnce({ engine, said, options: { logger } }: Internals, code: LogCode, message: string): void {
  const listener = logger ?? engine;
  const heard = said.get(listener) ?? new Set();
  said.set(listener, heard);
  if (heard.has(message)) return;
  heard.add(message);
  warnOnce(logger, code, message)();
}

/** Says what can be seen at construction to keep a memory from learning. */
export function warnOfWiring(internals: Internals, { semanticRecall, lastMessages }: Wiring): void {
  if (semanticRecall && lastMessages === false) {
    sayOnce(
      internals,
      "HISTORY_OFF",
      "lastMessages is false: Mastra then stores no messages, and semantic recall finds none. Set lastMessages to 1 or more.",
    );
  }
}

/** Says once, when an agent runs, that the memory has nothing to rank: no messages, no collections. */
export function warnOfRecallOff(internals: Internals, { semanticRecall, hasVector, hasCollections }: Wiring): void {
  if (semanticRecall || hasCollections) return;
  const cause = hasVector
    ? "Semantic recall is switched off"
    : "There is no vector store and embedder, so semantic recall is off";
  sayOnce(
    internals,
    "SEMANTIC_RECALL_OFF",
    `${cause}: no message is recalled and nothing is learned. Give vector and embedder and leave semanticRecall out, or use @mastra/memory's Memory.`,
  );
}

/** Says once that an agent's own processor stands where the memory's recall would learn. */
export function warnOfReplaced(internals: Internals): void {
  sayOnce(
    internals,
    "SEMANTIC_RECALL_REPLACED",
    "An agent's processors hold a SemanticRecall, which Mastra takes in place of the memory's: what it recalls is not ranked and " +
      "teaches nothing. Leave it out, and set options.semanticRecall of the memory instead.",
  );
}

/** Warns once when the ledger is a file by default while the application's storage is shared between machines. */
export function warnOfStorage(internals: Internals, storage: unknown): void {
  const { options, enabled } = internals;
  if (options.engine === undefined && isLocalByDefault(options.store) && enabled && isRemote(storage)) {
    sayOnce(
      internals,
      "LEDGER_BESIDE_REMOTE_STORAGE",
      "The application's storage is remote, but the ledger is a local file: instances would learn apart, and a new one starts cold. " +
        "Set qavr.store or QAVR_STORE to a shared store, or to a path if one instance is all there is.",
    );
  }
}

/** Says that scorers are named whose scores cannot arrive. Those that report their scores themselves need no observability. */
export function warnOfNoObservability(internals: Internals): void {
  if (namedScorers(internals.options.scores).every((id) => internals.reporting.has(id))) return;
  scoreIgnored(
    internals,
    "observability",
    "The scores of qavr.scores arrive through observability, and this Mastra has none. Configure it, or wrap the scorers with rewardFrom().",
  );
}

/** How many queries outside any run may go unreported before that looks like a mistake: a first one may be reported yet. */
const UNHEARD_QUERIES = 2;

/** Warns once when queries of a store that shares a memory belong to no run of it and nobody reports about them. */
export function unheardQueries(logger: Logger | undefined): { queried(): void; reported(): void } {
  const warn = warnOnce(
    logger,
    "QUERY_OUTSIDE_RUN",
    "A vector store that shares a memory was queried outside its runs, and nobody reports about what it showed, so nothing is learned " +
      "from that. In an agent's tool ask documents.inRun(context), on a run with a thread; elsewhere call documents.reportOutcome(result, …).",
  );
  let unreported = 0;
  return {
    queried() {
      unreported += 1;
      if (unreported >= UNHEARD_QUERIES) warn();
    },
    reported() {
      unreported = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Says once that runs end without a word on how: those of Mastra's legacy methods. */
export function warnOfUntold(internals: Internals): void {
  sayOnce(
    internals,
    "END_UNTOLD",
    "Mastra did not tell how a run ended, so neither its end nor evaluate says anything about its memories. It never tells of " +
      "generateLegacy and streamLegacy: use generate and stream, or report with memory.reportOutcome({ threadId, success }).",
  );
}

/** So many engines on one ledger are no accident of two or three memories that differ. */
const ENGINES_ON_ONE_LEDGER = 4;

/** Ledgers whose engines were said to be many. */
const TOLD_OF = new WeakSet<object>();

/** Warns once when memories pile up that name one ledger and cannot share an engine: a function makes them, and they learn nothing. */
export function unsharedWarning(logger: Logger | undefined, engines: ReadonlySet<object>): void {
  if (engines.size < ENGINES_ON_ONE_LEDGER || TOLD_OF.has(engines)) return;
  TOLD_OF.add(engines);
  warnOnce(
    logger,
    "ENGINE_NOT_SHARED",
    `${engines.size} memories with different options are open on one ledger. If a function makes them, Mastra calls it many times per run, and ` +
      "a run that begins with one of them ends unheard with another: create the learner, the clock and other objects once, or one " +
      "createEngine(…) for all of them, and hand it over as qavr.engine.",
  )();
}
