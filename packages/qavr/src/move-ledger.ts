import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { createEngine, QavrError, type Store } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { copyLedger, type Progress, verify } from "@qavr/core/maintenance";
import { CommandError } from "./exit-codes.js";
import { learnerWithId } from "./learner-table.js";
import { assertFree, assertKeeps, engineOn, type Ledger, learnerOf, openStore } from "./open-ledger.js";
import { assertSameOptions } from "./untold-options.js";

interface MoveReport {
  readonly namespaces: number;
  readonly entries: number;
  /** Hexadecimal, equal in both; absent for a store without digests. */
  readonly digest?: string;
}

/** A copy, and the absolute path or the URL where it is. */
interface Moved extends MoveReport {
  readonly place: string;
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
    const { learner: id } = await engine.status({ namespace });
    const learner = await learnerWithId(id);
    if (!learner) {
      throw new CommandError(
        "CONFLICT",
        `Namespace ${namespace} was learned by ${id}, a learner of the application. Call copyLedger() of @qavr/core/maintenance there.`,
      );
    }
    const [first] = await from.readEntries(namespace, { after: 0, limit: 1 });
    if (first?.seq !== 1) {
      throw new QavrError(
        "UNSUPPORTED",
        `The ledger of namespace ${namespace} was compacted, and its beginning is gone. Copy a SQLite file with npx qavr ledger backup and restore, or move what was learned with export and import.`,
        { details: { namespace } },
      );
    }
    await assertSameOptions(engineOn(from, learner), { namespace });
  }
}

/**
 * Copies a ledger to a new file. The copy is made beside it and gets its name last, so that an interrupted move leaves no file of that name.
 *
 * @throws CommandError USAGE for the same file or one that keeps nothing, CONFLICT for a file that exists, and what a copy throws
 */
export async function moveToFile(from: Ledger, to: string, progress: Progress): Promise<Moved> {
  assertKeeps(to);
  const place = resolve(to);
  assertOther(from, place);
  assertFree(place);
  const { sqliteStore } = await import("@qavr/sqlite");
  const unfinished = `${place}.${randomUUID()}.unfinished`;
  const store = sqliteStore(unfinished);
  try {
    const report = await copyAll(from.store, store, progress);
    await store.backup(place);
    return { ...report, place };
  } finally {
    await store.close();
    // SQLite leaves its log where the disk has no room to write it back.
    for (const suffix of ["", "-wal", "-shm", "-mark"]) await rm(unfinished + suffix, { force: true });
  }
}

/**
 * Copies a ledger to an empty database.
 *
 * @throws CommandError USAGE for the same ledger, CONFLICT where the database has entries, and what a copy throws
 */
export async function moveToServer(from: Ledger, to: string, progress: Progress): Promise<Moved> {
  const { store, place } = await openStore(to, "create");
  try {
    assertOther(from, place);
    if ((await store.namespaces({ limit: 1 })).length > 0) {
      throw new CommandError(
        "CONFLICT",
        "The target has entries already. Name an empty place: nothing is mixed or overwritten.",
      );
    }
    return { ...(await copyAll(from.store, store, progress)), place };
  } finally {
    await store.close();
  }
}

function assertOther(from: Ledger, place: string): void {
  if (place === from.place) throw new CommandError("USAGE", "--to names the same ledger.");
}

/**
 * Copies every entry to an empty store, builds the states there, and compares both. The source is only read.
 *
 * @throws QavrError UNSUPPORTED for a compacted ledger, STORE_FAILED where the copy differs
 */
async function copyAll(from: Store, to: Store, progress: Progress): Promise<MoveReport> {
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

async function copyNamespace(from: Store, to: Store, namespace: string, progress: Progress): Promise<number> {
  const learner = await learnerOf(from, namespace);
  const copied = await copyLedger({ from, to, namespace, learner, progress });
  const checked = await verify(createEngine({ store: to, learner, governance: governance() }), { namespace });
  if (checked.ok) return copied;
  throw new QavrError(
    "STORE_FAILED",
    `The copy of namespace ${namespace} is not whole. Erase the target and move again.`,
  );
}
