import type { LedgerEntry } from "./store.js";

/** A commit that waits for the store. */
export interface QueuedCommit {
  readonly namespace: string;
  readonly entries: readonly LedgerEntry[];
}

/** A commit in the outbox. */
export interface WaitingCommit extends QueuedCommit {
  /** Grows with every commit; never used again. */
  readonly id: number;
  /**
   * Why the commit cannot be read as it was written. A damaged commit has no entries, and an empty namespace if that is lost, too. It
   * stays in the outbox and does not block other commits.
   */
  readonly damage?: string;
}

/**
 * A bounded, local queue of outcomes for the time that the store is away. `sqliteOutbox` of `@qavr/sqlite` keeps one in a local file.
 *
 * Several processes may share an outbox, and each may send commits of another: the store drops known ones.
 */
export interface Outbox {
  /** For messages. */
  readonly name: string;

  /** Keeps a commit; resolves once it is durable. @throws OUTBOX_FULL beyond the outbox's cap, having kept nothing */
  append(commit: QueuedCommit): Promise<void>;

  /** Commits with an id above `after`, oldest first, at most `limit` (1..1,000); damaged ones in their places. */
  read(options: { readonly after?: number; readonly limit: number }): Promise<readonly WaitingCommit[]>;

  /** Forgets commits that the store has. */
  remove(ids: readonly number[]): Promise<void>;

  /** How many commits wait. */
  size(): Promise<number>;

  /** Releases the file. Calling it twice is legal. */
  close(): Promise<void>;
}
