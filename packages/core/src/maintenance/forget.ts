import { COLLECTION, DEFAULT_NAME, NAME, NAMES } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { assertConditionsGiven, checkFields } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import type { ShownItem } from "../ledger/events.js";
import { commitEvent } from "./commit-event.js";

/** Memories of a collection, or a namespace with everything in it. */
export type ForgetOptions =
  | {
      readonly namespace: string;
      /** @default "default" */
      readonly collection?: string;
      readonly ids: readonly string[];
    }
  | { readonly namespace: string; readonly collection?: never; readonly ids?: never };

/**
 * With ids: their learned state goes and a reused id starts cold. Without: the namespace is erased physically.
 *
 * @throws INVALID_ARGUMENT also for ids or a collection that are there but undefined, and for a collection without ids, since
 * the call never guesses what to erase; INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH with ids, STORE_UNAVAILABLE while outcomes of
 * the namespace wait in the outbox, and the store's codes
 */
export async function forget(engine: Engine, options: ForgetOptions): Promise<void> {
  const parts = partsOf(engine);
  const checked = checkForget(options);
  if (checked.ids?.length === 0) return;
  return parts.tasks.track(forgetNow(parts, checked, parts.tasks.current()));
}

/** @param running calls to wait for first: their records would bring the memory back after it was forgotten */
async function forgetNow(
  parts: EngineParts,
  { namespace, collection, ids }: CheckedForget,
  running: Promise<void>,
): Promise<void> {
  const { store, queue, open } = parts;
  await running;
  if (!ids) {
    await queue?.discard(namespace);
    for (const episode of open.all()) if (episode.namespace === namespace) open.remove(episode);
    await store.eraseNamespace(namespace);
    return;
  }
  const gone = new Set(ids);
  await changeShown(parts, { namespace, collection }, gone, () => undefined);
  const event = { type: "forget", collection, ids: [...gone] } as const;
  await commitEvent(parts, namespace, event);
}

/**
 * Changes or removes memories in the exposures of open episodes, which are recorded after the entry that follows. Sends waiting
 * outcomes first, since they happened before.
 *
 * @param change Undefined drops an item that was shown.
 */
export async function changeShown(
  { queue, open, recorder }: EngineParts,
  { namespace, collection }: { readonly namespace: string; readonly collection: string },
  ids: ReadonlySet<string>,
  change: (item: ShownItem) => ShownItem | undefined,
): Promise<void> {
  const episodes = open.all().filter((episode) => episode.namespace === namespace);
  await queue?.settle(namespace);
  for (const episode of episodes) await recorder.recordUnsent(episode);
  for (const episode of open.all()) {
    if (episode.namespace !== namespace) continue;
    for (const exposure of episode.exposures) {
      if (exposure.collection !== collection) continue;
      const idOf = ({ candidate }: ShownItem): string => exposure.ids[candidate] as string;
      const changed = (items: readonly ShownItem[]): ShownItem[] =>
        items.flatMap((item) => (ids.has(idOf(item)) ? (change(item) ?? []) : item));
      const forgotten = exposure.shown.filter((item) => ids.has(idOf(item)) && !change(item));
      for (const item of forgotten) episode.forgotten.push({ id: idOf(item), handle: `m${item.handle}` });
      exposure.shown = changed(exposure.shown);
      // Its place stays explained: it was in the list.
      const nameless = forgotten.map((item) => ({ ...item, contentHash: 0, label: "" }));
      exposure.dropped = [...changed(exposure.dropped), ...nameless];
    }
  }
}

const RULES = { namespace: NAME, collection: COLLECTION, ids: NAMES } as const;

interface CheckedForget {
  readonly namespace: string;
  readonly collection: string;
  readonly ids: readonly string[] | undefined;
}

/**
 * Copies the options. Strict, since an option that is not understood would erase the whole namespace.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
function checkForget(options: ForgetOptions): CheckedForget {
  checkFields("forget", options, RULES, ["namespace"]);
  assertConditionsGiven(options, "forget", ["ids", "collection"]);
  const { namespace, collection, ids } = options;
  if (ids === undefined && collection !== undefined) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `forget: collection ${collection} is named without ids. Name the memories, or leave both out to erase the namespace with all its collections.`,
      { details: { collection } },
    );
  }
  return {
    namespace,
    collection: collection ?? DEFAULT_NAME,
    ids: ids && [...ids],
  };
}
