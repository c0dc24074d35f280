import { DEFAULT_NAME, NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkFields, SWITCH } from "../errors/field-rules.js";
import { LedgerReplay } from "./ledger-replay.js";
import { PROGRESS, type Progress } from "./progress.js";
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
  options: {
    readonly namespace?: string | undefined;
    readonly write?: boolean | undefined;
    readonly progress?: Progress | undefined;
  } = {},
): Promise<ReplayReport> {
  const parts = partsOf(engine);
  checkFields("replay", options, { namespace: NAME, write: SWITCH, progress: PROGRESS });
  const { namespace = DEFAULT_NAME, write = false, progress } = options;
  return replayNamespace(parts, namespace, write, progress);
}

export async function replayNamespace(
  { store, learner }: EngineParts,
  namespace: string,
  write: boolean,
  progress?: Progress,
): Promise<ReplayReport> {
  const ledger = new LedgerReplay({ store, namespace, learner, progress });
  const { fold, differences } = await rebuild({ store }, namespace, ledger, write);
  return {
    namespace,
    checkpoint: ledger.checkpoint,
    entries: fold.entries,
    states: fold.size,
    differences: differences.slice(0, NAMED_DIFFERENCES).map(({ scope, id }) => `${scope}/${id}`),
    identical: differences.length === 0,
    written: write,
  };
}
