import { labelScope, SCOPES } from "../ledger/state-keys.js";
import { scopesIn } from "../ledger/utility-bands.js";
import { DAMAGED_STATE } from "../store/damaged.js";
import { scanAll } from "../store/scan-all.js";
import type { StateRef, Store } from "../store/store.js";
import { sameBytes } from "../store/validate.js";
import type { StateOverlay } from "../store/write-overlay.js";

/** Scopes that every namespace may have, whatever its collections are called. */
const FIXED_SCOPES = [
  SCOPES.episode,
  SCOPES.alias,
  SCOPES.shared,
  SCOPES.stats,
  SCOPES.source,
  SCOPES.revisit,
  SCOPES.place,
];

/** States that are stored otherwise than expected, or not expected at all, or missing. */
export async function differencesIn(
  store: Store,
  namespace: string,
  { scopes: states }: Pick<StateOverlay, "scopes">,
): Promise<StateRef[]> {
  const differences: StateRef[] = [];
  const scopes = new Set([...FIXED_SCOPES, ...states.keys()]);
  for await (const page of scanAll(store, namespace, SCOPES.shared)) {
    for (const { id } of page) for (const scope of [labelScope(id), ...scopesIn(id)]) scopes.add(scope);
  }
  for (const scope of scopes) {
    const expected = new Map(states.get(scope));
    for await (const page of scanAll(store, namespace, scope)) {
      for (const { id, value } of page) {
        const bytes = expected.get(id);
        if (!bytes || !isSame(value, bytes)) differences.push({ scope, id });
        expected.delete(id);
      }
    }
    for (const [id, bytes] of expected) if (bytes) differences.push({ scope, id });
  }
  return differences;
}

/** True if a state is stored as it was folded; a damaged one never is, whatever its bytes. */
export function isSame(stored: Uint8Array | undefined, folded: Uint8Array | undefined): boolean {
  return stored && folded ? stored !== DAMAGED_STATE && sameBytes(stored, folded) : stored === folded;
}
