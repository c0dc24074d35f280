import { assertConditionsGiven, checkFields, checkObject, checkOptions } from "../errors/known-fields.js";
import { QavrError } from "../errors/qavr-error.js";
import type { StateCodec } from "../learners/learner.js";
import type { ImportEvent } from "../ledger/events.js";
import { decodeSharedRecord } from "../ledger/shared-record.js";
import { memoryScope, SCOPES } from "../ledger/state-keys.js";
import { scanAll } from "../store/scan-all.js";
import { STORE_LIMITS } from "../store/store.js";
import { assertName } from "../store/validate.js";
import { checkCollection, DEFAULT_NAME, namesIn } from "./check.js";
import type { EngineContext } from "./context.js";
import { toEntry } from "./recorder.js";
import type { Engine, ForgetOptions, LearnedState } from "./types.js";

/** Memories per import entry … */
const IMPORT_BATCH = 400;
/** … of at most this many bytes together: states may be of any size. */
const IMPORT_BYTES = STORE_LIMITS.payloadBytes / 2;

/** UTF-8, per UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
const NOTHING = new Uint8Array(0);

export interface Maintainer extends Pick<Engine, "importState" | "exportState"> {
  /** @param begun waited for first: what is being recorded would come back after it was forgotten */
  forget(options: ForgetOptions, begun: Promise<void>): Promise<void>;
}

export function createMaintainer(context: EngineContext): Maintainer {
  const { store, states, open, recorder, learner, spool } = context;

  return {
    async forget(options, begun) {
      const { namespace, collection, ids } = checkForget(options);
      const gone = ids && new Set(ids);
      if (gone?.size === 0) return;
      await begun;
      // What waits to be recorded would come back after it was forgotten.
      if (!gone) await spool?.forget(namespace);
      else {
        await spool?.settle(namespace);
        for (const episode of open.all()) if (episode.namespace === namespace) await recorder.recordUnsent(episode);
      }
      for (const episode of open.all()) {
        if (episode.namespace !== namespace) continue;
        if (!gone) open.remove(episode);
        else {
          for (const exposure of episode.exposures) {
            if (exposure.collection !== collection) continue;
            exposure.shown = exposure.shown.filter((item) => !gone.has(exposure.ids[item.candidate] as string));
          }
        }
      }
      if (!gone) await store.eraseNamespace(namespace);
      else {
        const event = { type: "forget", collection, ids: [...gone] } as const;
        await recorder.commit(namespace, toEntry(`forget:${context.createId()}`, event, context.now()));
      }
    },

    async importState(state) {
      checkFields(state, "Learned state", "Learned state has no field", IMPORT_FIELDS);
      const { namespace = DEFAULT_NAME, collection = DEFAULT_NAME, shared, memories } = state;
      assertName(namespace, "namespace");
      checkCollection(collection);
      if (!Array.isArray(memories)) {
        throw new QavrError("INVALID_ARGUMENT", "Learned state needs memories: an array of { id, state }.");
      }
      if (shared !== undefined) assertLegal(learner.shared, shared, `the shared state of collection ${collection}`);
      for (const memory of memories) {
        checkObject(memory, "A memory to import");
        assertName(memory.id, "memory id");
        assertLegal(learner.memory, memory.state, `the state of memory ${memory.id}`);
      }
      // All of it before the first is written: what cannot be kept is refused whole, and the caller may go on with its objects.
      const encodedShared = shared === undefined ? NOTHING : learner.shared.encode(shared, 0);
      const encoded = memories.map(({ id, state }) => ({ id, state: learner.memory.encode(state, 0) }));
      const batches = batchesOf(encoded, encodedShared.length);
      for (const [place, batch] of batches.entries()) {
        const event: ImportEvent = {
          type: "import",
          learner: learner.id,
          collection,
          shared: place === 0 ? encodedShared : NOTHING,
          memories: batch,
        };
        await recorder.commit(namespace, toEntry(`import:${context.createId()}`, event, context.now()));
      }
    },

    async exportState(options = {}) {
      checkOptions(options, "exportState", { namespace: true, collection: true });
      const { namespace = DEFAULT_NAME, collection = DEFAULT_NAME } = options;
      assertName(namespace, "namespace");
      checkCollection(collection);
      const [bytes] = await store.readStates(namespace, SCOPES.shared, [collection]);
      // Copies: what is decoded may be a view of the store's own bytes, and whoever gets it may change it.
      const shared = bytes && decodeSharedRecord(new Uint8Array(bytes), learner);
      const memories: LearnedState["memories"][number][] = [];
      for await (const { id, value } of scanAll(store, namespace, memoryScope(collection))) {
        const state = states.memory(new Uint8Array(value)).learned;
        if (state !== undefined) memories.push({ id, state });
      }
      return shared ? { shared: shared.state, memories } : { memories };
    },
  };
}

/**
 * Memories to import, in entries that a store keeps; at least one entry, which has room for the shared state.
 *
 * @throws LIMIT_EXCEEDED for a state that fits into none
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
function assertLegal<State>(codec: StateCodec<State>, state: State, what: string): void {
  const problem = codec.problem(state);
  if (problem === undefined) return;
  throw new QavrError(
    "INVALID_STATE",
    `The import holds ${what}, which is not legal: ${problem}. Correct or leave it out.`,
    {
      details: { what, problem },
    },
  );
}

const IMPORT_FIELDS = { namespace: true, collection: true, shared: true, memories: true } as const;
const FORGET_OPTIONS = { namespace: true, collection: true, ids: true } as const;

/**
 * What to forget, as it was when it was asked for. Strict, since what is not understood would erase the whole namespace.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
function checkForget(options: ForgetOptions): {
  readonly namespace: string;
  readonly collection: string;
  readonly ids: readonly string[] | undefined;
} {
  checkFields(options, "What to forget", "forget has no option", FORGET_OPTIONS);
  assertConditionsGiven(options, "forget", ["ids", "collection"]);
  const { namespace, collection, ids } = options;
  assertName(namespace, "namespace");
  if (collection !== undefined) checkCollection(collection);
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
    ids: ids === undefined ? undefined : namesIn(ids, "ids"),
  };
}
