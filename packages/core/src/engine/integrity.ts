import { checkOptions } from "../errors/known-fields.js";
import { QavrError } from "../errors/qavr-error.js";
import { LedgerReplay } from "../ledger/replay.js";
import type { LedgerCheck } from "../store/store.js";
import { assertName } from "../store/validate.js";
import type { EngineContext } from "./context.js";
import { ONLY_NAMESPACE } from "./engine-options.js";
import type { Rebuilder } from "./rebuild.js";
import type { RepairReport, VerifyReport } from "./reports.js";
import { asStoreError, isOutOfReach } from "./store-failure.js";

/** Names that a report lists. */
const NAMED = 100;
const PAGE = 1_000;

export interface Integrity {
  verify(options?: { readonly namespace?: string | undefined }): Promise<VerifyReport>;
  repair(options?: { readonly namespace?: string | undefined }): Promise<RepairReport>;
}

/** Holds ledgers against their digests and states against their ledgers, and builds again what can be. */
export function createIntegrity(context: EngineContext, rebuilder: Rebuilder): Integrity {
  const { store, states, learner, spool, log } = context;

  return {
    async verify(options = {}) {
      checkOptions(options, "verify", ONLY_NAMESPACE);
      const { namespace } = options;
      if (namespace !== undefined) assertName(namespace, "namespace");
      const ledger = await store.verify?.(namespace);
      const names = await namespacesOf(namespace, ledger);
      const differing: { namespace: string; states: readonly string[] }[] = [];
      const unchecked: { namespace: string; reason: string }[] = [];
      let entries = 0;
      for (const name of names) {
        try {
          if (await isOfAnotherLearner(name)) {
            unchecked.push({ namespace: name, reason: "LEARNER_MISMATCH" });
            continue;
          }
          const replayed = await rebuilder.replay({ namespace: name });
          entries += replayed.entries - replayed.checkpoint;
          if (!replayed.identical) differing.push({ namespace: name, states: replayed.differences });
        } catch (error) {
          unchecked.push({ namespace: name, reason: reasonOf(error) });
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
        log("error", "The ledger is damaged, or its states do not follow from it.", {
          code: "VERIFY_FAILED",
          damaged,
          differing: differing.length,
          unchecked: unchecked.length,
        });
      }
      return report;
    },

    async repair(options = {}) {
      checkOptions(options, "repair", ONLY_NAMESPACE);
      const { namespace: only } = options;
      if (only !== undefined) assertName(only, "namespace");
      await store.repair?.();
      const { differing, unchecked } = await this.verify(options);
      const rebuilt: string[] = [];
      for (const { namespace } of [...differing, ...unchecked]) {
        if ((await isOfAnotherLearner(namespace)) || !(await canBeFolded(namespace))) continue;
        await rebuilder.replay({ namespace, write: true });
        rebuilt.push(namespace);
      }
      await spool?.retry();
      return { rebuilt, after: await this.verify(options) };
    },
  };

  /** Whether the states are another learner's, who alone can tell what they should be. False where that cannot be read. */
  async function isOfAnotherLearner(namespace: string): Promise<boolean> {
    const stats = await states.stats(namespace).catch((error: unknown) => {
      if (!QavrError.isInstance(error, "INVALID_STATE") && !QavrError.isInstance(error, "STORE_CORRUPT")) throw error;
    });
    return stats !== undefined && stats.learner !== learner.id;
  }

  /** Whether a namespace's whole ledger can be read and folded by this engine's learner, whatever its states are. */
  async function canBeFolded(namespace: string): Promise<boolean> {
    const fold = await new LedgerReplay({ store, namespace, learner }).advance().catch(() => undefined);
    return fold !== undefined;
  }

  async function namespacesOf(only: string | undefined, ledger: LedgerCheck | undefined): Promise<string[]> {
    if (only !== undefined) return [only];
    const names: string[] = [];
    for (;;) {
      const after = names.at(-1);
      try {
        const page = await store.namespaces(after === undefined ? { limit: PAGE } : { after, limit: PAGE });
        names.push(...page);
        if (page.length < PAGE) return names;
      } catch (error) {
        // Where the store has found the damage, it is part of the report.
        if (ledger && ledger.damaged > 0) return names;
        throw error;
      }
    }
  }

  /** @throws the failure of a store that is out of reach for another reason than damage */
  function reasonOf(error: unknown): string {
    const failure = asStoreError(error, store.name);
    if (isOutOfReach(failure) && failure.code !== "STORE_FAILED") throw failure;
    return QavrError.isInstance(error) ? error.code : failure.code;
  }
}
