import type { EngineParts } from "../engine/parts.js";
import { QavrError } from "../errors/qavr-error.js";
import { bandIn } from "../ledger/memory-record.js";
import { collectionOf, SCOPES } from "../ledger/state-keys.js";
import { bandScope } from "../ledger/utility-bands.js";
import { stateAddress } from "../store/state-address.js";
import type { StateRef } from "../store/store.js";
import { differencesIn, isSame } from "./differences.js";
import type { Fold, LedgerReplay } from "./ledger-replay.js";

/** How often a rebuild begins again because of writers: they spoilt states that it had repaired, or took away the beginning. */
const ROUNDS = 5;
/** Entries and states that are settled at once: writers wait meanwhile, some tens of milliseconds. */
export const TAIL = 100;
const CHUNK = 1_000;

/**
 * Folds, compares, and writes the stored states that differ if asked to. Others may write all the time: the long parts hold no lock, and
 * the states that differ are settled a few at a time, each few at one moment with the last entries.
 *
 * @throws STORE_BUSY when writers go on spoiling states, and the store's codes
 */
export async function rebuild(
  parts: Pick<EngineParts, "store">,
  namespace: string,
  replay: LedgerReplay,
  write: boolean,
): Promise<{ readonly fold: Fold; readonly differences: readonly StateRef[] }> {
  const differences = new Map<string, StateRef>();
  for (let round = 0; round < ROUNDS; round++) {
    const fold = await replay.advance();
    const settled = await settle(parts, namespace, replay, write);
    // Compacted, erased or revoked in the meantime: the fold begins again.
    if (!settled) continue;
    for (const ref of settled) differences.set(stateAddress(ref), ref);
    // Entries that writers folded on a wrong state, before it was repaired, may have spread the damage.
    if (!write || settled.length === 0) return { fold, differences: [...differences.values()] };
  }
  throw new QavrError(
    "STORE_BUSY",
    `Namespace ${namespace} was changed during each of ${ROUNDS} replays. Pause its writers and call replay(engine, { write: true }) again; it also completes a revocation.`,
    { details: { namespace } },
  );
}

/**
 * Compares the stored states with the replay's fold and returns those that differ, each at a moment of its own; undefined when the fold
 * has to begin again.
 *
 * @param write repairs them
 */
export async function settle(
  { store }: Pick<EngineParts, "store">,
  namespace: string,
  replay: LedgerReplay,
  write: boolean,
): Promise<readonly StateRef[] | undefined> {
  const fold = await replay.advance();
  fold.takeTouched();
  // States that differ now are compared again below, since writers go on during the scan.
  const open = new Map<string, StateRef>();
  const add = (refs: readonly StateRef[]): void => {
    for (const ref of refs) open.set(stateAddress(ref), ref);
  };
  add((await differencesIn(store, namespace, fold.states)).toSorted((a, b) => urgency(a) - urgency(b)));
  const differing: StateRef[] = [];
  for (let isFirst = true; isFirst || open.size > 0; isFirst = false) {
    let checked: readonly StateRef[] = [];
    let wrong: readonly { readonly ref: StateRef; readonly bytes: Uint8Array | undefined }[] = [];
    let isCurrent = false;
    const done = await store.atHead(namespace, {
      after: fold.entries,
      limit: TAIL,
      write,
      *work(entries, head) {
        isCurrent = replay.follow(entries, head);
        if (!isCurrent) return undefined;
        add(fold.takeTouched());
        checked = [...open.values()].slice(0, CHUNK);
        const stored = yield checked;
        const found = checked.map((ref, place) => ({ ref, bytes: stored[place] }));
        wrong = found.filter(({ ref, bytes }) => !isSame(bytes, fold.state(ref)));
        return write && wrong.length > 0
          ? { states: wrong.map(({ ref }) => ({ ...ref, value: fold.state(ref) ?? null })) }
          : undefined;
      },
    });
    if (!done) {
      const { entries } = fold;
      if ((await replay.advance()) !== fold || fold.entries === entries) return undefined;
      add(fold.takeTouched());
      continue;
    }
    if (!isCurrent) return undefined;
    for (const ref of checked) open.delete(stateAddress(ref));
    differing.push(...wrong.map(({ ref }) => ref));
    // Writers that folded on a wrong record may have listed it in a wrong band.
    if (write) add(wrong.flatMap(({ ref, bytes }) => bandThatLists(ref, bytes) ?? []));
  }
  return differing;
}

/** The entry of a band that a memory's stored record names. */
function bandThatLists({ scope, id }: StateRef, stored: Uint8Array | undefined): StateRef | undefined {
  const collection = collectionOf(scope);
  const band = collection === undefined || !stored ? 0 : bandIn(stored);
  return band === 0 ? undefined : { scope: bandScope(band, collection as string), id };
}

/** States that rankings read come first. */
function urgency({ scope }: StateRef): number {
  return collectionOf(scope) !== undefined || scope === SCOPES.shared ? 0 : 1;
}
