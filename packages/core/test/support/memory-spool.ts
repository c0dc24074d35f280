import { QavrError, type Spool, type WaitingCommit } from "../../src/index.js";

export interface MemorySpool extends Spool {
  readonly waiting: WaitingCommit[];
  /** Set: every call fails with it. */
  failure: Error | undefined;
}

/** A spool of a test: it forgets with its process, as a real one must not. */
export function memorySpool(cap = 1_000): MemorySpool {
  let ids = 0;
  const spool: MemorySpool = {
    name: "memory spool",
    waiting: [],
    failure: undefined,
    async append(commit) {
      if (spool.failure) throw spool.failure;
      if (spool.waiting.length >= cap) throw new QavrError("SPOOL_FULL", "The spool is full.");
      spool.waiting.push({ ...commit, id: ++ids });
    },
    async read({ after = 0, limit }) {
      if (spool.failure) throw spool.failure;
      return spool.waiting.filter(({ id }) => id > after).slice(0, limit);
    },
    async remove(gone) {
      if (spool.failure) throw spool.failure;
      for (const id of gone) spool.waiting.splice(spool.waiting.findIndex((commit) => commit.id === id) >>> 0, 1);
    },
    async size() {
      if (spool.failure) throw spool.failure;
      return spool.waiting.length;
    },
    async close() {},
  };
  return spool;
}
