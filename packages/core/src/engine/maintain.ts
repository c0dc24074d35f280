import { QavrError } from "../errors/qavr-error.js";
import type { StateCodec } from "../learners/learner.js";
import type { ImportEvent } from "../ledger/events.js";
import { memoryScope } from "../ledger/state-keys.js";
import { scanAll } from "../store/scan-all.js";
import { assertName } from "../store/validate.js";
import { checkCollection, checkNames, checkObject, DEFAULT_NAME } from "./check.js";
import type { EngineContext } from "./context.js";
import { assertConditionsGiven, assertKnownFields } from "./known-fields.js";
import { toEntry } from "./recorder.js";
import type { Engine, ForgetOptions, LearnedState } from "./types.js";

/** Memories per import entry: about half a megabyte. */
const IMPORT_BATCH = 400;

export type Maintainer = Pick<Engine, "forget" | "importState" | "exportState">;

export function createMaintainer(context: EngineContext): Maintainer {
  const { store, states, open, recorder, learner, spool } = context;

  return {
    async forget(options) {
      checkForget(options);
      const { namespace, collection = DEFAULT_NAME, ids } = options;
      const gone = ids && new Set(ids);
      if (gone?.size === 0) return;
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
      if (!ids) await store.eraseNamespace(namespace);
      else {
        const event = { type: "forget", collection, ids: [...new Set(ids)] } as const;
        await recorder.commit(namespace, toEntry(`forget:${context.createId()}`, event, context.now()));
      }
    },

    async importState(state) {
      checkObject(state, "Learned state");
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
      for (let start = 0; start === 0 || start < memories.length; start += IMPORT_BATCH) {
        const event: ImportEvent = {
          type: "import",
          learner: learner.id,
          collection,
          shared: start === 0 && shared !== undefined ? learner.shared.encode(shared, 0) : new Uint8Array(0),
          memories: memories
            .slice(start, start + IMPORT_BATCH)
            .map(({ id, state }) => ({ id, state: learner.memory.encode(state, 0) })),
        };
        await recorder.commit(namespace, toEntry(`import:${context.createId()}`, event, context.now()));
      }
    },

    async exportState({ namespace = DEFAULT_NAME, collection = DEFAULT_NAME } = {}) {
      assertName(namespace, "namespace");
      checkCollection(collection);
      const shared = await states.shared(namespace, collection);
      const memories: LearnedState["memories"][number][] = [];
      for await (const { id, value } of scanAll(store, namespace, memoryScope(collection))) {
        const state = states.memory(value).learned;
        if (state !== undefined) memories.push({ id, state });
      }
      return shared ? { shared: shared.state, memories } : { memories };
    },
  };
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

const FORGET_OPTIONS = { namespace: true, collection: true, ids: true } as const;

/** Strict, since what is not understood would erase the whole namespace. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
function checkForget(options: ForgetOptions): void {
  checkObject(options, "What to forget");
  assertKnownFields(options, "forget has no option", FORGET_OPTIONS);
  assertConditionsGiven(options, "forget", ["ids", "collection"]);
  const { namespace, collection, ids } = options;
  assertName(namespace, "namespace");
  if (collection !== undefined) checkCollection(collection);
  if (ids !== undefined) checkNames(ids, "ids");
  else if (collection !== undefined) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `forget: collection ${collection} is named without ids. Name the memories, or leave both out to erase the namespace with all its collections.`,
      { details: { collection } },
    );
  }
}
