import { checkSwitch } from "../errors/known-fields.js";
import { QavrError } from "../errors/qavr-error.js";
import type { RevokeEvent } from "../ledger/events.js";
import { type Fold, LedgerReplay } from "../ledger/replay.js";
import type { Revocation } from "../ledger/revocation.js";
import { learnerMismatch } from "../ledger/shared-record.js";
import { collectionOf } from "../ledger/state-keys.js";
import type { StateRef } from "../store/store.js";
import { assertName } from "../store/validate.js";
import { DEFAULT_NAME } from "./check.js";
import { checkRevocation } from "./check-revocation.js";
import type { EngineContext } from "./context.js";
import { differencesIn } from "./differences.js";
import { toEntry } from "./recorder.js";
import type { ReplayReport, RevocationReport } from "./reports.js";
import type { RevokeOptions } from "./types.js";

/** Differences that a report names. */
const NAMED_DIFFERENCES = 100;
/** How often a rebuild starts again because the ledger grew under it. */
const ATTEMPTS = 5;

export interface Rebuilder {
  replay(options?: {
    readonly namespace?: string | undefined;
    readonly write?: boolean | undefined;
  }): Promise<ReplayReport>;
  revoke(options: RevokeOptions): Promise<RevocationReport>;
}

/** Computes states from the ledger again: to check them, to replace them, or to do without some of it. */
export function createRebuilder(context: EngineContext): Rebuilder {
  const { store, states, recorder, learner, log } = context;

  return {
    async replay({ namespace = DEFAULT_NAME, write = false } = {}) {
      assertName(namespace, "namespace");
      checkSwitch(write, "write");
      const replay = new LedgerReplay({ store, namespace, learner });
      const { fold, differences } = await rebuild(namespace, replay, write);
      return {
        namespace,
        checkpoint: replay.checkpoint,
        entries: fold.entries,
        states: fold.states.length,
        differences: differences.slice(0, NAMED_DIFFERENCES).map(({ scope, id }) => `${scope}/${id}`),
        identical: differences.length === 0,
        written: write,
      };
    },

    async revoke(options) {
      const event = checkRevocation(options);
      const { namespace, dryRun = false } = options;
      assertName(namespace, "namespace");
      const stats = await states.stats(namespace);
      if (!stats) return { namespace, checkpoint: 0, outcomes: 0, episodes: 0, memories: 0, seq: 0, dryRun };
      if (stats.learner !== learner.id) throw learnerMismatch(stats.learner, learner.id);
      const seq = dryRun ? Number.POSITIVE_INFINITY : await record(namespace, event);
      const planned: Revocation = { event, seq };
      const replay = new LedgerReplay({ store, namespace, learner, planned });
      const { differences } = await rebuild(namespace, replay, !dryRun);
      const revoked = replay.revocations.revokedBy(seq);
      const report = {
        namespace,
        checkpoint: replay.checkpoint,
        outcomes: revoked?.outcomes ?? 0,
        episodes: revoked?.episodes.size ?? 0,
        memories: differences.filter(({ scope }) => collectionOf(scope) !== undefined).length,
      };
      if (dryRun) return { ...report, seq: 0, dryRun };
      log("info", "Outcomes were revoked and what they taught was taken out.", {
        code: "OUTCOMES_REVOKED",
        ...report,
        seq,
      });
      return { ...report, seq, dryRun };
    },
  };

  /** Appends the revocation. From then on the ledger says so, whatever becomes of the states. */
  async function record(namespace: string, event: RevokeEvent): Promise<number> {
    const entry = toEntry(`revoke:${context.createId()}`, event, context.now());
    return (await recorder.commit(namespace, entry)).seq;
  }

  /** Folds until the ledger has stood still for one fold, compares, and replaces the stored states if asked to. */
  async function rebuild(
    namespace: string,
    replay: LedgerReplay,
    write: boolean,
  ): Promise<{ readonly fold: Fold; readonly differences: readonly StateRef[] }> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const fold = await replay.advance();
      const differences = await differencesIn(store, namespace, fold.states);
      // The ledger grew while it was read: states and fold would differ for that alone.
      if ((await store.head(namespace)) !== fold.entries) continue;
      if (write && !(await store.replaceStates(namespace, fold.entries, fold.states))) continue;
      return { fold, differences };
    }
    throw new QavrError(
      "STORE_BUSY",
      `Namespace ${namespace} was written to during each of ${ATTEMPTS} replays. Pause its writers and call engine.replay() again; with write: true it also completes a revocation.`,
      { details: { namespace } },
    );
  }
}
