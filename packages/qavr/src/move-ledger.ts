import { createEngine, QavrError, type Store } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { copyLedger, type Progress, verify } from "@qavr/core/maintenance";
import { CommandError } from "./exit-codes.js";
import { learnerOf } from "./open-ledger.js";

export interface MoveReport {
  readonly namespaces: number;
  readonly entries: number;
  /** Hexadecimal, equal in both; absent for a store without digests. */
  readonly digest?: string;
}

const PAGE = 500;

/**
 * Copies every entry of a ledger to an empty one, builds the states there, and compares both. The source is only read.
 *
 * @throws CommandError CONFLICT where the target has entries; QavrError UNSUPPORTED for a compacted ledger, STORE_FAILED where the copy differs
 */
export async function moveLedger(from: Store, to: Store, progress?: Progress): Promise<MoveReport> {
  if ((await to.namespaces({ limit: 1 })).length > 0) {
    throw new CommandError(
      "CONFLICT",
      "The target has entries already. Name an empty place: nothing is mixed or overwritten.",
    );
  }
  let namespaces = 0;
  let entries = 0;
  for (let after: string | undefined; ; ) {
    const page = await from.namespaces({ ...(after === undefined ? {} : { after }), limit: PAGE });
    for (const namespace of page) {
      entries += await copyNamespace(from, to, namespace, progress);
      namespaces += 1;
    }
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  const [before, copied] = [await from.verify?.(), await to.verify?.()];
  if (before && copied && (before.digest !== copied.digest || copied.damaged > 0)) {
    throw new QavrError(
      "STORE_FAILED",
      "The copy differs from its source: the source was written to meanwhile. Pause its writers, and move it to another empty place.",
    );
  }
  return { namespaces, entries, ...(copied ? { digest: copied.digest } : {}) };
}

async function copyNamespace(
  from: Store,
  to: Store,
  namespace: string,
  progress: Progress | undefined,
): Promise<number> {
  const learner = await learnerOf(from, namespace);
  const copied = await copyLedger({ from, to, namespace, learner, progress });
  const checked = await verify(createEngine({ store: to, learner, governance: governance() }), { namespace });
  if (checked.ok) return copied;
  throw new QavrError(
    "STORE_FAILED",
    `The copy of namespace ${namespace} is not whole. Erase the target and move again.`,
  );
}
