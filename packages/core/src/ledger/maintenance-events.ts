import type { Learner } from "../learners/learner.js";
import type { Reduce } from "../store/store.js";
import type { ByteReader, ByteWriter } from "./bytes.js";
import { edit } from "./edits.js";
import type { EventKinds } from "./event-codec.js";
import { EDIT_POLICIES } from "./events.js";
import type { Governance } from "./governance.js";
import { loopReducer } from "./reducer.js";
import { labelRef, memoryRef, placeRef, rebuildRef, sharedRef } from "./state-keys.js";
import { pick } from "./unreadable.js";

interface Ids {
  readonly collection: string;
  readonly ids: readonly string[];
}

const IDS = {
  write: (writer: ByteWriter, { collection, ids }: Ids): unknown =>
    writer.text(collection).list(ids, (id) => writer.text(id)),
  read: (reader: ByteReader): Ids => ({ collection: reader.text(), ids: reader.list(() => reader.text()) }),
  refs: ({ collection, ids }: Ids) => [sharedRef(collection), ...ids.map((id) => memoryRef(collection, id))],
};

/** The events of maintenance. The loop neither writes nor folds them, so that an application which only loops does not load them. */
export const MAINTENANCE_EVENTS: EventKinds = {
  forget: {
    ...IDS,
    fold(draft, { collection, ids }) {
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
    write: (writer, { collection, onEdit, ids }) =>
      writer
        .text(collection)
        .u8(EDIT_POLICIES.indexOf(onEdit))
        .list(ids, (id) => writer.text(id)),
    read: (reader) => ({
      collection: reader.text(),
      onEdit: pick(EDIT_POLICIES, reader.u8()),
      ids: reader.list(() => reader.text()),
    }),
    fold(draft, { collection, onEdit, ids }) {
      for (const id of ids) {
        const record = draft.memory(collection, id);
        edit(draft, record, onEdit);
        // The next exposure brings the new text, which is no further edit.
        record.contentHash = 0;
      }
    },
  },

  copy: {
    write: (writer, { collection, memories }) =>
      writer.text(collection).list(memories, ({ from, to }) => writer.text(from).text(to)),
    read: (reader) => ({
      collection: reader.text(),
      memories: reader.list(() => ({ from: reader.text(), to: reader.text() })),
    }),
    refs: ({ collection, memories }) => IDS.refs({ collection, ids: memories.flatMap(({ from, to }) => [from, to]) }),
    fold(draft, { collection, memories }) {
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
    write: (writer, { learner, collection, shared, memories }) =>
      writer
        .text(learner)
        .text(collection)
        .bytes(shared)
        .list(memories, ({ id, state }) => writer.text(id).bytes(state)),
    read: (reader) => ({
      learner: reader.text(),
      collection: reader.text(),
      shared: reader.bytes(),
      memories: reader.list(() => ({ id: reader.text(), state: reader.bytes() })),
    }),
    refs: ({ collection, memories }) => IDS.refs({ collection, ids: memories.map(({ id }) => id) }),
    fold(draft, { learner, collection, shared, memories }) {
      // Bytes of another learner mean nothing to this one; a replay with that learner will read them.
      if (learner !== draft.learner.id) return;
      if (shared.length > 0) draft.replaceShared(collection, shared);
      // Without bytes too, the collection is known from now on.
      else draft.shared(collection);
      for (const { id, state } of memories) draft.memory(collection, id).learned = draft.decodeMemory(state);
      draft.stats.taught += 1;
    },
  },

  revoke: {
    write: (writer, { source = "", from, to, fromSeq, toSeq }) =>
      writer.text(source).f64(from).f64(to).f64(fromSeq).f64(toSeq),
    read: (reader) => ({
      source: reader.text() || undefined,
      from: reader.f64(),
      to: reader.f64(),
      fromSeq: reader.f64(),
      toSeq: reader.f64(),
    }),
    refs: () => [],
    fold(draft) {
      // States cannot be unfolded in place. This mark stays until the revocation has built them again.
      draft.stats.revocations = (draft.stats.revocations ?? 0) + 1;
      draft.write(rebuildRef, new TextEncoder().encode(String(draft.seq)));
    },
  },

  move: {
    write: (writer, { to }) => writer.text(to),
    read: (reader) => ({ to: reader.text() }),
    refs: () => [],
    fold: (draft, { to }) => draft.keepText(placeRef, to),
  },
};

/** The fold of every kind of entry: for maintenance, and for ledgers that it has written to. */
export function ledgerReducer<Shared, Memory>(learner: Learner<Shared, Memory>, governance?: Governance): Reduce {
  return loopReducer(learner, governance, { kinds: MAINTENANCE_EVENTS });
}
