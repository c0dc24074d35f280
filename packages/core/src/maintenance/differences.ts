import { labelScope, SCOPES } from "../ledger/state-keys.js";
import { scopesIn } from "../ledger/utility-bands.js";
import { scanAll } from "../store/scan-all.js";
import type { StateRef, Store, StoredState } from "../store/store.js";
import { sameBytes } from "../store/validate.js";

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
  states: readonly StoredState[],
): Promise<StateRef[]> {
  const differences: StateRef[] = [];
  const byScope = Map.groupBy(states, ({ scope }) => scope);
  const scopes = new Set([...FIXED_SCOPES, ...byScope.keys()]);
  for await (const { id } of scanAll(store, namespace, SCOPES.shared)) {
    for (const scope of [labelScope(id), ...scopesIn(id)]) scopes.add(scope);
  }
  for (const scope of scopes) {
    const expected = new Map(byScope.get(scope)?.map(({ id, value }) => [id, value]));
    for await (const { id, value } of scanAll(store, namespace, scope)) {
      const bytes = expected.get(id);
      if (!bytes || !sameBytes(bytes, value)) differences.push({ scope, id });
      expected.delete(id);
    }
    for (const id of expected.keys()) differences.push({ scope, id });
  }
  return differences;
}
