import type { EngineParts } from "../engine/parts.js";
import { QavrError } from "../errors/qavr-error.js";
import type { StateRef } from "../store/store.js";
import { differencesIn } from "./differences.js";
import type { Fold, LedgerReplay } from "./ledger-replay.js";

/** How often a rebuild starts again because the ledger grew under it. */
const ATTEMPTS = 5;

/**
 * Folds until the ledger has not grown during one fold, compares, and replaces the stored states if asked to.
 *
 * @throws STORE_BUSY when the ledger grew during each attempt, and the store's codes
 */
export async function rebuild(
  { store }: EngineParts,
  namespace: string,
  replay: LedgerReplay,
  write: boolean,
): Promise<{ readonly fold: Fold; readonly differences: readonly StateRef[] }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const fold = await replay.advance();
    const differences = await differencesIn(store, namespace, fold.states);
    // The ledger grew while it was read: states and fold would differ for that alone.
    if ((await store.head(namespace)) !== fold.entries) continue;
    if (write && !(await store.replaceStates(namespace, fold.entries, fold.states))) continue;
    return { fold, differences };
  }
  throw new QavrError(
    "STORE_BUSY",
    `Namespace ${namespace} was written to during each of ${ATTEMPTS} replays. Pause its writers and call replay(engine) again; with write: true it also completes a revocation.`,
    { details: { namespace } },
  );
}
