import { isObservationalMemoryEnabled } from "@mastra/core/memory";
import type { Logger } from "@qavr/core";
import { storeInEnvironment } from "@qavr/core/adapter";
import { type OwnLogCode, warn } from "./log-codes.js";
import type { MemoryParts } from "./memory-parts.js";
import { namedScorers } from "./outcomes/score-rewards.js";

/** How a memory is wired up. */
export interface Wiring {
  readonly semanticRecall: unknown;
  readonly lastMessages: unknown;
  readonly observationalMemory: unknown;
  readonly hasVector: boolean;
  readonly hasCollections: boolean;
}

/** The parts of a memory that warnings need. */
type WarningParts = Pick<MemoryParts, "shared" | "options">;

/** Warns once for all memories with one engine and one logger: a function that makes a memory is called many times per run. */
function warnOncePerEngine({ shared, options: { logger } }: WarningParts, code: OwnLogCode, message: string): void {
  const receiver = logger ?? shared.engine;
  const given = shared.warned.get(receiver) ?? new Set();
  shared.warned.set(receiver, given);
  if (given.has(message)) return;
  given.add(message);
  warn(logger, code, message);
}

/** Warns of settings at construction that keep a memory from learning. */
export function warnOfWiring(parts: WarningParts, { semanticRecall, lastMessages, observationalMemory }: Wiring): void {
  // Observational memory stores the messages itself.
  if (isObservationalMemoryEnabled(observationalMemory as boolean)) return;
  if (semanticRecall && (lastMessages === false || lastMessages === 0)) {
    warnOncePerEngine(
      parts,
      "HISTORY_OFF",
      `lastMessages is ${lastMessages}: Mastra then stores no messages, and semantic recall finds none. Set lastMessages to 1 or more.`,
    );
  }
}

/** Warns once, when an agent runs, that the memory has nothing to rank: no messages, no collections. */
export function warnOfRecallOff(parts: WarningParts, { semanticRecall, hasVector, hasCollections }: Wiring): void {
  if (semanticRecall || hasCollections) return;
  const cause = hasVector
    ? "Semantic recall is switched off"
    : "There is no vector store and embedder, so semantic recall is off";
  warnOncePerEngine(
    parts,
    "SEMANTIC_RECALL_OFF",
    `${cause}: no message is recalled and nothing is learned. Give vector and embedder and leave semanticRecall out, or use @mastra/memory's Memory.`,
  );
}

/** Warns once that an agent ran without a thread: Mastra then leaves its memory out, and says so at debug level only. */
export function warnOfNoThread(parts: WarningParts): void {
  warnOncePerEngine(
    parts,
    "RUN_WITHOUT_THREAD",
    "An agent ran without a thread, so nothing is recalled or learned from that run. " +
      "Give its runs a thread: generate(…, { memory: { thread, resource } }).",
  );
}

/** Warns once that Mastra uses an agent's own recall processor in place of the memory's. */
export function warnOfReplaced(parts: WarningParts): void {
  warnOncePerEngine(
    parts,
    "SEMANTIC_RECALL_REPLACED",
    "An agent's processors hold a SemanticRecall, which Mastra takes in place of the memory's: what it recalls is not ranked and " +
      "teaches nothing. Leave it out, and set options.semanticRecall of the memory instead.",
  );
}

/** Warns once when the ledger is a file by default while the application's storage is shared between machines. */
export function warnOfStorage(parts: WarningParts & Pick<MemoryParts, "enabled">, storage: unknown): void {
  const { engine, store } = parts.options;
  const isLocal = engine === undefined && store === undefined && storeInEnvironment() === undefined;
  if (isLocal && parts.enabled && isRemote(storage)) {
    warnOncePerEngine(
      parts,
      "LEDGER_BESIDE_REMOTE_STORAGE",
      "The application's storage is remote, but the ledger is a local file: instances would learn apart, and a new one starts cold. " +
        "Set qavr.store or QAVR_STORE to a shared store, or to a path if there is only one instance.",
    );
  }
}

/** Classes of storage in the process or on its disk. */
const LOCAL_CLASSES: ReadonlySet<string> = new Set(["InMemoryStore", "MockStore", "DuckDBStore"]);

/**
 * True for storage on another machine, which several instances of an application may share. An unknown class of storage counts as
 * remote; LibSQL does when its client connects to a server.
 */
function isRemote(storage: unknown): boolean {
  if (typeof storage !== "object" || storage === null) return false;
  // LibSQL's client, private in its types.
  const { client } = storage as { readonly client?: { readonly protocol?: unknown } };
  const { name } = storage.constructor;
  if (LOCAL_CLASSES.has(name)) return false;
  if (client?.protocol !== undefined) return client.protocol !== "file";
  return name !== "Object" && !name.startsWith("LibSQL") && name !== "MastraCompositeStore";
}

/** Number of sources with a warning of their own; clients may invent kinds of feedback. */
const MAX_SOURCES = 100;

/** Logs once per source why its scores or feedback teach nothing. Without a logger the first line is a process warning. */
export function scoreIgnored({ shared, kit }: Pick<MemoryParts, "shared" | "kit">, source: string, why: string): void {
  const { ignoredSources } = shared;
  if (ignoredSources.has(source) || ignoredSources.size >= MAX_SOURCES) return;
  ignoredSources.add(source);
  kit.log("warn", "SCORE_IGNORED", why);
}

/** Warns of named scorers whose scores cannot arrive. Scorers that report their scores themselves need no observability. */
export function warnOfNoObservability(parts: MemoryParts): void {
  if (namedScorers(parts.options.scores).every((id) => parts.reporting.has(id))) return;
  scoreIgnored(
    parts,
    "observability",
    "The scores of qavr.scores arrive through observability, and this Mastra has none. Configure it, or wrap the scorers with rewardFrom().",
  );
}

/** Number of queries outside any run before their missing reports look like a mistake: the first may still be reported. */
const UNREPORTED_QUERIES = 2;

/** Warns once when queries of a store that shares a memory belong to no run of it and get no report. */
export function unreportedQueries(logger: Logger | undefined): { queried(wasLetGo: boolean): void; reported(): void } {
  let unreported = 0;
  return {
    queried(wasLetGo) {
      unreported += 1;
      if (unreported !== UNREPORTED_QUERIES) return;
      const cause = wasLetGo
        ? "in a run that the memory had let go of, since more runs were open than engine.maxOpenEpisodes. Nothing is learned from that; raise the limit."
        : "outside its runs, and no report about the results arrived, so nothing is learned from that. In an agent's tool ask " +
          "documents.inRun(context), on a run with a thread; elsewhere call documents.reportOutcome(result, …).";
      warn(logger, "QUERY_OUTSIDE_RUN", `A vector store that shares a memory was queried ${cause}`);
    },
    reported() {
      unreported = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Warns once that runs end without a result: those of Mastra's legacy methods. */
export function warnOfUnknownEnd(parts: WarningParts): void {
  warnOncePerEngine(
    parts,
    "END_UNKNOWN",
    "Mastra did not give the result of a run, so neither its end nor evaluate is evidence about its memories. It never gives one for " +
      "generateLegacy and streamLegacy: use generate and stream, or report with memory.reportOutcome({ threadId, success }).",
  );
}
