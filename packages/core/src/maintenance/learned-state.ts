import { COLLECTION, DEFAULT_NAME, NAME } from "../engine/check.js";
import { partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkFields, checkObject, type FieldRules } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import type { StateCodec } from "../learners/learner.js";
import type { ImportEvent } from "../ledger/events.js";
import { decodeSharedRecord } from "../ledger/shared-record.js";
import { memoryScope, SCOPES } from "../ledger/state-keys.js";
import { scanAll } from "../store/scan-all.js";
import { STORE_LIMITS } from "../store/store.js";
import { assertName } from "../store/validate.js";
import { commitEvent } from "./commit-event.js";

/** Memories per import entry … */
const IMPORT_BATCH = 400;
/** … of at most this many bytes together: states may be of any size. */
const IMPORT_BYTES = STORE_LIMITS.payloadBytes / 2;

/** UTF-8, per UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
const NOTHING = new Uint8Array(0);

/** A learner's states, decoded: their types are the learner's own (`OarMemory`, `QValueState`, …). */
export interface LearnedState<Shared = unknown, Memory = unknown> {
  readonly shared?: Shared;
  readonly memories: readonly { readonly id: string; readonly state: Memory }[];
}

const COLLECTION_RULES = { namespace: NAME, collection: COLLECTION } as const;
const IMPORT_RULES: FieldRules<Parameters<typeof importState>[1]> = {
  ...COLLECTION_RULES,
  shared: true,
  memories: [Array.isArray, "an array of { id, state }"],
};

/**
 * Takes over learned state from elsewhere, as this engine's learner keeps it; states of the same ids are replaced. Recorded in the
 * ledger.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, INVALID_STATE for a state that the learner could not rank with,
 * LEARNER_MISMATCH, and the store's codes
 */
export async function importState(
  engine: Engine,
  state: LearnedState & { readonly namespace?: string | undefined; readonly collection?: string | undefined },
): Promise<void> {
  const parts = partsOf(engine);
  const { learner, tasks } = parts;
  checkFields("importState", state, IMPORT_RULES, ["memories"]);
  const { namespace = DEFAULT_NAME, collection = DEFAULT_NAME, shared, memories } = state;
  if (shared !== undefined) assertValid(learner.shared, shared, `the shared state of collection ${collection}`);
  for (const memory of memories) {
    checkObject(memory, "A memory to import");
    assertName(memory.id, "memory id");
    assertValid(learner.memory, memory.state, `the state of memory ${memory.id}`);
  }
  // All of it before the first is written: an import is refused whole, and the caller may go on using its objects.
  const encodedShared = shared === undefined ? NOTHING : learner.shared.encode(shared, 0);
  const encoded = memories.map(({ id, state }) => ({ id, state: learner.memory.encode(state, 0) }));
  const batches = batchesOf(encoded, encodedShared.length);
  const writeAll = async (): Promise<void> => {
    for (const [place, batch] of batches.entries()) {
      const event: ImportEvent = {
        type: "import",
        learner: learner.id,
        collection,
        shared: place === 0 ? encodedShared : NOTHING,
        memories: batch,
      };
      await commitEvent(parts, namespace, event);
    }
  };
  return tasks.track(writeAll());
}

/**
 * Reads the state that this engine's learner keeps of a collection.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH, and the store's codes
 */
export async function exportState(
  engine: Engine,
  options: { readonly namespace?: string | undefined; readonly collection?: string | undefined } = {},
): Promise<LearnedState> {
  const { learner, states, store } = partsOf(engine);
  checkFields("exportState", options, COLLECTION_RULES);
  const { namespace = DEFAULT_NAME, collection = DEFAULT_NAME } = options;
  const [bytes] = await store.readStates(namespace, SCOPES.shared, [collection]);
  // Copies: decoded states may be views of the store's own bytes, and the caller may change them.
  const shared = bytes && decodeSharedRecord(new Uint8Array(bytes), learner);
  const memories: LearnedState["memories"][number][] = [];
  for await (const page of scanAll(store, namespace, memoryScope(collection))) {
    for (const { id, value } of page) {
      const state = states.memory(new Uint8Array(value)).learned;
      if (state !== undefined) memories.push({ id, state });
    }
  }
  return shared ? { shared: shared.state, memories } : { memories };
}

/**
 * Splits memories into batches that fit into one ledger entry each. Returns at least one batch, which has room for the shared state.
 *
 * @throws LIMIT_EXCEEDED for a state that fits into no entry
 */
function batchesOf(memories: ImportEvent["memories"], sharedBytes: number): ImportEvent["memories"][number][][] {
  let batch: ImportEvent["memories"][number][] = [];
  let bytes = sharedBytes;
  const batches = [batch];
  for (const memory of memories) {
    const size = memory.state.length + MOST_BYTES_PER_UNIT * memory.id.length;
    if (size > IMPORT_BYTES) throw tooLarge(memory.id, memory.state.length);
    if (batch.length >= IMPORT_BATCH || (bytes > 0 && bytes + size > IMPORT_BYTES)) {
      batch = [];
      batches.push(batch);
      bytes = 0;
    }
    batch.push(memory);
    bytes += size;
  }
  return batches;
}

function tooLarge(memory: string, bytes: number): QavrError {
  return new QavrError(
    "LIMIT_EXCEEDED",
    `The state of memory ${memory} takes ${bytes} bytes; at most ${IMPORT_BYTES} can be imported. Leave out what learning does not need, such as texts.`,
    { details: { memory, bytes, limit: IMPORT_BYTES } },
  );
}

/** @throws INVALID_STATE for a state that the learner could not rank with */
function assertValid<State>(codec: StateCodec<State>, state: State, what: string): void {
  const problem = codec.problem(state);
  if (problem === undefined) return;
  throw new QavrError(
    "INVALID_STATE",
    `The import holds ${what}, which is not valid: ${problem}. Correct or leave it out.`,
    {
      details: { what, problem },
    },
  );
}
