import { setImmediate } from "node:timers";

/** A call that waits for its namespace. */
export interface QueuedCall {
  /** True when it must not share a transaction. */
  readonly alone: boolean;
}

export interface NamespaceQueue<Call> {
  add(namespace: string, call: Call): void;
  /** Resolves when no call is waiting or running. */
  drained(): Promise<void>;
}

/** Most calls of one transaction: bounds how long it holds the lock. Their rows should fit one statement, else they are folded twice. */
const CALLS_PER_TRANSACTION = 250;

// Node's own, bound here: tests with fake timers do not stop their own writes, also where they load this module.
const afterThisTick = setImmediate;

/** Most groups that run at once. */
export interface Lanes {
  /** Groups of calls that share a transaction. */
  readonly together: number;
  /** Calls that must be alone; they may take long, and other namespaces must not wait for them. */
  readonly alone: number;
}

/** Groups of one kind. */
interface Lane {
  readonly width: number;
  /** Namespaces whose next group is of this kind and may begin, in order. */
  readonly turns: Set<string>;
  busy: number;
}

/**
 * Groups calls by namespace: calls of one tick, and calls that arrive during the namespace's transaction, share the next one. One
 * transaction per namespace at a time, and a bounded number in total; a namespace with calls left waits behind the others. A transaction
 * never spans namespaces: it would hold several locks, on sharded tables several machines.
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

  /** Queues an idle namespace. */
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

/** Removes the first call if it must be alone, else all calls before the next one that must be alone. */
function takeGroup<Call extends QueuedCall>(calls: Call[]): Call[] {
  const loner = calls.findIndex(({ alone }) => alone);
  const together = loner === -1 ? calls.length : Math.max(loner, 1);
  return calls.splice(0, Math.min(together, CALLS_PER_TRANSACTION));
}
