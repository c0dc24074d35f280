import { COLLECTION, DEFAULT_NAME, NAME, NAMES } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkFields } from "../errors/field-rules.js";
import type { CopyEvent, RevisionEvent } from "../ledger/events.js";
import { commitEvent } from "./commit-event.js";
import { changeShown } from "./forget.js";

/** Memories of a collection. */
interface InCollection {
  /** @default "default" */
  readonly namespace?: string | undefined;
  /** @default "default" */
  readonly collection?: string | undefined;
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

const RULES = { namespace: NAME, collection: COLLECTION } as const;

/**
 * Notes that the texts of memories have changed: their evidence counts as `onEdit` says from the next ranking on. Without this call an
 * edit is noticed by the recorded ranking that first shows the new text, and counts from the one after it.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH and the store's codes
 */
export async function revise(engine: Engine, options: ReviseOptions): Promise<void> {
  const parts = partsOf(engine);
  checkFields("revise", options, { ...RULES, ids: NAMES }, ["ids"]);
  const ids = [...new Set(options.ids)];
  if (ids.length === 0) return;
  await commit(parts, options, (collection) => ({ type: "revision", collection, onEdit: parts.onEdit, ids }));
}

/**
 * Copies the evidence, confirmations and fingerprint of memories to others. Afterwards each learns for itself, and outcomes of
 * earlier runs reach the original alone.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH and the store's codes
 */
export async function copyLearned(engine: Engine, options: CopyOptions): Promise<void> {
  const parts = partsOf(engine);
  checkFields("copyLearned", options, { ...RULES, memories: [Array.isArray, "an array of { from, to }"] }, [
    "memories",
  ]);
  const memories = options.memories.map((pair) => {
    checkFields("A copy", pair, { from: NAME, to: NAME }, ["from", "to"]);
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
  const { tasks } = parts;
  const running = tasks.current();
  await tasks.track(
    (async () => {
      await running;
      const event = eventOf(collection);
      const revised = new Set(event.type === "revision" ? event.ids : []);
      // They showed the old text. With its fingerprint, the new text would count as a further edit.
      await changeShown(parts, { namespace, collection }, revised, (item) => ({ ...item, contentHash: 0 }));
      await commitEvent(parts, namespace, event);
    })(),
  );
}
