import type { EngineParts } from "./engine/parts.js";
import { QavrError } from "./errors/qavr-error.js";
import { replayNamespace } from "./maintenance/replay.js";
import { isOfAnotherLearner } from "./maintenance/verify.js";
import type { DamagedState } from "./store/damaged.js";
import { damagedState } from "./store/damaged-state.js";

/** No second try within this time after a failed one, in ms: a rebuild folds the whole ledger. */
const PAUSE = 60_000;

/** By namespace. */
interface Healing {
  readonly running: Map<string, Promise<boolean>>;
  readonly failedAt: Map<string, number>;
}

const healings = new WeakMap<EngineParts, Healing>();

/**
 * Folds a namespace's ledger again and replaces its states, since one of them is damaged. Once at a time per namespace.
 *
 * @param damaged the state that was found, or the details of another error
 * @returns true when the states follow from the ledger again; never rejects
 */
export function healStates(parts: EngineParts, namespace: string, damaged: Partial<DamagedState>): Promise<boolean> {
  if (damaged.state === undefined) return Promise.resolve(false);
  const { running, failedAt } = healings.get(parts) ?? { running: new Map(), failedAt: new Map() };
  healings.set(parts, { running, failedAt });
  const known = running.get(namespace);
  if (known) return known;
  const failed = failedAt.get(namespace);
  if (failed !== undefined && parts.now() - failed < PAUSE) return Promise.resolve(false);
  const healing = attempt(parts, namespace, damaged).then((isHealed) => {
    running.delete(namespace);
    if (!isHealed) failedAt.set(namespace, parts.now());
    return isHealed;
  });
  running.set(namespace, healing);
  return healing;
}

async function attempt(
  parts: EngineParts,
  namespace: string,
  { scope, state }: Partial<DamagedState>,
): Promise<boolean> {
  const { log } = parts;
  log("error", "A stored state is damaged: it is left out, and built again from the ledger.", {
    code: "STATE_DAMAGED",
    namespace,
    scope,
    state,
  });
  try {
    // Only the learner that wrote the states can fold them.
    if (!(await isOfAnotherLearner(parts, namespace))) {
      await replayNamespace(parts, namespace, true);
      return true;
    }
    notRebuilt("LEARNER_MISMATCH");
  } catch (error) {
    notRebuilt(QavrError.isInstance(error) ? error.code : String(error));
  }
  return false;

  function notRebuilt(reason: string): void {
    const fields = { code: "STATES_NOT_REBUILT", namespace, reason };
    log("error", "Damaged states could not be built again. Call repair(engine).", fields);
  }
}

/** @throws STORE_CORRUPT */
export function refuseDamaged({ scope, state }: DamagedState): never {
  throw damagedState({ scope, id: state });
}
