/** Work that waits for its namespace. */
export interface QueuedCall {
  /** Not to be done together with others. */
  readonly alone: boolean;
}

export interface NamespaceQueue<Call> {
  add(namespace: string, call: Call): void;
  /** Resolves when nothing is waiting or being done. */
  drained(): Promise<void>;
}

/** Calls of one transaction at most: keeps the lock from being held for long. */
const CALLS_PER_TRANSACTION = 1_000;

// Taken when the module loads: a test that fakes timers later must not stop its own writes.
const afterThisTick = setImmediate;

/**
 * Groups calls by namespace: those of one tick, and those that come while the namespace's transaction is under way, are done
 * together by the next one. One transaction per namespace at a time, and at most `lanes` of them at once, in the order of their
 * first calls; a namespace that has calls left waits behind the others. A transaction never spans namespaces: it would hold several locks, and on sharded tables several machines.
 *
 * @param run settles every call; never rejects
 */
export function namespaceQueue<Call extends QueuedCall>(
  lanes: number,
  run: (namespace: string, calls: readonly Call[]) => Promise<void>,
): NamespaceQueue<Call> {
  /** Namespaces with waiting calls. */
  const waiting = new Map<string, Call[]>();
  const busy = new Set<string>();
  const onDrained: (() => void)[] = [];
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    afterThisTick(start);
  };

  const start = (): void => {
    scheduled = false;
    for (const [namespace, calls] of waiting) {
      if (busy.size >= lanes) return;
      if (busy.has(namespace)) continue;
      const group = takeGroup(calls);
      waiting.delete(namespace);
      if (calls.length > 0) waiting.set(namespace, calls);
      busy.add(namespace);
      void run(namespace, group).finally(() => {
        busy.delete(namespace);
        if (waiting.size > 0) schedule();
        else if (busy.size === 0) for (const drained of onDrained.splice(0)) drained();
      });
    }
  };

  return {
    add(namespace, call) {
      const calls = waiting.get(namespace);
      if (calls) calls.push(call);
      else waiting.set(namespace, [call]);
      if (busy.size < lanes) schedule();
    },
    drained: () =>
      waiting.size === 0 && busy.size === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => void onDrained.push(resolve)),
  };
}

/** The first call if it must be alone, else those before the next one that must. */
function takeGroup<Call extends QueuedCall>(calls: Call[]): Call[] {
  const loner = calls.findIndex(({ alone }) => alone);
  const together = loner === -1 ? calls.length : Math.max(loner, 1);
  return calls.splice(0, Math.min(together, CALLS_PER_TRANSACTION));
}
