import { platformTimer } from "../engine/deadline.js";
import type { Engine } from "../engine/types.js";

/** How long the end of a run waits for its outcome to be recorded, ms. */
const PATIENCE = 1_000;

/**
 * Waits for what is recorded at the end of a run while that costs the run little: at most a second, and not at all while rankings do
 * without the store because it does not answer. What is not done by then goes on; who calls this remembers it for `flush`.
 *
 * @param recorded must not reject
 */
export async function awaitBriefly(engine: Engine, recorded: Promise<void>): Promise<void> {
  if (engine.health().readsSuspended) return;
  let callOff: (() => void) | undefined;
  const enough = new Promise<void>((resolve) => {
    callOff = platformTimer(resolve, PATIENCE);
  });
  await Promise.race([recorded, enough]);
  callOff?.();
}
