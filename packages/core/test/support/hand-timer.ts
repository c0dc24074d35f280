import { setImmediate as turn } from "node:timers/promises";
import type { SetTimer } from "../../src/index.js";

export interface HandTimer {
  readonly setTimer: SetTimer;
  /** Timers that are neither fired nor called off. */
  readonly pending: () => number;
  /** Lets time pass: fires what is due, in order, and lets everything that waits for it go on. */
  advance(milliseconds: number): Promise<void>;
}

/** Timers that fire when a test says so. */
export function handTimer(): HandTimer {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  let now = 0;
  return {
    setTimer(run, milliseconds) {
      const timer = { at: now + milliseconds, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pending: () => timers.size,
    async advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        await turn();
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = next.at;
        timers.delete(next);
        next.run();
      }
      now = end;
      await turn();
    },
  };
}
