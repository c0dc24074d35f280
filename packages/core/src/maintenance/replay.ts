import { DEFAULT_NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkOptions, checkSwitch } from "../errors/known-fields.js";
import { assertName } from "../store/validate.js";
import { LedgerReplay } from "./ledger-replay.js";
import { rebuild } from "./rebuild.js";
import type { ReplayReport } from "./reports.js";

/** Differences that a report names. */
const NAMED_DIFFERENCES = 100;

/**
 * Folds the ledger again and compares with the stored state, bit for bit. `write: true` replaces the stored state, also after a
 * change of learner. Others may write meanwhile.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, STORE_BUSY when writers spoil states again and again, and the store's codes
 */
export async function replay(
  engine: Engine,
  options: { readonly namespace?: string | undefined; readonly write?: boolean | undefined } = {},
): Promise<ReplayReport> {
  const parts = partsOf(engine);
  checkOptions(options, "replay", { namespace: true, write: true });
  const { namespace = DEFAULT_NAME, write = false } = options;
  assertName(namespace, "namespace");
  checkSwitch(write, "write");
  return replayNamespace(parts, namespace, write);
}

export async function replayNamespace(parts: EngineParts, namespace: string, write: boolean): Promise<ReplayReport> {
  const ledger = new LedgerReplay({ store: parts.store, namespace, learner: parts.learner });
  const { fold, differences } = await rebuild(parts, namespace, ledger, write);
  return {
    namespace,
    checkpoint: ledger.checkpoint,
    entries: fold.entries,
    states: fold.states.length,
    differences: differences.slice(0, NAMED_DIFFERENCES).map(({ scope, id }) => `${scope}/${id}`),
    identical: differences.length === 0,
    written: write,
  };
}
