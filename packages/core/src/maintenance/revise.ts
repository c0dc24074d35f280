import { checkCollection, DEFAULT_NAME, namesIn } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import { toEntry } from "../engine/recorder.js";
import type { Engine } from "../engine/types.js";
import { checkFields, checkObject } from "../errors/known-fields.js";
import type { CopyEvent, RevisionEvent } from "../ledger/events.js";
import { assertName } from "../store/validate.js";
import { changeShown } from "./forget.js";

/** Memories of a collection. */
interface InCollection {
  /** @default "default" */
  readonly namespace?: string;
  /** @default "default" */
  readonly collection?: string;
}

/** Memories whose texts have changed. */
export interface ReviseOptions extends InCollection {
  readonly ids: readonly string[];
}

/** Memories that begin as copies. */
export interface CopyOptions extends InCollection {
  /** Each copy's id, and the id of the memory that it copies. */
  readonly memories: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Notes that the texts of memories have changed: their evidence counts as `onEdit` says from the next ranking on. Without this call an
 * edit is noticed by the recorded ranking that first shows the new text, and counts from the one after it.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH and the store's codes
 */
export async function revise(engine: Engine, options: ReviseOptions): Promise<void> {
  const parts = partsOf(engine);
  checkFields(options, "What to revise", "revise has no option", { namespace: true, collection: true, ids: true });
  const ids = [...new Set(namesIn(options.ids, "ids"))];
  if (ids.length === 0) return;
  await commit(parts, options, (collection) => ({ type: "revision", collection, onEdit: parts.onEdit, ids }));
}

/**
 * Gives memories what is known of others: evidence, confirmations, fingerprint. Afterwards each learns for itself, and outcomes of
 * earlier runs reach the original alone.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH and the store's codes
 */
export async function copyLearned(engine: Engine, options: CopyOptions): Promise<void> {
  const parts = partsOf(engine);
  checkFields(options, "What to copy", "copyLearned has no option", {
    namespace: true,
    collection: true,
    memories: true,
  });
  const memories = options.memories.map((pair) => {
    checkObject(pair, "A copy, such as { from, to },");
    assertName(pair.from, "memory id");
    assertName(pair.to, "memory id");
    return { from: pair.from, to: pair.to };
  });
  if (memories.length === 0) return;
  await commit(parts, options, (collection) => ({ type: "copy", collection, memories }));
}

async function commit(
  parts: EngineParts,
  { namespace = DEFAULT_NAME, collection = DEFAULT_NAME }: InCollection,
  eventOf: (collection: string) => RevisionEvent | CopyEvent,
): Promise<void> {
  assertName(namespace, "namespace");
  checkCollection(collection);
  const { recorder, createId, now, tasks } = parts;
  const running = tasks.current();
  await tasks.track(
    (async () => {
      await running;
      const event = eventOf(collection);
      const revised = new Set(event.type === "revision" ? event.ids : []);
      // They showed the old text. With its fingerprint, the new text would count as a further edit.
      await changeShown(parts, { namespace, collection }, revised, (item) => ({ ...item, contentHash: 0 }));
      await recorder.commit(namespace, toEntry(`${event.type}:${createId()}`, event, now()));
    })(),
  );
}
