import { QavrError } from "../errors/qavr-error.js";
import { DAMAGED_STATE } from "./damaged.js";
import type { StateRef } from "./store.js";

/** The error for a state that must be known. */
export function damagedState({ scope, id }: StateRef): QavrError {
  return new QavrError("STORE_CORRUPT", `The stored state ${id} of ${scope} is damaged. repair(engine) rebuilds it.`, {
    details: { state: id, scope },
  });
}

/**
 * Refuses damaged states before something is learned on top of them. Call it with the states that a reduction asks for; the error rejects
 * that commit alone.
 *
 * @throws STORE_CORRUPT
 */
export function assertUndamaged(refs: readonly StateRef[], values: readonly (Uint8Array | undefined)[]): void {
  const place = values.indexOf(DAMAGED_STATE);
  if (place !== -1) throw damagedState(refs[place] as StateRef);
}
