import type { Store } from "./store.js";

/**
 * Stands for a state whose bytes are not those that were written, in the answers of {@link Store.readStates} and in scans. It is compared by
 * identity: a state may be empty.
 */
export const DAMAGED_STATE: Uint8Array = new Uint8Array(0);

/** A damaged state, as the details of its error and of its log line name it. */
export interface DamagedState {
  readonly scope: string;
  /** Id. */
  readonly state: string;
}
