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
  /** Those of them that no wait knows yet. Each wait builds on the one before: a thousand waits for a thousand tasks would cost a million. */
  const fresh = new Set<Promise<unknown>>();
  let waited: Promise<void> | undefined;
  const current = (): Promise<void> => {
    const known = [...fresh];
    fresh.clear();
    waited = Promise.allSettled([waited, ...known]).then(() => {});
    return waited;
  };
  return {
    get size() {
      return running.size;
    },
    track(work) {
      running.add(work);
      fresh.add(work);
      const done = (): void => {
        running.delete(work);
        fresh.delete(work);
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
