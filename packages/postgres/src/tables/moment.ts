import { sameBytes } from "@qavr/core";

/**
 * A moment in the history of a namespace. The number alone does not tell one from another: a replica that had not received the last
 * commits and was promoted, or a backup that was restored, comes to the same number by other commits.
 */
export interface Moment {
  /** Goes up with every change to the namespace's states, and never comes again in one history: not even after it was erased. */
  readonly revision: number;
  /** Of the entry at the head, which stands for all before it. */
  readonly digest: Uint8Array;
}

/** Of a namespace that is not there. */
export const ABSENT: Moment = { revision: 0, digest: new Uint8Array() };

/** Whether two moments are one, and with them the states of the namespace. */
export function isSameMoment(one: Moment | undefined, other: Moment | undefined): boolean {
  return (
    one !== undefined && other !== undefined && one.revision === other.revision && sameBytes(one.digest, other.digest)
  );
}
