import { sameBytes } from "@qavr/core/store";

/**
 * A moment in the history of a namespace. The revision alone does not identify it: a promoted replica that lacked the last commits, or a
 * restored backup, reaches the same revision by other commits.
 */
export interface Moment {
  /** Grows with every change to the namespace's states, and never repeats in one history, not even after an erasure. */
  readonly revision: number;
  /** Digest of the entry at the head, which covers all entries before it. */
  readonly digest: Uint8Array;
}

/** The moment of a namespace that does not exist. */
export const ABSENT: Moment = { revision: 0, digest: new Uint8Array() };

/** True when two moments, and with them the states of the namespace, are the same. */
export function isSameMoment(one: Moment | undefined, other: Moment | undefined): boolean {
  return (
    one !== undefined && other !== undefined && one.revision === other.revision && sameBytes(one.digest, other.digest)
  );
}
