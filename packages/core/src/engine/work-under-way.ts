/** Work that has begun and that nobody may be waiting for. */
export interface WorkUnderWay {
  /** The same promise, remembered until it settles. */
  track<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when what is under way now has settled, whatever became of it. */
  begun(): Promise<void>;
  /** Resolves when nothing is under way any more, what has begun meanwhile included. */
  settled(): Promise<void>;
}

export function createWorkUnderWay(): WorkUnderWay {
  const underWay = new Set<Promise<unknown>>();
  const begun = async (): Promise<void> => {
    const known = [...underWay];
    await Promise.allSettled(known);
    // What has settled is never waited for again: that would keep the event loop from everybody.
    for (const work of known) underWay.delete(work);
  };
  return {
    track(work) {
      underWay.add(work);
      const done = (): void => {
        underWay.delete(work);
      };
      work.then(done, done);
      return work;
    },
    begun,
    async settled() {
      while (underWay.size > 0) await begun();
    },
  };
}
