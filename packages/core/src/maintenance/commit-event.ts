import type { EngineParts } from "../engine/parts.js";
import { encodeEvent, type MaintenanceEvent } from "../ledger/event-codec.js";
import { ledgerReducer, MAINTENANCE_EVENTS } from "../ledger/maintenance-events.js";
import type { CommitReceipt, LedgerEntry, Reduce } from "../store/store.js";

/** The fold of all that an engine's ledger may hold. */
export function reducerOf({ learner, governance }: Pick<EngineParts, "learner" | "governance">): Reduce {
  return ledgerReducer(learner, governance);
}

export function entryOf(key: string, event: MaintenanceEvent, at: number): LedgerEntry {
  return { key, type: event.type, at, payload: encodeEvent(event, MAINTENANCE_EVENTS) };
}

/** Records an event of maintenance and returns its place in the ledger. @throws the store's codes */
export async function commitEvent(
  parts: EngineParts,
  namespace: string,
  event: MaintenanceEvent,
  reduce: Reduce = reducerOf(parts),
): Promise<number> {
  const entry = entryOf(`${event.type}:${parts.createId()}`, event, parts.now());
  const [receipt] = await parts.store.commit(namespace, [entry], reduce);
  return (receipt as CommitReceipt).seq;
}
