import type { QavrError } from "../errors/qavr-error.js";

/** Runs something later and returns a function that cancels it. */
export type SetTimer = (run: () => void, milliseconds: number) => () => void;

/** Longest time that a platform's timers understand, ms: beyond it they fire at once. */
const MAX_TIMER = 2_147_483_647;

/** The platform's own timer. */
export const platformTimer: SetTimer = (run, milliseconds) => {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
};

/** How long a call may take. */
export interface TimeoutOptions {
  /** Ms, per call. */
  readonly timeout: number;
  readonly setTimer: SetTimer;
}

/** Turns of the microtask queue within which a local store has answered. */
const FREE_TURNS = 3;

/**
 * Waits for `work` no longer than a timeout; the timer is cancelled when the work settles. Results and errors after the timeout are
 * ignored.
 *
 * When the time is up the work gets one more turn of the event loop: a busy program may have kept an answer from being read.
 *
 * @param milliseconds above 0; no timeout beyond what timers can measure (24 days)
 * @throws the error of `late` when the time is up
 */
export async function withTimeout<T>(
  work: Promise<T>,
  milliseconds: number,
  setTimer: SetTimer,
  late: () => QavrError,
): Promise<T> {
  if (milliseconds > MAX_TIMER) return work;
  // Most answers are there at once, and a timer costs more than the look.
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  work.then(note, note);
  for (let turn = 0; turn < FREE_TURNS && !settled; turn++) await undefined;
  return settled ? work : timed(work, milliseconds, setTimer, late);
}

function timed<T>(work: Promise<T>, milliseconds: number, setTimer: SetTimer, late: () => QavrError): Promise<T> {
  let cancel = (): void => {};
  const expired = new Promise<never>((_, reject) => {
    cancel = setTimer(() => {
      cancel = setTimer(() => reject(late()), 0);
    }, milliseconds);
  });
  return Promise.race([work, expired]).finally(() => cancel());
}
