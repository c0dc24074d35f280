import type { StateRef } from "./store.js";

/** Two names as one string, for maps. The length in front makes it unambiguous whatever the names hold. */
export function pairKey(first: string, second: string): string {
  return `${first.length}:${first}${second}`;
}

/** Scope and id as one string, for maps of states. */
export function stateAddress(ref: StateRef): string {
  return pairKey(ref.scope, ref.id);
}
