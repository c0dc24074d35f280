import { partsOf } from "../engine/parts.js";
import { createTaskTracker } from "../engine/task-tracker.js";
import type { Engine } from "../engine/types.js";
import { QavrError } from "../errors/qavr-error.js";
import { platformTimer, withTimeout } from "../resilience/timeout.js";

/** Longest wait of a ranking for the ends of runs before it, and of a run's end that has to wait, ms. */
const PATIENCE = 1_000;
/** Ends that may wait to be recorded; a run that ends beyond them waits itself. Also the most that a crash can lose. */
export const MOST_BEHIND = 1_000;

// Bound when the module loads, so that tests with fake timers do not stop the records of runs.
const { setTimeout: afterThisTurn, clearTimeout: callOff } = globalThis;

/** The ends of runs that are recorded behind their callers. One for each engine, since memories may share it. */
export interface RunEnds {
  /** The engine itself, for the work of an end. */
  readonly direct: Engine;
  /** The same engine, whose rankings, reports and reads come after the ends before them. Rankings wait at most a second. */
  readonly ordered: Engine;
  /** Ends that are not recorded yet. */
  readonly size: number;
  /** Records an end in the next turn of the event loop, with all others of that turn, or before the next call of `ordered`. */
  add(work: () => Promise<boolean>): Promise<boolean>;
  /** Ends that met a store out of reach, each to be tried a last time. Before a report one of them is tried in any case. */
  readonly unrecorded: ((isLast: boolean) => Promise<boolean>)[];
  /** Starts what waits, and resolves when all ends that were added before have settled. */
  settled(): Promise<void>;
  /** The same for at most a second. Returns at once while the store's circuit is open or after an earlier wait failed. */
  settledBriefly(): Promise<void>;
}

const KNOWN = new WeakMap<Engine, RunEnds>();

/** The ends of an engine's runs, for the engine itself and for its ordered form. */
export function endsOf(engine: Engine): RunEnds {
  const known = KNOWN.get(engine);
  if (known) return known;
  const ends = createRunEnds(engine);
  KNOWN.set(engine, ends);
  KNOWN.set(ends.ordered, ends);
  return ends;
}

function createRunEnds(direct: Engine): RunEnds {
  const waiting: (() => void)[] = [];
  const pending = createTaskTracker();
  const { tasks } = partsOf(direct);
  let timer: ReturnType<typeof afterThisTurn> | undefined;
  /** True after a wait without success, until everything is recorded: only one ranking waits for a store that does not answer. */
  let isStuck = false;

  const start = (): void => {
    callOff(timer);
    timer = undefined;
    for (const begin of waiting.splice(0)) begin();
  };

  const ends: RunEnds = {
    direct,
    unrecorded: [],
    get ordered() {
      return ordered;
    },
    get size() {
      return pending.size;
    },

    add(work) {
      if (pending.size === 0) isStuck = false;
      const recorded = pending.track(new Promise<void>((resolve) => void waiting.push(resolve)).then(work));
      timer ??= afterThisTurn(start, 0);
      // The engine's own flush() and close() wait for it.
      return tasks.track(recorded);
    },

    async settled() {
      start();
      await pending.current();
    },

    async settledBriefly() {
      if (pending.size === 0) return;
      if (isStuck || direct.health().readCircuitOpen) return start();
      try {
        await withTimeout(ends.settled(), PATIENCE, platformTimer, inVain);
      } catch {
        isStuck = pending.size > 0;
      }
    },
  };

  const soon = <Given extends readonly unknown[], Result>(
    call: (...given: Given) => Promise<Result>,
    wait: () => Promise<void>,
  ) => {
    return (...given: Given): Promise<Result> =>
      pending.size === 0 ? call(...given) : wait().then(() => call(...given));
  };
  const { settled, settledBriefly, unrecorded } = ends;
  const report = soon(direct.report, settled);
  const ordered: Engine = {
    ...direct,
    rank: soon(direct.rank, settledBriefly),
    resume: soon(direct.resume, settledBriefly),
    // An answer beyond topK does not depend on the ends: the namespace has evidence.
    async fetchSize(request) {
      const size = await direct.fetchSize(request);
      if (size > request.topK || pending.size === 0) return size;
      await settledBriefly();
      return direct.fetchSize(request);
    },
    // Of one tier the later outcome counts. Where the oldest end can be recorded now, it starts the others.
    async report(...given) {
      const first = unrecorded.shift();
      if (first) await ends.add(() => first(false));
      return report(...given);
    },
    explain: soon(direct.explain, settled),
    status: soon(direct.status, settled),
    memories: soon(direct.memories, settled),
    history: soon(direct.history, settled),
    flush: soon(direct.flush, settled),
    close: soon(direct.close, settled),
  };
  return ends;
}

function inVain(): QavrError {
  return new QavrError("STORE_TIMEOUT", "The ends of earlier runs are not recorded yet.");
}
