import { type FieldRules, oneOf, resolveOptions, whole } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import { decodeEvent } from "../ledger/event-codec.js";
import { MAINTENANCE_EVENTS } from "../ledger/maintenance-events.js";
import { MemoryRecord } from "../ledger/memory-record.js";
import { memoryRef, memoryScope } from "../ledger/state-keys.js";
import { assertUndamaged } from "../store/damaged-state.js";
import type { SequencedEntry } from "../store/store.js";
import { COLLECTION, COUNT, DEFAULT_NAME, NAME, NAMES } from "./check.js";
import { viewOfExposure } from "./explain.js";
import { labelsOf } from "./labels.js";
import { memoriesByUtility } from "./memories-by-utility.js";
import type { EngineParts } from "./parts.js";
import type { HistoryOptions, MemoriesOptions, MemoryView } from "./reports.js";
import type { Engine, HistoryEvent } from "./types.js";

const LIMIT = whole(1, 1_000);
const MEMORIES: FieldRules<MemoriesOptions> = {
  namespace: NAME,
  collection: COLLECTION,
  ids: NAMES,
  order: oneOf("id", "lowest", "highest"),
  after: NAME,
  limit: LIMIT,
};
const HISTORY: FieldRules<HistoryOptions> = { namespace: NAME, after: COUNT, limit: LIMIT };
const MEMORY_DEFAULTS = { namespace: DEFAULT_NAME, collection: DEFAULT_NAME, order: "id", limit: 100 } as const;
const HISTORY_DEFAULTS = { namespace: DEFAULT_NAME, after: 0, limit: 100 } as const;

interface StoredMemory {
  readonly id: string;
  readonly record: MemoryRecord;
}

type Writable<View> = { -readonly [Field in keyof View]: View[Field] };

/** `Engine.memories`. One or two reads of the store, and one of the labels; by utility up to a few. */
export async function readMemories(parts: EngineParts, options: MemoriesOptions = {}): ReturnType<Engine["memories"]> {
  const { store, states, learner, now } = parts;
  const { namespace, collection, order, after, limit, ids } = resolveOptions(
    "memories",
    options,
    MEMORY_DEFAULTS,
    MEMORIES,
  );
  if (ids && [options.order, after, options.limit].some((given) => given !== undefined)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      "memories: ids name all memories wanted. Leave out order, after and limit.",
    );
  }
  await states.ownStats(namespace);
  const views = async (found: readonly StoredMemory[]): Promise<MemoryView[]> => {
    const named = found.filter(({ record }) => record.labelled).map(({ id }) => id);
    const labels = await labelsOf(store, namespace, collection, named);
    const at = now();
    return found.map(({ id, record }) => viewOfMemory(learner, id, record, labels.get(id), at));
  };

  const scope = memoryScope(collection);
  const recordOf = (id: string, value: Uint8Array | undefined): StoredMemory => {
    assertUndamaged([memoryRef(collection, id)], [value]);
    return { id, record: new MemoryRecord(learner.memory, value) };
  };
  if (ids) {
    const found = await store.readStates(namespace, scope, ids);
    return { memories: await views(ids.map((id, i) => recordOf(id, found[i]))) };
  }
  if (order !== "id") {
    const page = await memoriesByUtility(parts, namespace, collection, { order, after, limit });
    const { more, unread } = page;
    const memories = await views(page.memories);
    return {
      memories,
      ...(more ? { next: memories.at(-1)?.id as string } : {}),
      ...(unread > 0 ? { unread } : {}),
    };
  }
  const found = await store.scanStates(namespace, scope, after === undefined ? { limit } : { after, limit });
  // A forgotten memory leaves a record without counts.
  const known = found
    .map(({ id, value }) => recordOf(id, value))
    .filter(({ record }) => record.shown > 0 || record.learned !== undefined);
  const memories = await views(known);
  return found.length < limit ? { memories } : { memories, next: found.at(-1)?.id as string };
}

/** `Engine.history`. One read of the store. */
export async function readHistory({ store }: EngineParts, options: HistoryOptions = {}): ReturnType<Engine["history"]> {
  const { namespace, after, limit } = resolveOptions("history", options, HISTORY_DEFAULTS, HISTORY);
  const events = (await store.readEntries(namespace, { after, limit })).map(viewOfEntry);
  return events.length < limit ? { events } : { events, next: events.at(-1)?.seq as number };
}

function viewOfMemory(
  learner: Learner,
  id: string,
  record: MemoryRecord,
  label: string | undefined,
  at: number,
): MemoryView {
  const { shown, lastShown, used, successes, failures, helpful, harmful, wins, losses, contentHash } = record;
  const { utility, evidence } = learner.describe(record.learned ?? learner.memory.empty(), at);
  const counts = { shown, used, successes, failures, helpful, harmful, wins, losses };
  const view: Writable<MemoryView> = { id, ...counts, utility, evidence };
  if (label !== undefined) view.label = label;
  if (shown > 0) view.lastShown = lastShown;
  if (contentHash !== 0) view.contentHash = contentHash;
  return view;
}

function viewOfEntry({ seq, at, type, payload }: SequencedEntry): HistoryEvent {
  const event = decodeEvent(type, payload, MAINTENANCE_EVENTS);
  switch (event.type) {
    case "exposure": {
      const { episode, state, aliases, exposures } = event;
      return { seq, at, type: event.type, episode, state, aliases, exposures: exposures.map(viewOfExposure) };
    }
    case "import": {
      const { learner, collection, memories } = event;
      return { seq, at, type: event.type, learner, collection, ids: memories.map(({ id }) => id) };
    }
    default:
      return { seq, at, ...event };
  }
}
