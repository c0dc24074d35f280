import { type OutcomeInput, QavrError } from "@qavr/core";
import { createRunKit, isEnabled, type RunKit } from "@qavr/core/adapter";
import { defaultStoreProblem } from "./default-store.js";
import { assertLearningOptions, type LearningOptions } from "./learning-options.js";
import type { OwnLogCode } from "./log-codes.js";
import { MESSAGES } from "./recall/collections.js";
import { storable } from "./runs/aliases.js";
import { finishOutcomes } from "./runs/finish-reasons.js";
import { type SharedEngine, shareEngine } from "./shared-engines.js";

/** The parts of one memory. A function takes the few that it uses. */
export interface MemoryParts {
  /** Engine, log and what failures of learning mean. */
  readonly kit: RunKit<OwnLogCode>;
  /** The engine's lease and its runs, which memories on one engine share. */
  readonly shared: SharedEngine;
  readonly options: LearningOptions;
  /** False leaves Mastra to itself; other memories may still learn with the engine. */
  readonly enabled: boolean;
  /** Name of the collection of messages in the ledger. */
  readonly messages: string;
  /** The outcome of each finish reason. */
  readonly outcomes: Readonly<Record<string, OutcomeInput | null>>;
  /** Ids of scorers that report their scores themselves; the exporter ignores their scores. */
  readonly reporting: Set<string>;
}

/** Checks the options and makes the parts of a memory. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function createParts(options: LearningOptions): MemoryParts {
  assertLearningOptions(options);
  const { logger, onError } = options;
  const outcomes = finishOutcomes(options.outcomes);
  const shared = shareEngine(options);
  const { engine } = shared;
  const problem = options.engine ? undefined : defaultStoreProblem(options.store);
  return {
    kit: createRunKit<OwnLogCode>({ engine, logger, onError, problem, storable, warned: ["SCORE_IGNORED"] }),
    shared,
    options,
    // A shared engine stays on for other memories.
    enabled: isEnabled(options) && shared.engine.enabled,
    messages: options.semanticRecall?.collection ?? MESSAGES,
    outcomes,
    reporting: new Set(),
  };
}

/** `instanceof` and module state would fail across two copies of this package (ESM and CJS) in one process. */
const PARTS: symbol = Symbol.for("qavr.mastra.parts");

/** Hides the parts on the memory that applications hold. */
export function attachParts(memory: object, parts: MemoryParts): void {
  Object.defineProperty(memory, PARTS, { value: parts });
}

/** @throws INVALID_ARGUMENT for anything that is no QavrMemory */
export function partsOf(memory: unknown): MemoryParts {
  const parts = (memory as Record<symbol, unknown> | null | undefined)?.[PARTS];
  if (parts) return parts as MemoryParts;
  throw new QavrError("INVALID_ARGUMENT", "memory must be a QavrMemory.", { details: { received: typeof memory } });
}
