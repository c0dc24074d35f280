import { createEngine, QavrError, type Store } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { copyLedger, type Progress, verify } from "@qavr/core/maintenance";
import { CommandError } from "./exit-codes.js";
import { learnerOf, learnerWithId } from "./open-ledger.js";

export interface MoveReport {
  readonly namespaces: number;
  readonly entries: number;
  /** Hexadecimal, equal in both; absent for a store without digests. */
  readonly digest?: string;
}

const PAGE = 500;

/**
 * Call it before the target is made, so that a refused move leaves nothing behind.
 *
 * @throws CommandError CONFLICT for a learner of the application, whose states cannot be built here; QavrError UNSUPPORTED for a ledger with a
 *   compacted namespace, whose first entries cannot be copied
 */
export async function assertMovable(from: Store): Promise<void> {
  const engine = createEngine({ store: from });
  for await (const namespace of namespacesOf(from)) {
    const { learner } = await engine.status({ namespace });
    if (!(await learnerWithId(learner))) {
      throw new CommandError(
        "CONFLICT",
        `Namespace ${namespace} was learned by ${learner}, a learner of the application. Call copyLedger() of @qavr/core/maintenance there.`,
      );
    }
    const [first] = await from.readEntries(namespace, { after: 0, limit: 1 });
    if (first?.seq === 1) continue;
    throw new QavrError(
      "UNSUPPORTED",
      `The ledger of namespace ${namespace} was compacted, and its beginning is gone. Copy a SQLite file with npx qavr ledger backup and restore, or move what was learned with export and import.`,
      { details: { namespace } },
    );
  }
}

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
  for await (const namespace of namespacesOf(from)) {
    entries += await copyNamespace(from, to, namespace, progress);
    namespaces += 1;
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

async function* namespacesOf(store: Store): AsyncGenerator<string> {
  for (let after: string | undefined; ; ) {
    const page = await store.namespaces({ ...(after === undefined ? {} : { after }), limit: PAGE });
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
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
