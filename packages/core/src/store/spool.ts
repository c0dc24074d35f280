import type { LedgerEntry } from "./store.js";

/** A commit that waits for the store. */
export interface SpooledCommit {
  readonly namespace: string;
  readonly entries: readonly LedgerEntry[];
}

/** A commit in the spool. */
export interface WaitingCommit extends SpooledCommit {
  /** Grows with every commit; never used again. */
  readonly id: number;
  /**
   * What is wrong with a commit that cannot be read as it was written. It has no entries then, and its namespace is empty where that is lost,
   * too. It stays, and keeps nobody else from leaving.
   */
  readonly damage?: string;
}

/**
 * Where outcomes wait while the store is away: small, close and bounded. `sqliteSpool` of `@qavr/sqlite` keeps one in a local file.
 *
 * Several processes may share a spool, and each may pass on what another has left: the store drops what it knows already.
 */
export interface Spool {
  /** For messages. */
  readonly name: string;

  /** Keeps a commit; resolves once it is durable. @throws SPOOL_FULL beyond the spool's cap, having kept nothing */
  append(commit: SpooledCommit): Promise<void>;

  /** Commits with an id above `after`, oldest first, at most `limit` (1..1,000); damaged ones in their places. */
  read(options: { readonly after?: number; readonly limit: number }): Promise<readonly WaitingCommit[]>;

  /** Forgets commits that the store has. */
  remove(ids: readonly number[]): Promise<void>;

  /** How many commits wait. */
  size(): Promise<number>;

  /** Releases the file. Calling it twice is legal. */
  close(): Promise<void>;
}
