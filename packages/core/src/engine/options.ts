import type { Learner } from "../learners/learner.js";
import type { Governance } from "../ledger/governance.js";
import type { SetTimer } from "../resilience/timeout.js";
import type { Store } from "../store/store.js";

/** Receives coded diagnostics. Never gets memory text. All methods are optional. */
export interface Logger {
  debug?(message: string, fields: LogFields): void;
  info?(message: string, fields: LogFields): void;
  warn?(message: string, fields: LogFields): void;
  error?(message: string, fields: LogFields): void;
}

/** `code` is stable and documented in docs/reference/log-codes.md. */
export interface LogFields {
  readonly code: string;
  readonly [field: string]: unknown;
}

export interface EngineOptions {
  readonly store: Store;
  /** @default oar() */
  readonly learner?: Learner | undefined;
  /** False turns the engine into a pass-through: the host's order, no reads, no writes. @default true */
  readonly enabled?: boolean | undefined;
  /** The effect of a changed memory text on its evidence: keep it, halve it, or start cold. @default "discount" */
  readonly onEdit?: "keep" | "discount" | "reset" | undefined;
  /** An open episode that was not touched for this long is abandoned: recorded, counted, never a failure. Ms. @default 3,600,000 */
  readonly episodeTtl?: number | undefined;
  /** Open episodes kept in memory; beyond it the oldest is abandoned. @default 10,000 */
  readonly maxOpenEpisodes?: number | undefined;
  /** How long after its episode's last exposure an outcome is accepted. Ms. @default 30 days */
  readonly outcomeWindow?: number | undefined;
  /** Candidates recorded per exposure; the shown ones always are. @default 50 */
  readonly recordedCandidates?: number | undefined;
  /**
   * Share of episodes, in [0, 1], that are served in the host's order, so that `status()` can say what learning is worth. They are
   * recorded and teach as all others do. Decided per episode by a hash of its id. Costs that share of the gain; 0 always serves the
   * learned order, 1 watches and never reorders.
   * @default as the learner asks: `oar` begins with 0.15 after 300 outcomes, or with 0.9 once its predictions failed, and draws few
   * where learning surely helps; some go on, since evidence fades
   */
  readonly holdout?: number | undefined;
  /**
   * Share of episodes, in [0, 1], that are shown no memory, so that `status()` can say what memory itself is worth. They are recorded
   * with the rest and teach nothing. Decided per episode by a hash of its id, before `holdout`, whose share is of the others.
   * Required memories (`RankRequest.required`) are always shown. @default 0
   */
  readonly memoryOff?: number | undefined;
  /**
   * Rules for the trust in sources: `governance()` of `@qavr/core/governance`. All engines of one ledger need it, or none.
   * @default every outcome counts in full
   */
  readonly governance?: Governance | undefined;
  /**
   * How long a ranking waits for one answer of the store before it keeps the host's order. Ms. Raise it for a store that is far away:
   * the host waits as long. @default 50
   */
  readonly readTimeout?: number | undefined;
  /**
   * How long everything that acknowledges or reports waits for one answer of the store. Ms. Keep it no shorter than the store's own timeouts,
   * whose errors say more. @default 10,000
   */
  readonly writeTimeout?: number | undefined;
  /** Unix ms. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Runs a function after so many ms, for the timeouts. Returns a function that cancels it. @default setTimeout */
  readonly setTimer?: SetTimer | undefined;
  /** New episode ids. @default the time and 62 random bits, to base 36 */
  readonly createId?: (() => string) | undefined;
  /** @default silent */
  readonly logger?: Logger | undefined;
}
