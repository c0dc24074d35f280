import { QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import type { EditPolicy } from "../ledger/events.js";
import type { Governance } from "../ledger/governance.js";
import type { OutboxQueue, Store } from "../store/store.js";
import type { OpenEpisodes } from "./episodes/open-episodes.js";
import type { LogFields, Logger } from "./options.js";
import type { Recorder } from "./recorder.js";
import type { StateReader } from "./state-reader.js";
import type { TaskTracker } from "./task-tracker.js";
import type { Engine } from "./types.js";

/** Counts since the engine was made. */
export interface EngineCounters {
  /** Rankings without learning. */
  degraded: number;
  /** Episodes that could not be recorded and were dropped. */
  lost: number;
}

/** The state and services that the parts of one engine share. */
export interface EngineParts {
  readonly store: Store;
  readonly learner: Learner;
  readonly governance: Governance | undefined;
  readonly enabled: boolean;
  readonly states: StateReader;
  /** The states for ranking, which cannot wait: short timeout, no reads from a store that keeps failing. */
  readonly scoringStates: StateReader;
  /** The queue of outcomes while the store is out of reach; undefined without an outbox. */
  readonly queue: OutboxQueue | undefined;
  readonly open: OpenEpisodes;
  readonly recorder: Recorder;
  readonly tasks: TaskTracker;
  readonly onEdit: EditPolicy;
  readonly counters: EngineCounters;
  /** Share of episodes, in [0, 1]; undefined: as the learner asks. */
  readonly holdout: number | undefined;
  /** Share of episodes, in [0, 1]. */
  readonly memoryOff: number;
  /** Ms. */
  readonly outcomeWindow: number;
  /** Unix ms. */
  readonly now: () => number;
  readonly createId: () => string;
  readonly log: (level: keyof Logger, message: string, fields: LogFields) => void;
}

/** A registered symbol, so that maintenance works on an engine of another copy of this package. */
const PARTS: unique symbol = Symbol.for("qavr.engine.parts") as never;

/** Attaches the parts to an engine. A copy of the engine by a spread keeps them. */
export function withParts(engine: Engine, parts: EngineParts): Engine {
  return Object.assign(engine, { [PARTS]: parts });
}

/** @throws INVALID_ARGUMENT unless `engine` was made by createEngine() */
export function partsOf(engine: Engine): EngineParts {
  const parts = (engine as Partial<Record<typeof PARTS, EngineParts>> | undefined)?.[PARTS];
  if (parts) return parts;
  throw new QavrError("INVALID_ARGUMENT", "The first argument must be an engine that createEngine() made.");
}
