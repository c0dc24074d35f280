import { NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkFields } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { asStoreError, isOutOfReach } from "../resilience/store-failure.js";
import type { LedgerCheck } from "../store/store.js";
import { LedgerReplay } from "./ledger-replay.js";
import { PROGRESS, type Progress } from "./progress.js";
import { replayNamespace } from "./replay.js";
import type { RepairReport, VerifyReport } from "./reports.js";

/** Names that a report lists. */
const NAMED = 100;
const PAGE = 1_000;

interface Options {
  /** @default every namespace */
  readonly namespace?: string | undefined;
  readonly progress?: Progress | undefined;
}

/**
 * Reads a namespace's ledger, or every one, compares each entry with its digest (where the store keeps them) and then folds it again to
 * compare the states with it. Reads only. Damage is part of the report and not a rejection.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and the codes of a store that cannot be reached
 */
export async function verify(engine: Engine, options: Options = {}): Promise<VerifyReport> {
  const parts = partsOf(engine);
  checkFields("verify", options, RULES);
  return verifyNow(parts, options);
}

/**
 * Builds indexes and differing states again from an undamaged ledger. Then sends outcomes that wait in the outbox
 * because the store had refused them. Damaged entries need a backup.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, STORE_BUSY, and the codes of a store that cannot be written
 */
export async function repair(engine: Engine, options: Options = {}): Promise<RepairReport> {
  const parts = partsOf(engine);
  checkFields("repair", options, RULES);
  return parts.tasks.track(repairNow(parts, options));
}

const RULES = { namespace: NAME, progress: PROGRESS };

async function verifyNow(parts: EngineParts, { namespace, progress }: Options): Promise<VerifyReport> {
  const { store, log } = parts;
  const ledger = await store.verify?.(namespace, progress);
  const missing = new Set<string>();
  const names = await namespacesOf(parts, namespace, ledger, missing);
  const differing: { namespace: string; states: readonly string[] }[] = [];
  const unchecked: { namespace: string; reason: string }[] = [];
  let entries = 0;
  for (const name of names) {
    try {
      if (await isOfAnotherLearner(parts, name)) {
        unchecked.push({ namespace: name, reason: "LEARNER_MISMATCH" });
        continue;
      }
      const before = entries;
      const replayed = await replayNamespace(parts, name, false, (done, total) =>
        progress?.(before + done, Math.max(ledger?.entries ?? 0, before + total)),
      );
      entries += replayed.entries - replayed.checkpoint;
      if (!replayed.identical) differing.push({ namespace: name, states: replayed.differences });
    } catch (error) {
      unchecked.push({ namespace: name, reason: reasonOf(error, store.name, missing.size > 0) });
    }
  }
  const damaged = ledger?.damaged ?? 0;
  const report: VerifyReport = {
    ok: damaged + differing.length + unchecked.length === 0,
    namespaces: names.length,
    entries: ledger?.entries ?? entries,
    ...(ledger ? { digest: ledger.digest } : {}),
    damaged,
    damage: ledger?.damage ?? [],
    differing: differing.slice(0, NAMED),
    unchecked: unchecked.slice(0, NAMED),
  };
  if (!report.ok) {
    const isDamaged = damaged + differing.length > 0;
    // States of another learner are no damage.
    const isHarmless = !isDamaged && unchecked.every(({ reason }) => reason === "LEARNER_MISMATCH");
    const says = isDamaged
      ? "The ledger is damaged, or its states do not follow from it."
      : "Not all of the ledger could be checked.";
    log(isHarmless ? "warn" : "error", says, {
      code: "VERIFY_FAILED",
      damaged,
      differing: differing.length,
      unchecked: unchecked.length,
    });
  }
  return report;
}

async function repairNow(parts: EngineParts, options: Options): Promise<RepairReport> {
  const { store } = parts;
  await store.repair?.();
  const { differing, unchecked } = await verifyNow(parts, options);
  const rebuilt: string[] = [];
  for (const { namespace } of [...differing, ...unchecked]) {
    if ((await isOfAnotherLearner(parts, namespace)) || !(await canBeFolded(parts, namespace))) continue;
    try {
      await replayNamespace(parts, namespace, true, options.progress);
    } catch (error) {
      // The report names remaining damage.
      if (QavrError.isInstance(error, "STORE_CORRUPT")) continue;
      throw error;
    }
    rebuilt.push(namespace);
  }
  await parts.queue?.retry();
  return { rebuilt, after: await verifyNow(parts, options) };
}

/** True when another learner wrote the states: only that learner can check them. False where that cannot be read. */
export async function isOfAnotherLearner({ states, learner }: EngineParts, namespace: string): Promise<boolean> {
  const stats = await states.stats(namespace).catch((error: unknown) => {
    if (!QavrError.isInstance(error, "INVALID_STATE") && !QavrError.isInstance(error, "STORE_CORRUPT")) throw error;
  });
  return stats !== undefined && stats.learner !== learner.id;
}

/** True when this engine's learner can read and fold the namespace's whole ledger. */
async function canBeFolded({ store, learner }: EngineParts, namespace: string): Promise<boolean> {
  const fold = await new LedgerReplay({ store, namespace, learner }).advance().catch(() => undefined);
  return fold !== undefined;
}

async function namespacesOf(
  { store }: EngineParts,
  only: string | undefined,
  ledger: LedgerCheck | undefined,
  missing: Set<string>,
): Promise<string[]> {
  if (only !== undefined) return [only];
  const names: string[] = [];
  // The report names this damage, since the store has found it.
  const isReported = ledger !== undefined && ledger.damaged > 0;
  const page = { limit: PAGE, ...(isReported ? { onMissing: (part: string) => void missing.add(part) } : {}) };
  for (;;) {
    const after = names.at(-1);
    try {
      const listed = await store.namespaces(after === undefined ? page : { ...page, after });
      names.push(...listed);
      if (listed.length < PAGE) return names;
    } catch (error) {
      if (isReported) return names;
      throw error;
    }
  }
}

/**
 * @param isPartial true for a store of which a part cannot be reached
 * @throws the failure of a store that is out of reach for another reason than damage
 */
function reasonOf(error: unknown, store: string, isPartial: boolean): string {
  const failure = asStoreError(error, store);
  if (isOutOfReach(failure) && failure.code !== "STORE_FAILED" && !isPartial) throw failure;
  return QavrError.isInstance(error) ? error.code : failure.code;
}
