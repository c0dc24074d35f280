import { illegalOption } from "../errors/illegal-option.js";
import type { QavrError } from "../errors/qavr-error.js";

/** Runs something later and returns how to call it off. */
export type SetTimer = (run: () => void, milliseconds: number) => () => void;

/** Longest time that a platform's timers understand, ms: beyond it they fire at once. */
const MAX_TIMER = 2_147_483_647;

/** The platform's own timer. */
export const platformTimer: SetTimer = (run, milliseconds) => {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
};

/**
 * A timer that says when it cannot be called off. `setTimeout` itself, given for one, returns an object or a number: calling that would
 * fail where nobody hears it, and leave whoever waits without an answer.
 */
export function checkedTimer(setTimer: SetTimer): SetTimer {
  return (run, milliseconds) => {
    let refused = false;
    const callOff: unknown = setTimer(() => {
      if (!refused) run();
    }, milliseconds);
    if (typeof callOff === "function") return callOff as () => void;
    refused = true;
    throw illegalOption(
      "setTimer",
      "createEngine: setTimer must return a function that calls the timer off, as () => clearTimeout(timer) does",
      callOff,
    );
  };
}

/** Turns of the microtask queue in which an answer that costs no waiting is there: a local store's is. */
const FREE_TURNS = 3;

/**
 * Waits for `work` no longer than a deadline; the timer is called off when the work settles. What the work does after its deadline
 * is nobody's business any more: neither its result nor its failure is seen.
 *
 * When the time is up the work gets one more turn of the event loop: while a busy program kept the loop from turning, the answer may
 * have arrived and wait to be read.
 *
 * @param milliseconds above 0; no deadline beyond what timers can measure (24 days)
 * @throws what `late` makes when the time is up
 */
export async function withDeadline<T>(
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
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(late());
    let callOff = setTimer(() => {
      callOff = setTimer(giveUp, 0);
    }, milliseconds);
    work.then(
      (result) => {
        callOff();
        resolve(result);
      },
      (error: unknown) => {
        callOff();
        reject(error);
      },
    );
  });
}
