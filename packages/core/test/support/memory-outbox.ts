import { QavrError } from "../../src/index.js";
import type { Outbox, WaitingCommit } from "../../src/store-kit.js";

export interface MemoryOutbox extends Outbox {
  readonly waiting: WaitingCommit[];
  /** Set: every call fails with it. */
  failure: Error | undefined;
}

/** An outbox of a test: it forgets with its process, as a real one must not. */
export function memoryOutbox(cap = 1_000): MemoryOutbox {
  let ids = 0;
  const outbox: MemoryOutbox = {
    name: "memory outbox",
    waiting: [],
    failure: undefined,
    async append(commit) {
      if (outbox.failure) throw outbox.failure;
      if (outbox.waiting.length >= cap) throw new QavrError("OUTBOX_FULL", "The outbox is full.");
      outbox.waiting.push({ ...commit, id: ++ids });
    },
    async read({ after = 0, limit }) {
      if (outbox.failure) throw outbox.failure;
      return outbox.waiting.filter(({ id }) => id > after).slice(0, limit);
    },
    async remove(gone) {
      if (outbox.failure) throw outbox.failure;
      for (const id of gone) outbox.waiting.splice(outbox.waiting.findIndex((commit) => commit.id === id) >>> 0, 1);
    },
    async size() {
      if (outbox.failure) throw outbox.failure;
      return outbox.waiting.length;
    },
    async close() {},
  };
  return outbox;
}
