import type { Learner } from "../learners/learner.js";
import type { Reduce, SequencedEntry } from "../store/store.js";
import type { Coder } from "./bytes.js";
import type { Draft } from "./draft.js";
import { edit } from "./edits.js";
import type { EventKinds } from "./event-codec.js";
import { EDIT_POLICIES } from "./events.js";
import type { Governance } from "./governance.js";
import { loopReducer } from "./reducer.js";
import { labelRef, memoryRef, placeRef, rebuildRef, sharedRef } from "./state-keys.js";

interface Ids {
  readonly collection: string;
  readonly ids: readonly string[];
}

const IDS = {
  code: (coder: Coder, { collection, ids }: Partial<Ids>): Ids => ({
    collection: coder.text(collection),
    ids: coder.texts(ids),
  }),
  refs: ({ collection, ids }: Ids) => [sharedRef(collection), ...ids.map((id) => memoryRef(collection, id))],
};

/**
 * The events of maintenance. The loop neither writes nor folds them, so that an application which only loops does not load them.
 *
 * Each makes its collection known: records of memories are found through the collections that are.
 */
export const MAINTENANCE_EVENTS: EventKinds = {
  forget: {
    ...IDS,
    fold(draft, { collection, ids }) {
      draft.shared(collection);
      for (const id of ids) {
        const record = draft.memory(collection, id);
        record.contentHash = 0;
        record.startCold(draft.seq);
        record.labelled = false;
        draft.write(labelRef(collection, id), null);
      }
    },
  },

  revision: {
    ...IDS,
    code: (coder, { collection, onEdit, ids }) => ({
      collection: coder.text(collection),
      onEdit: coder.oneOf(EDIT_POLICIES, onEdit),
      ids: coder.texts(ids),
    }),
    fold(draft, { collection, onEdit, ids }) {
      draft.shared(collection);
      for (const id of ids) {
        const record = draft.memory(collection, id);
        edit(draft, record, onEdit);
        // The next exposure brings the new text, which is no further edit.
        record.contentHash = 0;
      }
    },
  },

  copy: {
    code: (coder, { collection, memories }) => ({
      collection: coder.text(collection),
      memories: coder.list(memories, (item, { from, to }) => ({ from: item.text(from), to: item.text(to) })),
    }),
    refs: ({ collection, memories }) => IDS.refs({ collection, ids: memories.flatMap(({ from, to }) => [from, to]) }),
    fold(draft, { collection, memories }) {
      draft.shared(collection);
      for (const { from, to } of memories) {
        const { learned, contentHash, confirmed } = draft.memory(collection, from);
        const copy = draft.memory(collection, to);
        copy.contentHash = contentHash;
        copy.confirmed = confirmed;
        copy.learned = learned && draft.decodeMemory(draft.learner.memory.encode(learned, 0));
      }
    },
  },

  prune: {
    ...IDS,
    refs: () => [],
    fold(draft) {
      draft.stats.lastPruned = draft.at;
    },
  },

  import: {
    code: (coder, { learner, collection, shared, memories }) => ({
      learner: coder.text(learner),
      collection: coder.text(collection),
      shared: coder.bytes(shared),
      memories: coder.list(memories, (item, { id, state }) => ({ id: item.text(id), state: item.bytes(state) })),
    }),
    refs: ({ collection, memories }) => IDS.refs({ collection, ids: memories.map(({ id }) => id) }),
    fold(draft, { learner, collection, shared, memories }) {
      draft.shared(collection);
      // Bytes of another learner mean nothing to this one; a replay with that learner will read them.
      if (learner !== draft.learner.id) return;
      if (shared.length > 0) draft.replaceShared(collection, shared);
      for (const { id, state } of memories) draft.memory(collection, id).learned = draft.decodeMemory(state);
      draft.stats.taught += 1;
      draft.stats.imports = (draft.stats.imports ?? 0) + 1;
    },
  },

  revoke: {
    code: (coder, { source = "", from, to, fromSeq, toSeq }) => ({
      source: coder.text(source) || undefined,
      from: coder.f64(from),
      to: coder.f64(to),
      fromSeq: coder.f64(fromSeq),
      toSeq: coder.f64(toSeq),
    }),
    refs: () => [],
    fold(draft) {
      // States cannot be unfolded in place. This mark stays until the revocation has built them again.
      draft.stats.revocations = (draft.stats.revocations ?? 0) + 1;
      draft.write(rebuildRef, new TextEncoder().encode(String(draft.seq)));
    },
  },

  move: {
    code: (coder, { to }) => ({ to: coder.text(to) }),
    refs: () => [],
    fold: (draft, { to }) => draft.keepText(placeRef, to),
  },
};

/** The fold of every kind of entry: for maintenance, and for ledgers that it has written to. */
export function ledgerReducer(
  learner: Learner,
  governance?: Governance,
  draftOf?: (entry: SequencedEntry) => Draft,
): Reduce {
  return loopReducer(learner, governance, { kinds: MAINTENANCE_EVENTS, draftOf });
}
