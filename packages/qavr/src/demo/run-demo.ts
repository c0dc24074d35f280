import { createEngine, type Store } from "@qavr/core";
import type { Progress } from "@qavr/core/maintenance";
import { nextRequest } from "./support-desk.js";

const MINUTE = 60_000;
const SHOWN = 3;
const HELD_OUT = 0.2;

/** Lets the default learner serve the made-up desk, a run each minute up to `now`, and closes the store. Returns the last run's id. */
export async function runDemo(store: Store, runs: number, now: number, progress: Progress): Promise<string> {
  const random = seeded();
  let ids = 0;
  let at = now - runs * MINUTE;
  const engine = createEngine({
    store,
    holdout: HELD_OUT,
    clock: () => at,
    // Ids decide which runs are held out: with these it is the same demo each time.
    createId: () => `run-${++ids}`,
  });
  let last = "";
  for (let run = 0; run < runs; run++) {
    const { vector, candidates, succeedsWith } = nextRequest(random);
    const { episode, items } = await engine.rank({ vector, candidates, topK: SHOWN });
    const reward = succeedsWith(items.map(({ id }) => id));
    await engine.end(episode, { reward, tier: "verified", source: "simulated-checker" });
    last = episode;
    at += MINUTE;
    progress(run + 1, runs);
  }
  await engine.close();
  return last;
}

/** The same numbers in [0, 1) each time: mulberry32. */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
