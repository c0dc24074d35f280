import type { SourceCap } from "../credit/caps.js";
import type { Learner } from "../learners/learner.js";
import type { EditPolicy } from "../ledger/events.js";
import type { Reduce, Store } from "../store/store.js";
import type { OpenEpisodes } from "./open-episodes.js";
import type { OutcomeSpool } from "./outcome-spool.js";
import type { Recorder } from "./recorder.js";
import type { StateReader } from "./state-reader.js";
import type { LogFields, Logger } from "./types.js";

/** What has happened since the engine was made. */
export interface EngineCounters {
  /** Rankings without learning. */
  degraded: number;
  /** Episodes that could not be recorded and were let go. */
  lost: number;
  /** Commits in the spool, as far as this engine knows. */
  spooled: number;
  /** Commits that neither the store nor the spool had room for. */
  rejected: number;
}

/** What the parts of one engine share. */
export interface EngineContext {
  readonly store: Store;
  readonly learner: Learner;
  readonly enabled: boolean;
  readonly reduce: Reduce;
  readonly states: StateReader<unknown, unknown>;
  /** The states for ranking, which cannot wait: short deadline, no reads from a store that keeps failing. */
  readonly scoringStates: StateReader<unknown, unknown>;
  /** Where outcomes wait while the store is out of reach; undefined: nowhere. */
  readonly spool: OutcomeSpool | undefined;
  readonly open: OpenEpisodes;
  readonly recorder: Recorder;
  readonly onEdit: EditPolicy;
  readonly counters: EngineCounters;
  /** Share of episodes, in [0, 1]. */
  readonly holdout: number;
  readonly trust: "off" | "audited";
  readonly sourceCaps: SourceCap | undefined;
  readonly outcomeWindow: number;
  readonly now: () => number;
  readonly createId: () => string;
  readonly log: (level: keyof Logger, message: string, fields: LogFields) => void;
}
