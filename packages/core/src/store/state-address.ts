import type { StateRef } from "./store.js";

/** Scope and id as one string, for maps of states. The length in front makes it unambiguous whatever the names hold. */
export function stateAddress(ref: StateRef): string {
  return `${ref.scope.length}:${ref.scope}${ref.id}`;
}
