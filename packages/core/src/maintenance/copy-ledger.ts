import { LEARNER, NAME } from "../engine/check.js";
import { ENGINE_RULES } from "../engine/create-engine.js";
import { checkFields, type FieldRules } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { governance } from "../governance/governance.js";
import type { Learner } from "../learners/learner.js";
import { ledgerReducer } from "../ledger/maintenance-events.js";
import { rebuildRef } from "../ledger/state-keys.js";
import type { Reduce, Reduction, SequencedEntry, Store } from "../store/store.js";
import { sameBytes } from "../store/validate.js";
import { LedgerReplay } from "./ledger-replay.js";
import { PROGRESS, type Progress } from "./progress.js";
import { rebuild } from "./rebuild.js";

/** Entries that are copied at once. */
const PAGE = 500;

export interface LedgerCopy {
  readonly from: Store;
  readonly to: Store;
  readonly namespace: string;
  /** The one that wrote the states. */
  readonly learner: Learner;
  readonly progress?: Progress | undefined;
}

const RULES: FieldRules<LedgerCopy> = {
  from: ENGINE_RULES.store,
  to: ENGINE_RULES.store,
  namespace: NAME,
  learner: LEARNER,
  progress: PROGRESS,
};

/**
 * Copies the entries of a namespace that a store lacks, in their places, reads each back, and builds the states there. The source is
 * only read. May be interrupted and repeated, and may run twice at once. Returns the place of the last entry.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, UNSUPPORTED for a ledger whose beginning was compacted away, STORE_FAILED where
 * the two ledgers differ, and the stores' codes
 */
export async function copyLedger(copy: LedgerCopy): Promise<number> {
  checkFields("copyLedger", copy, RULES, ["from", "to", "namespace", "learner"]);
  const { from, to, namespace, learner, progress } = copy;
  // The rules of governance are part of each entry, so its options do not matter here.
  const last = await copyEntries(from, to, namespace, ledgerReducer(learner, governance()), progress);
  const [revoked] = await to.readStates(namespace, rebuildRef.scope, [rebuildRef.id]);
  // The fold during the copy still had outcomes that a later entry revokes.
  if (revoked) await rebuild({ store: to }, namespace, new LedgerReplay({ store: to, namespace, learner }), true);
  return last;
}

async function copyEntries(
  from: Store,
  to: Store,
  namespace: string,
  reduce: Reduce,
  progress: LedgerCopy["progress"],
): Promise<number> {
  let last = await to.head(namespace);
  if (last > 0) {
    const [[theirs], [ours]] = (await Promise.all(
      [from, to].map((store) => store.readEntries(namespace, { after: last - 1, limit: 1 })),
    )) as [readonly SequencedEntry[], readonly SequencedEntry[]];
    if (theirs?.seq !== last && (await from.head(namespace)) >= last) throw compacted(namespace);
    if (!isSame(theirs, ours)) throw differs(namespace, last);
  }
  for (;;) {
    const head = await from.head(namespace);
    const page = await from.readEntries(namespace, { after: last, limit: PAGE });
    if (head > last && page[0]?.seq !== last + 1) throw compacted(namespace);
    if (page.length > 0) await to.commit(namespace, page, inPlace(namespace, page, reduce));
    const copied = await to.readEntries(namespace, { after: last, limit: PAGE });
    const other = page.findIndex((entry, i) => !isSame(entry, copied[i]));
    if (other !== -1) throw differs(namespace, last + other + 1);
    last = page.at(-1)?.seq ?? last;
    progress?.(last, Math.max(head, last));
    if (page.length < PAGE) return last;
  }
}

/** Refuses an entry that would get another place than it has. */
function inPlace(namespace: string, page: readonly SequencedEntry[], reduce: Reduce): Reduce {
  const places = new Map(page.map(({ key, seq }) => [key, seq]));
  return function* (entry): Reduction {
    if (places.get(entry.key) !== entry.seq) throw differs(namespace, entry.seq);
    return yield* reduce(entry);
  };
}

function isSame(a: SequencedEntry | undefined, b: SequencedEntry | undefined): boolean {
  if (!a || !b) return false;
  return a.seq === b.seq && a.key === b.key && a.type === b.type && a.at === b.at && sameBytes(a.payload, b.payload);
}

function compacted(namespace: string): QavrError {
  return new QavrError(
    "UNSUPPORTED",
    `The ledger of namespace ${namespace} was compacted, and its beginning is gone. Copy a SQLite file with backup and restore, or move what was learned with export and import.`,
    { details: { namespace } },
  );
}

function differs(namespace: string, seq: number): QavrError {
  return new QavrError(
    "STORE_FAILED",
    `The copy of namespace ${namespace} differs from its source at entry ${seq}. Erase the copy and copy again.`,
    { details: { namespace, seq } },
  );
}
