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

/** How many groups may be under way at once. */
export interface Lanes {
  /** Of calls that are done together. */
  readonly together: number;
  /** Of calls that must be alone: they may take long, and nobody else should wait for them. */
  readonly alone: number;
}

/** Groups of one kind. */
interface Lane {
  readonly width: number;
  /** Namespaces whose next group is of this kind and may begin, in their order. */
  readonly turns: Set<string>;
  busy: number;
}

/**
 * Groups calls by namespace: those of one tick, and those that come while the namespace's transaction is under way, are done
 * together by the next one. One transaction per namespace at a time, and only so many at once; a namespace that has calls left waits
 * behind the others. A transaction never spans namespaces: it would hold several locks, and on sharded tables several machines.
 *
 * @param run settles every call; never rejects
 */
export function namespaceQueue<Call extends QueuedCall>(
  lanes: Lanes,
  run: (namespace: string, calls: readonly Call[]) => Promise<void>,
): NamespaceQueue<Call> {
  const waiting = new Map<string, Call[]>();
  const busy = new Set<string>();
  const alone: Lane = { width: lanes.alone, turns: new Set(), busy: 0 };
  const together: Lane = { width: lanes.together, turns: new Set(), busy: 0 };
  const onDrained: (() => void)[] = [];
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    afterThisTick(() => {
      scheduled = false;
      for (const lane of [together, alone]) start(lane);
    });
  };

  /** Has a namespace that nobody is busy with wait for its turn. */
  const line = (namespace: string, [next]: readonly Call[]): void => {
    const lane = next?.alone ? alone : together;
    lane.turns.add(namespace);
    if (lane.busy < lane.width) schedule();
  };

  const start = (lane: Lane): void => {
    for (const namespace of lane.turns) {
      if (lane.busy >= lane.width) return;
      lane.turns.delete(namespace);
      const calls = waiting.get(namespace) as Call[];
      const group = takeGroup(calls);
      if (calls.length === 0) waiting.delete(namespace);
      busy.add(namespace);
      lane.busy += 1;
      void run(namespace, group).finally(() => {
        busy.delete(namespace);
        lane.busy -= 1;
        const left = waiting.get(namespace);
        if (left) line(namespace, left);
        if (lane.turns.size > 0) schedule();
        if (waiting.size === 0 && busy.size === 0) for (const drained of onDrained.splice(0)) drained();
      });
    }
  };

  return {
    add(namespace, call) {
      const calls = waiting.get(namespace);
      if (calls) {
        calls.push(call);
        return;
      }
      const first = [call];
      waiting.set(namespace, first);
      if (!busy.has(namespace)) line(namespace, first);
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
