/** Remembers work that has begun and that may have no other waiter. */
export interface TaskTracker {
  /** Number of tasks that have not settled. */
  readonly size: number;
  /** Returns the same promise, and remembers it until it settles. */
  track<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when the work that is under way now has settled, with or without success. */
  current(): Promise<void>;
  /** Resolves when no work is left, including work that begins meanwhile. */
  settled(): Promise<void>;
}

export function createTaskTracker(): TaskTracker {
  const running = new Set<Promise<unknown>>();
  const current = async (): Promise<void> => {
    const known = [...running];
    await Promise.allSettled(known);
    // Their own handlers may run later than this; waiting for them again would never end.
    for (const work of known) running.delete(work);
  };
  return {
    get size() {
      return running.size;
    },
    track(work) {
      running.add(work);
      const done = (): void => {
        running.delete(work);
      };
      work.then(done, done);
      return work;
    },
    current,
    async settled() {
      while (running.size > 0) await current();
    },
  };
}
